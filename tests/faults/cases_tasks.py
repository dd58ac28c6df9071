"""Options of tasks, and how the line about each begins; `...` stands for anything."""

CASES = {
    "task.nll.stride=0": "task.nll.stride=0: expected a number above 0, at most 1",
    "task.nll.stride=1.5": "task.nll.stride=1.5: expected a number above 0, at most 1",
    "task.nll.documents=0": "task.nll.documents=0: expected a whole number of at least 1",
    "task.nll.documents=5000": (
        "data.corpus.path=...: 96 validation documents have 2048 tokens or more, twice the "
        "longest length 1024 of"
    ),
    "task.nll.batch_tokens=0": "task.nll.batch_tokens=0: expected a whole number of at least 1",
    "task.nll.multiples=[]": (
        "task.nll.multiples=[]: expected a list of numbers above 0, not empty, each once"
    ),
    "task.nll.multiples=[1,1.001]": (
        "task.nll.multiples=[1, 1.001]: two multiples of train_length=64 are the same length; "
        "leave one out"
    ),
    "task.nll.multiples=3": (
        "task.nll.multiples=3: expected a list of numbers above 0, not empty, each once"
    ),
    "task.nll.multiples=[1,x]": "task.nll.multiples=[1, 'x']: expected a list of numbers",
    "task.nll.multiples=[1,1000000]": (
        "data.corpus.path=...: 0 validation documents have 128000000 tokens or more, twice the "
        "longest length 64000000 of"
    ),
    "task.nll.multiples=null": "task.nll.multiples=null: expected a list of numbers",
    "task.kv.multiples=[2,4]": (
        "task.kv.multiples=[2, 4]: must hold 1, where it shows whether the run learned it"
    ),
    "task.kv.multiples=[1,16]": (
        "data.vocabulary.keys=256: 511 records in 1024 tokens need a key each; raise "
        "data.vocabulary.keys to 511 or more, or"
    ),
    "task.kv.depths=[0,1]": (
        "task.kv.depths=[0, 1]: must hold 0, 1 and one in between from 0.25 to 0.75, which the "
        "summaries compare"
    ),
    "task.kv.depths=[0,0.5,1.5]": (
        "task.kv.depths=[0, 0.5, 1.5]: expected a list of numbers from 0 to 1, each once"
    ),
    "task.kv.depths=[0,0.5,0.5,1]": (
        "task.kv.depths=[0, 0.5, 0.5, 1]: expected a list of numbers from 0 to 1, each once"
    ),
    "task.kv.depths=[]": (
        "task.kv.depths=[]: must hold 0, 1 and one in between from 0.25 to 0.75, which the "
        "summaries compare"
    ),
    "task.kv.trials=0": "task.kv.trials=0: expected a whole number of at least 1",
    "task.kv.trials=-3": "task.kv.trials=-3: expected a whole number of at least 1",
    "task.kv.trials=2.5": "task.kv.trials=2.5: expected a whole number",
    "task.kv.pairs=0": "task.kv.pairs=0: expected a whole number of at least 1",
    "task.kv.pairs=32": "task.kv.pairs=32: a context of 64 tokens holds at most 31 records",
    "task.kv.batch_tokens=0": "task.kv.batch_tokens=0: expected a whole number of at least 1",
    "task={kv: 3}": "task.kv=3: expected Task; give its options, or choose a file of its group",
    "task={kv: {_target_: os.system}}": (
        "task.kv._target_=os.system: only classes of extrap are built; name others in plugins=[...]"
    ),
    "task=kv-query | task.kv-query.ask=[]": (
        "task.kv-query.ask=[]: expected a list of one of last, both, first, not empty, each once"
    ),
    "task=kv-query | task.kv-query.ask=[last,middle]": (
        "task.kv-query.ask=['last', 'middle']: expected a list of one of last, both, first, not "
        "empty, each once"
    ),
    "task=kv-query | task.kv-query.multiples=[2]": (
        "task.kv-query.multiples=[2]: must hold 1, where it shows whether the run learned it"
    ),
    "task=kv-query | task.kv-query.depths=[0.1]": (
        "task.kv-query.depths=[0.1]: must hold 0, 1 and one in between from 0.25 to 0.75, which "
        "the summaries compare"
    ),
    "task=kv-query | task.kv-query.trials=0": (
        "task.kv-query.trials=0: expected a whole number of at least 1"
    ),
    "task=kv-query | task.kv-query.multiples=[1,64]": (
        "data.vocabulary.keys=256: 2046 records in 4096 tokens need a key each; raise "
        "data.vocabulary.keys to 2046 or more, or"
    ),
    "task=kv-serial | task.kv-serial.multiples=[2]": (
        "task.kv-serial.multiples=[2]: must hold 1, where it shows whether the run learned it"
    ),
    "task=kv-serial | task.kv-serial.trials=0": (
        "task.kv-serial.trials=0: expected a whole number of at least 1"
    ),
    "task=kv-serial | task.kv-serial.multiples=[1,64]": (
        "data.vocabulary.keys=256: 2047 records in 4096 tokens need a key each; raise "
        "data.vocabulary.keys to 2047 or more, or"
    ),
    "task=kv-serial | task.kv-serial.batch_tokens=-1": (
        "task.kv-serial.batch_tokens=-1: expected a whole number of at least 1"
    ),
    "task=kv-wide | task.kv-wide.width=0": (
        "task.kv-wide.width=0: expected a whole number from 1 to 8"
    ),
    "task=kv-wide | task.kv-wide.pool=1": (
        "task.kv-wide.pool=1: expected a whole number of at least 2"
    ),
    "task=kv-wide | task.kv-wide.pool=300": (
        "task.kv-wide.pool=300: from 2 to 256 key ids; there are data.vocabulary.keys=256, and "
        "pool^width may be 1048576 at"
    ),
    "task=kv-wide | task.kv-wide.width=40": (
        "task.kv-wide.width=40: expected a whole number from 1 to 8"
    ),
    "task=kv-wide | task.kv-wide.multiples=[1,256]": (
        "task.kv-wide.pool=16: makes 256 keys of 2 tokens; 16384 tokens hold 4095 records; raise "
        "it, or use shorter lengths"
    ),
    "task=kv-several | task.kv-several.queries=0": (
        "task.kv-several.queries=0: expected a whole number of at least 1"
    ),
    "task=kv-several | task.kv-several.queries=17": (
        "task.kv-several.queries=17: 64 tokens hold at most 16 records and a query for each"
    ),
    "task=kv-several | task.kv-several.multiples=[4]": (
        "task.kv-several.multiples=[4]: must hold 1, where it shows whether the run learned "
        "retrieval"
    ),
    "task=kv-several | task.kv-several.multiples=[1,64]": (
        "data.vocabulary.keys=256: 2040 records in 4096 tokens need a key each; raise "
        "data.vocabulary.keys to 2040 or more, or"
    ),
    "task=multidoc | task.multidoc.facts=0": (
        "task.multidoc.facts=0: expected a whole number from 1 to 4"
    ),
    "task=multidoc | task.multidoc.facts=9": (
        "task.multidoc.facts=9: expected a whole number from 1 to 4"
    ),
    "task=multidoc | task.multidoc.hit=0": (
        "task.multidoc.hit=0: expected a number above 0, at most 1"
    ),
    "task=multidoc | task.multidoc.hit=2": (
        "task.multidoc.hit=2: expected a number above 0, at most 1"
    ),
    "task=multidoc | task.multidoc.top=[0]": (
        "task.multidoc.top=[0]: expected a list of whole numbers of at least 1, each once"
    ),
    "task=multidoc | task.multidoc.top=[3,3]": (
        "task.multidoc.top=[3, 3]: expected a list of whole numbers of at least 1, each once"
    ),
    "task=multidoc | task.multidoc.top=[256]": (
        "task.multidoc.top=[256]: numbers of documents below data.vocabulary.keys=256"
    ),
    "task=multidoc | task.multidoc.multiples=[1,64]": (
        "task.multidoc.multiples=[1, 64]: 4096 tokens hold 1023 documents, each with a subject of "
        "its own, but"
    ),
    "task=multidoc | task.multidoc.multiples=[2]": (
        "task.multidoc.multiples=[2]: must hold 1, where it shows whether the run learned the task"
    ),
    "task=multidoc | task.multidoc.depths=[2]": (
        "task.multidoc.depths=[2]: expected a list of numbers from 0 to 1, each once"
    ),
    "task=haystack | task.haystack.needles=1": (
        "task.haystack.needles=1: expected a whole number of at least 2"
    ),
    "task=haystack | task.haystack.needles=17": (
        "task.haystack.needles=17: 64 tokens hold at most 16 needles and their queries, each with "
        "one of"
    ),
    "task=haystack | task.haystack.distances=1": (
        "task.haystack.distances=1: expected a whole number of at least 2"
    ),
    "task=haystack | task.haystack.passkey_trials=0": (
        "task.haystack.passkey_trials=0: expected a whole number of at least 1"
    ),
    "task=haystack | task.haystack.multiples=[2]": (
        "task.haystack.multiples=[2]: must hold 1, where it shows whether the run learned the task"
    ),
    "task=haystack | task.haystack.depths=[-1,0,1]": (
        "task.haystack.depths=[-1, 0, 1]: expected a list of numbers from 0 to 1, each once"
    ),
    "task=haystack | data/vocabulary=bytes | data.vocabulary.keys=32 | data.vocabulary.values=3": (
        "task.haystack.needles=4: 64 tokens hold at most 16 needles and their queries, each with "
        "one of"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[]": (
        "task.lost-in-the-middle.pairs=[]: expected a list of whole numbers of at least 1, not "
        "empty, each once"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[0]": (
        "task.lost-in-the-middle.pairs=[0]: expected a list of whole numbers of at least 1, not "
        "empty, each once"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.pairs=[2,2]": (
        "task.lost-in-the-middle.pairs=[2, 2]: expected a list of whole numbers of at least 1, "
        "not empty, each once"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.characters=0": (
        "task.lost-in-the-middle.characters=0: expected a whole number from 1 to 36"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.characters=37": (
        "task.lost-in-the-middle.characters=37: expected a whole number from 1 to 36"
    ),
    (
        "task=lost-in-the-middle | task.lost-in-the-middle.characters=1 | "
        "task.lost-in-the-middle.pairs=[10]"
    ): (
        "task.lost-in-the-middle.pairs=[10]: with task.lost-in-the-middle.characters=1 there are "
        "ids for 4 records; give more"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.depths=[]": (
        "task.lost-in-the-middle.depths=[]: expected a list of numbers from 0 to 1, not empty"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.depths=[2]": (
        "task.lost-in-the-middle.depths=[2]: expected a list of numbers from 0 to 1, not empty"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.query=[middle]": (
        "task.lost-in-the-middle.query=['middle']: expected a list of one of last, both"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.query=[last,last]": (
        "task.lost-in-the-middle.query=['last', 'last']: expected a list of one of last, both, "
        "first, not empty, each once"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.indices=[4]": (
        "task.lost-in-the-middle.indices=[4]: from 0 to 0, for 1 records; null takes depths"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.indices=[-1]": (
        "task.lost-in-the-middle.indices=[-1]: expected a list of whole numbers of at least 0, "
        "not empty or null"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.generate=-1": (
        "task.lost-in-the-middle.generate=-1: expected a whole number of at least 0"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.trials=0": (
        "task.lost-in-the-middle.trials=0: expected a whole number of at least 1"
    ),
    "task=lost-in-the-middle | task.lost-in-the-middle.path=nothing.jsonl": (
        "task.lost-in-the-middle.path=nothing.jsonl: cannot be read (No such file or directory); "
        "give a jsonl or jsonl.gz"
    ),
    "task=repeat | task.repeat.period=0": "task.repeat.period=0: expected a number above 0",
    "task=repeat | task.repeat.period=8": (
        "task.repeat.period=8: a text of at least one token that is repeated within the longest "
        "length, so from 0.015625 to"
    ),
    "task=repeat | task.repeat.multiples=[0.5]": (
        "task.repeat.multiples=[0.5]: every multiple of the training length must be a number of "
        "at least 1; leave smaller ones out"
    ),
    "task=repeat | task.repeat.documents=5000": (
        "data.corpus.path=...: 96 validation documents have 512 tokens or more, the longest of "
        "task.repeat.multiples;"
    ),
    "task=repeat | task.repeat.documents=0": (
        "task.repeat.documents=0: expected a whole number of at least 1"
    ),
    "task=algorithmic | task.algorithmic.ask=[]": (
        "task.algorithmic.ask=[]: expected a list of text, not empty, each once"
    ),
    "task=algorithmic | task.algorithmic.ask=[shout]": (
        "task.algorithmic.ask=['shout']: one or more of copy, reverse, even-pairs, flip-flop, "
        "flip-flop-sparse, parity"
    ),
    "task=algorithmic | task.algorithmic.ask=[copy,copy]": (
        "task.algorithmic.ask=['copy', 'copy']: expected a list of text, not empty, each once"
    ),
    "task=algorithmic | task.algorithmic.multiples=[2,3]": (
        "task.algorithmic.multiples=[2, 3]: one of them must be at most 1, the trained lengths"
    ),
    "task=algorithmic | task.algorithmic.multiples=[0,1]": (
        "task.algorithmic.multiples=[0, 1]: expected a list of numbers above 0, not empty, each "
        "once"
    ),
    "task=algorithmic | task.algorithmic.multiples=[1,1.01]": (
        "task.algorithmic.multiples=[1, 1.01]: of longest=20 are [20, 20] symbols, some twice or 0"
    ),
    "task=algorithmic | task.algorithmic.longest=0": (
        "task.algorithmic.longest=0: expected a whole number of at least 1"
    ),
    "task=algorithmic | task.algorithmic.trials=0": (
        "task.algorithmic.trials=0: expected a whole number of at least 1"
    ),
    "task=algorithmic | data.vocabulary.keys=3": (
        "data.vocabulary.keys=3: 31 records in 64 tokens need a key each; raise "
        "data.vocabulary.keys to 31 or more, or use"
    ),
    "task=context-gain | task.context-gain.multiples=[2]": (
        "task.context-gain.multiples=[2]: must hold 1, where it shows whether the model reads its "
        "context"
    ),
    "task=context-gain | task.context-gain.stride=0.6": (
        "task.context-gain.stride=0.6: expected a number above 0, at most 0.5"
    ),
    "task=context-gain | task.context-gain.stride=0": (
        "task.context-gain.stride=0: expected a number above 0, at most 0.5"
    ),
    "task=context-gain | task.context-gain.documents=0": (
        "task.context-gain.documents=0: expected a whole number of at least 1"
    ),
    "task=context-gain | task.context-gain.documents=9999": (
        "data.corpus.path=...: 96 validation documents have 512 tokens or more, the longest "
        "context of"
    ),
    "task=nll-position | task.nll-position.multiples=[1]": (
        "task.nll-position.multiples=[1]: must be above 1, past the training length"
    ),
    "task=nll-position | task.nll-position.bins=0": (
        "task.nll-position.bins=0: expected a whole number of at least 1"
    ),
    "task=nll-position | task.nll-position.stride=2": (
        "task.nll-position.stride=2: expected a number above 0, at most 1"
    ),
    "task=nll-position | task.nll-position.multiples=[1000]": (
        "data.corpus.path=...: 0 validation documents have 64000 tokens or more, the longest "
        "length of"
    ),
    "task=nll-position | task.nll-position.documents=-1": (
        "task.nll-position.documents=-1: expected a whole number of at least 1"
    ),
    "task=diagnostics | task.diagnostics.multiples=[2]": (
        "task.diagnostics.multiples=[2]: must hold 1, where it shows whether trained and "
        "untrained models differ"
    ),
    "task=diagnostics | task.diagnostics.contents=[]": (
        "task.diagnostics.contents=[]: expected a list of one of records, text, not empty, each "
        "once"
    ),
    "task=diagnostics | task.diagnostics.contents=[words]": (
        "task.diagnostics.contents=['words']: expected a list of one of records, text, not empty, "
        "each once"
    ),
    "task=diagnostics | task.diagnostics.inputs=1": (
        "task.diagnostics.inputs=1: expected a whole number of at least 2"
    ),
    "task=diagnostics | task.diagnostics.places=1": (
        "task.diagnostics.places=1: expected a whole number of at least 2"
    ),
    "task=diagnostics | task.diagnostics.slots=1": (
        "task.diagnostics.slots=1: expected a whole number of at least 2"
    ),
    "task=diagnostics | task.diagnostics.probes=0": (
        "task.diagnostics.probes=0: expected a whole number of at least 1"
    ),
    "task=diagnostics | task.diagnostics.layers=[0]": (
        "task.diagnostics.layers=[0]: expected a list of whole numbers of at least 1"
    ),
    "task=diagnostics | task.diagnostics.multiples=[1,64]": (
        "task.diagnostics.multiples=[1, 64]: 4096 tokens hold 2047 records and a dummy needs one "
        "more key, but"
    ),
    "task=diagnostics | task.diagnostics.batch_tokens=0": (
        "task.diagnostics.batch_tokens=0: expected a whole number of at least 1"
    ),
    "task.nll.multiples=[1,inf]": "task.nll.multiples=[1, inf]: expected a list of numbers",
    "task.nll.multiples=[1,nan]": "task.nll.multiples=[1, nan]: expected a list of numbers",
    "task.nll.stride=nan": "task.nll.stride=nan: expected a number",
    "task.kv.depths=[0,0.5,nan,1]": "task.kv.depths=[0, 0.5, nan, 1]: expected a list of numbers",
    "task.nll.documents=1000000000000000000000": (
        "task.nll.documents=1000000000000000000000: expected a whole number"
    ),
    "task.kv.trials=1000000000000000000000": (
        "task.kv.trials=1000000000000000000000: expected a whole number"
    ),
    "task=repeat | task.repeat.period=inf": "task.repeat.period=inf: expected a number",
    "task=algorithmic | task.algorithmic.multiples=[1,inf]": (
        "task.algorithmic.multiples=[1, inf]: expected a list of numbers"
    ),
    "task=multidoc | task.multidoc.hit=nan": "task.multidoc.hit=nan: expected a number",
}
