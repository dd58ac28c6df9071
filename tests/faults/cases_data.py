"""Options of training data, and how the line about each begins; `...` stands for anything."""

CASES = {
    "data.length=0": "data.length=0: give at least 6 tokens, room for BOS, 2 records and a query",
    "data.length=5": "data.length=5: give at least 6 tokens, room for BOS, 2 records and a query",
    "data.length=-64": (
        "data.length=-64: give at least 6 tokens, room for BOS, 2 records and a query"
    ),
    "data.length=600": (
        "data.vocabulary.keys=256: 299 records in 600 tokens need a key each; raise "
        "data.vocabulary.keys to 299 or more, or"
    ),
    "data.length=64.5": "data.length=64.5: expected a whole number",
    "data.length=100000000": (
        "data.vocabulary.keys=256: 49999999 records in 100000000 tokens need a key each; raise "
        "data.vocabulary.keys to"
    ),
    "data.text.size=-1": (
        "data.text.size=-1: give a whole number of windows a step up to 1048576, 0 to leave it out"
    ),
    "data.text.size=0 | data.retrieval.size=0": (
        "data.text.size=0 data.retrieval.size=0: nothing to train on; give one of them a size"
    ),
    "data.text.weight=0": (
        "data.text.weight=0: give a number above 0; data.text.size=0 leaves it out"
    ),
    "data.retrieval.depth=middle": (
        "data.retrieval.depth=middle: expected one of uniform, ends, recency"
    ),
    "data.retrieval.tail=1.5": (
        "data.retrieval.tail=1.5: a share of the hard sequences, from 0 to 1"
    ),
    "data.retrieval.echo=1": (
        "data.retrieval.echo=1: a share of the easy sequences, from 0 to below 1"
    ),
    "data.retrieval.prefix=0.9": (
        "data.retrieval.prefix=0.9, scattered=0.25: shares of the sequences, together at most 1"
    ),
    "data.retrieval.scattered=-0.1": (
        "data.retrieval.prefix=0.25, scattered=-0.1: shares of the sequences, together at most 1"
    ),
    "data.retrieval.size=1.5": "data.retrieval.size=1.5: expected a whole number",
    "data.vocabulary.keys=1": "data.vocabulary.keys=1: at least 2 are needed",
    "data.vocabulary.values=1": "data.vocabulary.values=1: at least 2 are needed",
    "data.vocabulary.keys=8": (
        "data.vocabulary.keys=8: 31 records in 64 tokens need a key each; raise "
        "data.vocabulary.keys to 31 or more, or use"
    ),
    "data.vocabulary.keys=-5": "data.vocabulary.keys=-5: at least 2 are needed",
    "data.vocabulary.keys=1000000000": (
        "model: 128,000,140,096 parameters need 1,907 GiB in training and "
    ),
    "data=query | data.more.query.first=2": (
        "data.more.query.first=2: a share of the sequences, from 0 to 1"
    ),
    "data.curriculum.latest=1.1": "data.curriculum.latest=1.1: a share from 0 to 1",
    "data=query | data.length=8": "task.kv.pairs=8: a context of 8 tokens holds at most 3 records",
    "data=query | data.more.query.size=-2": (
        "data.more.query.size=-2: give a whole number of windows a step up to 1048576, 0 to leave "
        "it out"
    ),
    "data=query | data.more.query.weight=-1": (
        "data.more.query.weight=-1: give a number above 0; data.more.query.size=0 leaves it out"
    ),
    "data=wide | data.more.wide.width=0": "data.more.wide.width=0: from 1 to 8 tokens",
    "data=wide | data.more.wide.width=20": "data.more.wide.width=20: from 1 to 8 tokens",
    "data=wide | data.more.wide.pool=1": (
        "data.more.wide.pool=1: from 2 to 256 key ids; there are data.vocabulary.keys=256, and "
        "pool^width may be 1048576 at"
    ),
    "data=wide | data.more.wide.pool=257": (
        "data.more.wide.pool=257: from 2 to 256 key ids; there are data.vocabulary.keys=256, and "
        "pool^width may be 1048576 at"
    ),
    "data=wide | data.length=8": (
        "data.more.wide.width=2: 8 tokens hold no two records and a query; give 12 or more"
    ),
    "data=wide | data.more.wide.pool=3": (
        "data.more.wide.pool=3: makes 9 keys of 2 tokens; 64 tokens hold 15 records; raise it, or "
        "use shorter lengths"
    ),
    "data=suite | data.more.multidoc.facts=0": (
        "data.more.multidoc.facts=0: from 1 to 4, a relation each"
    ),
    "data=suite | data.more.multidoc.facts=7": (
        "data.more.multidoc.facts=7: from 1 to 4, a relation each"
    ),
    "data=suite | data.more.multidoc.prefix=2": "data.more.multidoc.prefix=2: a share from 0 to 1",
    "data=suite | data.more.repeat.shortest=0": (
        "data.more.repeat.shortest=0: from 1 to 32, half of data.length=64"
    ),
    "data=suite | data.more.repeat.shortest=33": (
        "data.more.repeat.shortest=33: from 1 to 32, half of data.length=64"
    ),
    "data.curriculum.accuracy=0": "data.curriculum.accuracy=0: above 0 and at most 1, or null",
    "data=repeat | data.more.repeat.shortest=64": (
        "data.more.repeat.shortest=64: from 1 to 32, half of data.length=64"
    ),
    "data=algorithmic | data.more.copy.longest=0": "data.more.copy.longest=0: at least 1 symbol",
    "data=algorithmic | data.more.copy.longest=40": (
        "data.more.copy.longest=40: a string of so many symbols and its answer are 83 tokens; "
        "give fewer, or raise"
    ),
    "data=algorithmic | data.more.flip-flop.longest=100": (
        "data.more.flip-flop.longest=100: a string of so many symbols and its answer are 203 "
        "tokens; give fewer, or raise"
    ),
    "data=algorithmic | data.vocabulary.keys=6": (
        "data.vocabulary.keys=6: data.more.copy needs 7 key ids for its marks"
    ),
    "data=algorithmic | data.vocabulary.values=1": (
        "data.vocabulary.values=1: at least 2 are needed"
    ),
    "data.text=null": "data.text=null: expected Text; give its options, or",
    "data.corpus=null": "data.corpus=null: expected Source; give its options, or",
    "data.corpus.validation=0": "data.corpus.validation=0: a share between 0 and 1, both left out",
    "data.corpus.validation=1": "data.corpus.validation=1: a share between 0 and 1, both left out",
    "data.corpus.validation=0.999999": (
        "data.corpus.path=...: no text for train; give more documents (a long file is cut into "
        "data.corpus.document_tokens)"
    ),
    "data.corpus.document_tokens=0": "data.corpus.document_tokens=0: at least 1 is needed",
    "data.corpus.document_tokens=100": (
        "data.corpus.path=...: 0 validation documents have 2048 tokens or more, twice the longest "
        "length 1024 of"
    ),
    "data.corpus.column=7": "data.corpus.column=7: expected text",
    "data/corpus=hub | data.corpus.limit=0": "data.corpus.limit=0: at least 1 is needed",
    "data/corpus=hub | data.corpus.document_tokens=0": (
        "data.corpus.document_tokens=0: at least 1 is needed"
    ),
    "data/corpus=hub | data.corpus.validation=2": (
        "data.corpus.validation=2: a share between 0 and 1, both left out"
    ),
    "data/corpus=torch | data.corpus.smallest=x": "data.corpus.smallest=x: expected a whole number",
    "data/corpus=torch | data.corpus.smallest=100000000": (
        "data/corpus=torch: no text for train; give more documents (a long file is cut into "
        "data.corpus.document_tokens)"
    ),
    "data/vocabulary=tokenizer | data.vocabulary.tokenizer=/nothing.json": (
        "data.vocabulary.tokenizer=/nothing.json: no such file; give a tokenizer.json, a folder "
        "that holds one, or a name on"
    ),
    "data/vocabulary=tokenizer | data.vocabulary.tokenizer=a/b/c": (
        "data.vocabulary.tokenizer=a/b/c: no such file; give a tokenizer.json, a folder that "
        "holds one, or a name on the hub"
    ),
    ("data/vocabulary=tokenizer | data.vocabulary.tokenizer=3"): (
        "data.vocabulary.tokenizer=3: expected text"
    ),
    "data.more={x: 3}": "data.more.x=3: expected Part; give its options, or",
    "data.more={x: {_target_: os.system}}": (
        "data.more.x._target_=os.system: only classes of extrap are built; name others in "
        "plugins=[...]"
    ),
    "data.more=[1]": "data.more=[1]: expected Part by name or null",
    "data.more=3": "data.more=3: expected Part by name or null",
    "data.text.weight=inf": "data.text.weight=inf: expected a number",
    "data.text.weight=nan": "data.text.weight=nan: expected a number",
    "data.retrieval.prefix=nan": "data.retrieval.prefix=nan: expected a number",
    "data.corpus.validation=nan": "data.corpus.validation=nan: expected a number",
    "data/corpus=torch | data.corpus.validation=0": (
        "data.corpus.validation=0: a share between 0 and 1, both left out"
    ),
    "data.length=6": "task.kv.pairs=8: a context of 6 tokens holds at most 2 records",
    "data.length=100000000 | data.retrieval.size=0": (
        "data.corpus.path=...: 505310 train tokens, fewer than one window of 100000000; give more "
        "text or shorter lengths"
    ),
    "data.text.size=1000000000000": (
        "data.text.size=1000000000000: give a whole number of windows a step up to 1048576, 0 to "
        "leave it out"
    ),
    "data.curriculum.ramp=inf": "data.curriculum.ramp=inf: expected a number",
}
