"""Options of training data. `->` names the option of the message where it is not the last."""

from tests.faults.golden import table

CASES = table("""
data.length=0
data.length=600 -> data.vocabulary.keys
data.length=64.5
data.length=100000000 -> data.vocabulary.keys
data.text.size=0 | data.retrieval.size=0 -> data.text.size
data.retrieval.depth=middle
data.retrieval.prefix=0.9
data.vocabulary.keys=1000000000 -> model
data=query | data.length=8 -> task.kv.pairs
data=wide | data.length=8 -> data.more.wide.width
data=wide | data.more.wide.pool=3
data=algorithmic | data.more.copy.longest=40
data=algorithmic | data.vocabulary.keys=6
data.text=null
data.corpus=null
data.corpus.validation=0.999999 -> data.corpus.path
data.corpus.document_tokens=100 -> data.corpus.path
data.corpus.column=7
data/corpus=torch | data.corpus.smallest=100000000 -> data/corpus
data/vocabulary=tokenizer | data.vocabulary.tokenizer=/nothing.json
data.more={x: 3} -> data.more.x
data.more={x: {_target_: os.system}} -> data.more.x._target_
data.text.weight=inf
data.length=100000000 | data.retrieval.size=0 -> data.corpus.path
""")
