"""Options of tasks, and how the line about each begins; `...` stands for anything."""

CASES = {
    "task.nll.stride=0": "task.nll.stride=0: must be a fraction of the evaluated length, above 0 and at most 1",
    "task.nll.stride=1.5": "task.nll.stride=1.5: must be a fraction of the evaluated length, above 0 and at most 1",
    "task.nll.documents=0": "task.nll.documents=0: must be a whole number of at least 1",
    "task.nll.documents=5000": "data.corpus.path=...: 96 validation documents have 2048 tokens or more, twice the longest length 1024 of",
    "task.nll.batch_tokens=0": "task.nll.batch_tokens=0: must be a whole number of at least 1",
    "task.nll.multiples=[]":
        "task.nll.multiples=[]: every multiple of the training length must be a number of at least 1; give one or more",
    "task.nll.multiples=[0.5,1]":
        "task.nll.multiples=[0.5, 1]: every multiple of the training length must be a number of at least 1; give one or more",
    "task.nll.multiples=[1,1.001]": "task.nll.multiples=[1, 1.001]: two multiples of train_length=64 are the same length; leave one out",
    "task.nll.multiples=3": "task.nll.multiples=3: expected a list of a number",
    "task.nll.multiples=[1,x]": "task.nll.multiples=[1, 'x']: expected a list of a number",
    "task.nll.multiples=[1,1000000]":
        "data.corpus.path=...: 0 validation documents have 128000000 tokens or more, twice the longest length 64000000 of",
    "task.nll.multiples=null": "task.nll.multiples=None: expected a list of a number",
    "task.kv.multiples=[2,4]": "task.kv.multiples=[2, 4]: must hold 1, where it shows whether the run learned retrieval",
    "task.kv.multiples=[1,16]":
        "task.kv.multiples=[1, 16]: 1024 tokens hold 511 records, each with a key of its own, but data.vocabulary.keys=256;",
    "task.kv.depths=[0,1]": "task.kv.depths=[0, 1]: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries compare",
    "task.kv.depths=[0,0.5,1.5]": "task.kv.depths=[0, 0.5, 1.5]: must be different numbers from 0 (first record) to 1 (last record)",
    "task.kv.depths=[0,0.5,0.5,1]": "task.kv.depths=[0, 0.5, 0.5, 1]: must be different numbers from 0 (first record) to 1 (last record)",
    "task.kv.depths=[]": "task.kv.depths=[]: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries compare",
    "task.kv.trials=0": "task.kv.trials=0: must be a whole number of at least 1",
    "task.kv.trials=-3": "task.kv.trials=-3: must be a whole number of at least 1",
    "task.kv.trials=2.5": "task.kv.trials=2.5: expected a whole number",
    "task.kv.pairs=0": "task.kv.pairs=0: must be a whole number of at least 1",
    "task.kv.pairs=32": "task.kv.pairs=32: a context of 64 tokens holds at most 31 records",
    "task.kv.batch_tokens=0": "task.kv.batch_tokens=0: must be a whole number of at least 1",
    "task={kv: 3}": "task.kv=3: expected Task; choose one of the files of its group",
    "task={kv: {_target_: os.system}}": "task.kv._target_=os.system: only classes of extrap are built; name others in plugins=[...]",
    "task=kv-query | task.kv-query.ask=[]": "task.kv-query.ask=[]: one or more of last, both, first, each once",
    "task=kv-query | task.kv-query.ask=[last,middle]": "task.kv-query.ask=['last', 'middle']: one or more of last, both, first, each once",
    "task=kv-query | task.kv-query.multiples=[2]": "task.kv-query.multiples=[2]: must hold 1, where it shows whether the run learned it",
    "task=kv-query | task.kv-query.depths=[0.1]":
        "task.kv-query.depths=[0.1]: must hold 0, 1 and one in between from 0.25 to 0.75, which the summaries compare",
    "task=kv-query | task.kv-query.trials=0": "task.kv-query.trials=0: must be a whole number of at least 1",
    "task=kv-query | task.kv-query.multiples=[1,64]":
        "data.vocabulary.keys=256: 2046 records in 4096 tokens need a key each; raise data.vocabulary.keys to 2046 or more, or",
    "task=kv-serial | task.kv-serial.multiples=[2]": "task.kv-serial.multiples=[2]: must hold 1, where it shows whether the run learned it",
    "task=kv-serial | task.kv-serial.trials=0": "task.kv-serial.trials=0: must be a whole number of at least 1",
    "task=kv-serial | task.kv-serial.multiples=[1,64]":
        "data.vocabulary.keys=256: 2047 records in 4096 tokens need a key each; raise data.vocabulary.keys to 2047 or more, or",
    "task=kv-serial | task.kv-serial.batch_tokens=-1": "task.kv-serial.batch_tokens=-1: must be a whole number of at least 1",
    "task=kv-wide | task.kv-wide.width=0": "task.kv-wide.width=0: from 1 to 8 tokens",
    "task=kv-wide | task.kv-wide.pool=1":
        "task.kv-wide.pool=1: from 2 to 256 key ids; there are data.vocabulary.keys=256, and pool^width may be 1048576 at most",
    "task=kv-wide | task.kv-wide.pool=300":
        "task.kv-wide.pool=300: from 2 to 256 key ids; there are data.vocabulary.keys=256, and pool^width may be 1048576 at",
    "task=kv-wide | task.kv-wide.width=40": "task.kv-wide.width=40: from 1 to 8 tokens",
    "task=kv-wide | task.kv-wide.multiples=[1,256]":
        "task.kv-wide.pool=16: makes 256 keys of 2 tokens; 16384 tokens hold 4095 records; raise it, or use shorter lengths",
    "task=kv-several | task.kv-several.queries=0": "task.kv-several.queries=0: must be a whole number of at least 1",
    "task=kv-several | task.kv-several.queries=17": "task.kv-several.queries=17: 64 tokens hold at most 16 records and a query for each",
    "task=kv-several | task.kv-several.multiples=[4]":
        "task.kv-several.multiples=[4]: must hold 1, where it shows whether the run learned retrieval",
    "task=kv-several | task.kv-several.multiples=[1,64]":
        "data.vocabulary.keys=256: 2040 records in 4096 tokens need a key each; raise data.vocabulary.keys to 2040 or more, or",
    "task=multidoc | task.multidoc.facts=0": "task.multidoc.facts=0: from 1 to 4, a relation each",
    "task=multidoc | task.multidoc.facts=9": "task.multidoc.facts=9: from 1 to 4, a relation each",
    "task=multidoc | task.multidoc.hit=0": "task.multidoc.hit=0: a probability above 0, at most 1",
    "task=multidoc | task.multidoc.hit=2": "task.multidoc.hit=2: a probability above 0, at most 1",
    "task=multidoc | task.multidoc.top=[0]":
        "task.multidoc.top=[0]: different numbers of documents from 1 to below data.vocabulary.keys=256",
    "task=multidoc | task.multidoc.top=[3,3]":
        "task.multidoc.top=[3, 3]: different numbers of documents from 1 to below data.vocabulary.keys=256",
    "task=multidoc | task.multidoc.top=[256]":
        "task.multidoc.top=[256]: different numbers of documents from 1 to below data.vocabulary.keys=256",
    "task=multidoc | task.multidoc.multiples=[1,64]":
        "task.multidoc.multiples=[1, 64]: 4096 tokens hold 1023 documents, each with a subject of its own, but",
    "task=multidoc | task.multidoc.multiples=[2]":
        "task.multidoc.multiples=[2]: must hold 1, where it shows whether the run learned the task",
    "task=multidoc | task.multidoc.depths=[2]":
        "task.multidoc.depths=[2]: must be different numbers from 0 (first document) to 1 (last document)",
    "task=haystack | task.haystack.needles=1": "task.haystack.needles=1: must be a whole number of at least 2",
    "task=haystack | task.haystack.needles=17":
        "task.haystack.needles=17: 64 tokens hold at most 16 needles and their queries, each with one of",
    "task=haystack | task.haystack.distances=1": "task.haystack.distances=1: must be a whole number of at least 2",
    "task=haystack | task.haystack.passkey_trials=0": "task.haystack.passkey_trials=0: must be a whole number of at least 1",
    "task=haystack | task.haystack.multiples=[2]":
        "task.haystack.multiples=[2]: must hold 1, where it shows whether the run learned the task",
    "task=haystack | task.haystack.depths=[-1,0,1]":
        "task.haystack.depths=[-1, 0, 1]: must be different numbers from 0 (first place) to 1 (last place)",
    "task=haystack | data/vocabulary=bytes | data.vocabulary.keys=32 | data.vocabulary.values=3":
        "task.haystack.needles=4: 64 tokens hold at most 16 needles and their queries, each with one of",
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[]":
        "task.lost-in-the-middle.pairs=[]: different numbers of records of at least 1",
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[0]":
        "task.lost-in-the-middle.pairs=[0]: different numbers of records of at least 1",
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[2,2]":
        "task.lost-in-the-middle.pairs=[2, 2]: different numbers of records of at least 1",
    "task=lost-in-the-middle | task.lost-in-the-middle.characters=0": "task.lost-in-the-middle.characters=0: from 1 to 36, those of a UUID",
    "task=lost-in-the-middle | task.lost-in-the-middle.characters=37":
        "task.lost-in-the-middle.characters=37: from 1 to 36, those of a UUID",
    "task=lost-in-the-middle | task.lost-in-the-middle.characters=1 | task.lost-in-the-middle.pairs=[10]":
        "task.lost-in-the-middle.pairs=[10]: with task.lost-in-the-middle.characters=1 there are ids for 4 records; give more",
    "task=lost-in-the-middle | task.lost-in-the-middle.depths=[]":
        "task.lost-in-the-middle.depths=[]: must be numbers from 0 (first record) to 1 (last record)",
    "task=lost-in-the-middle | task.lost-in-the-middle.depths=[2]":
        "task.lost-in-the-middle.depths=[2]: must be numbers from 0 (first record) to 1 (last record)",
    "task=lost-in-the-middle | task.lost-in-the-middle.query=[first]":
        "task.lost-in-the-middle.query=['first']: expected a list of one of last, both",
    "task=lost-in-the-middle | task.lost-in-the-middle.query=[last,last]":
        "task.lost-in-the-middle.query=['last', 'last']: last, both, or the two of them",
    "task=lost-in-the-middle | task.lost-in-the-middle.indices=[4]":
        "task.lost-in-the-middle.indices=[4]: from 0 to 0, for 1 records; null takes depths",
    "task=lost-in-the-middle | task.lost-in-the-middle.indices=[-1]":
        "task.lost-in-the-middle.indices=[-1]: from 0 to 0, for 1 records; null takes depths",
    "task=lost-in-the-middle | task.lost-in-the-middle.generate=-1":
        "task.lost-in-the-middle.generate=-1: must be a whole number of at least 0",
    "task=lost-in-the-middle | task.lost-in-the-middle.trials=0": "task.lost-in-the-middle.trials=0: must be a whole number of at least 1",
    "task=lost-in-the-middle | task.lost-in-the-middle.path=nothing.jsonl":
        "task.lost-in-the-middle.path=nothing.jsonl: cannot be read (No such file or directory); give a jsonl or jsonl.gz",
    "task=repeat | task.repeat.period=0":
        "task.repeat.period=0: a text of at least one token that is repeated within the longest length, so from 0.015625 to",
    "task=repeat | task.repeat.period=8":
        "task.repeat.period=8: a text of at least one token that is repeated within the longest length, so from 0.015625 to",
    "task=repeat | task.repeat.multiples=[0.5]":
        "task.repeat.multiples=[0.5]: every multiple of the training length must be a number of at least 1; give one or more",
    "task=repeat | task.repeat.documents=5000":
        "data.corpus.path=...: 96 validation documents have 512 tokens or more, the longest of task.repeat.multiples;",
    "task=repeat | task.repeat.documents=0": "task.repeat.documents=0: must be a whole number of at least 1",
    "task=algorithmic | task.algorithmic.ask=[]": "task.algorithmic.ask=[]: one or more of copy, reverse, even-pairs, flip-flop, each once",
    "task=algorithmic | task.algorithmic.ask=[sort]":
        "task.algorithmic.ask=['sort']: one or more of copy, reverse, even-pairs, flip-flop, each once",
    "task=algorithmic | task.algorithmic.ask=[copy,copy]":
        "task.algorithmic.ask=['copy', 'copy']: one or more of copy, reverse, even-pairs, flip-flop, each once",
    "task=algorithmic | task.algorithmic.multiples=[2,3]":
        "task.algorithmic.multiples=[2, 3]: numbers above 0, one of them at most 1, the trained lengths",
    "task=algorithmic | task.algorithmic.multiples=[0,1]":
        "task.algorithmic.multiples=[0, 1]: numbers above 0, one of them at most 1, the trained lengths",
    "task=algorithmic | task.algorithmic.multiples=[1,1.01]":
        "task.algorithmic.multiples=[1, 1.01]: of longest=20 are [20, 20] symbols, some twice or 0",
    "task=algorithmic | task.algorithmic.longest=0": "task.algorithmic.longest=0: must be a whole number of at least 1",
    "task=algorithmic | task.algorithmic.trials=0": "task.algorithmic.trials=0: must be a whole number of at least 1",
    "task=algorithmic | data.vocabulary.keys=3":
        "data.vocabulary.keys=3: 31 records in 64 tokens need a key each; raise data.vocabulary.keys to 31 or more, or use",
    "task=context-gain | task.context-gain.multiples=[2]":
        "task.context-gain.multiples=[2]: must hold 1, where it shows whether the model reads its context",
    "task=context-gain | task.context-gain.stride=0.6":
        "task.context-gain.stride=0.6: must be a fraction of the training length, above 0 and at most 0.5",
    "task=context-gain | task.context-gain.stride=0":
        "task.context-gain.stride=0: must be a fraction of the training length, above 0 and at most 0.5",
    "task=context-gain | task.context-gain.documents=0": "task.context-gain.documents=0: must be a whole number of at least 1",
    "task=context-gain | task.context-gain.documents=9999":
        "data.corpus.path=...: 96 validation documents have 512 tokens or more, the longest context of",
    "task=nll-position | task.nll-position.multiples=[1]": "task.nll-position.multiples=[1]: must be above 1, past the training length",
    "task=nll-position | task.nll-position.bins=0": "task.nll-position.bins=0: must be a whole number of at least 1",
    "task=nll-position | task.nll-position.stride=2":
        "task.nll-position.stride=2: must be a fraction of the training length, above 0 and at most 1",
    "task=nll-position | task.nll-position.multiples=[1000]":
        "data.corpus.path=...: 0 validation documents have 64000 tokens or more, the longest length of",
    "task=nll-position | task.nll-position.documents=-1": "task.nll-position.documents=-1: must be a whole number of at least 1",
    "task=diagnostics | task.diagnostics.multiples=[2]":
        "task.diagnostics.multiples=[2]: must hold 1, where trained and untrained models are compared",
    "task=diagnostics | task.diagnostics.contents=[]": "task.diagnostics.contents=[]: one or both of records, text",
    "task=diagnostics | task.diagnostics.contents=[words]": "task.diagnostics.contents=['words']: one or both of records, text",
    "task=diagnostics | task.diagnostics.inputs=1": "task.diagnostics.inputs=1: must be a whole number of at least 2",
    "task=diagnostics | task.diagnostics.places=1": "task.diagnostics.places=1: must be a whole number of at least 2",
    "task=diagnostics | task.diagnostics.slots=1": "task.diagnostics.slots=1: must be a whole number of at least 2",
    "task=diagnostics | task.diagnostics.probes=0": "task.diagnostics.probes=0: must be a whole number of at least 1",
    "task=diagnostics | task.diagnostics.layers=[0]": "task.diagnostics.layers=0: must be a whole number of at least 1",
    "task=diagnostics | task.diagnostics.multiples=[1,64]":
        "task.diagnostics.multiples=[1, 64]: 4096 tokens hold 2047 records and a dummy needs one more key, but",
    "task=diagnostics | task.diagnostics.batch_tokens=0": "task.diagnostics.batch_tokens=0: must be a whole number of at least 1",
}
