"""Options of training data. `->` names the option of the message where it is not the last."""

from tests.faults.golden import table

CASES = table("""
data.length=0
data.length=600 -> data.vocabulary.keys
data.length=64.5
data.length=100000000 -> data.vocabulary.keys
data.text.size=-1
data.text.size=0 | data.retrieval.size=0 -> data.text.size
data.text.weight=0
data.retrieval.depth=middle
data.retrieval.tail=1.5
data.retrieval.echo=1
data.retrieval.prefix=0.9
data.retrieval.size=1.5
data.vocabulary.keys=1
data.vocabulary.values=1
data.vocabulary.keys=8
data.vocabulary.keys=1000000000 -> model
data=query | data.more.query.first=2
data.curriculum.latest=1.1
data=query | data.length=8 -> task.kv.pairs
data=query | data.more.query.weight=-1
data=wide | data.more.wide.width=0
data=wide | data.more.wide.pool=1
data=wide | data.length=8 -> data.more.wide.width
data=wide | data.more.wide.pool=3
data=suite | data.more.multidoc.facts=0
data=suite | data.more.multidoc.prefix=2
data=suite | data.more.repeat.shortest=0
data.curriculum.accuracy=0
data=algorithmic | data.more.copy.longest=0
data=algorithmic | data.more.copy.longest=40
data=algorithmic | data.vocabulary.keys=6
data.text=null
data.corpus=null
data.corpus.validation=0
data.corpus.validation=0.999999 -> data.corpus.path
data.corpus.document_tokens=0
data.corpus.document_tokens=100 -> data.corpus.path
data.corpus.column=7
data/corpus=hub | data.corpus.limit=0
data/corpus=torch | data.corpus.smallest=x
data/corpus=torch | data.corpus.smallest=100000000 -> data/corpus
data/vocabulary=tokenizer | data.vocabulary.tokenizer=/nothing.json
data/vocabulary=tokenizer | data.vocabulary.tokenizer=a/b/c
data/vocabulary=tokenizer | data.vocabulary.tokenizer=3
data.more={x: 3} -> data.more.x
data.more={x: {_target_: os.system}} -> data.more.x._target_
data.more=[1]
data.text.weight=inf
data.retrieval.prefix=nan
data.corpus.validation=nan
data.length=100000000 | data.retrieval.size=0 -> data.corpus.path
data.curriculum.ramp=inf
""")
