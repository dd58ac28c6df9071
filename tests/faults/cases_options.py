"""Options of schemes, models, extensions, training, tuning, tasks and data. `->` names the option
of the message where it is not the last.
"""

from tests.faults.golden import table

CASES = table("""
model.heads=5
model.ratio=0.01
model.dim=0
model.dim=12 | model.heads=4 | scheme=rope
model.dim=63 | model.heads=3 | scheme=sinusoidal
model.layers=20 | model.dim=65536 -> model
model.norm=batch
+model.depth=3
data.more=3
~data.vocabulary
scheme._target_=null
+trainer.max_steps=3
+trainer.foo=1
scheme=rope | scheme._target_=extrap.schemes.rope.Nope
scheme=rope | scheme._target_=extrap.extensions.ntk.NTK
scheme=rope | scheme._target_=extrap.model.scheme.Scheme -> scheme.base
scheme=rope | +scheme.bse=3
extension=yarn | scheme=alibi -> extension
extension=self-extend | extension.window=63
extension=lm-infinite | extension.recent=65
extension=log-n | scheme=log-n -> extension
extension=ntk-log-n | extension.then={_target_:extrap.schemes.rope.RoPE} -> extension.then._target_
extension=nbce | task=diagnostics
extension=rerope | +extension.a=b
trainer=gpu -> trainer.accelerator
study=../x
threads=0
seed=-1
plugins=[os] | scheme._target_=os.system
finetune=full | finetune.factor=2 | scheme=learned -> finetune.factor
finetune=full | extension=nbce | finetune.factor=2 -> extension
finetune=full | finetune.factor=16
data.more={x: {_target_: extrap.tasks.kv.KV}} -> data.more.x._target_
train.steps=0.5
train.optimizer=sgd
train.optimizer=muon | trainer=fsdp | trainer.accelerator=cpu | \
trainer.precision=32-true -> train.optimizer
model.dropout_at=outputs
logger=none | +logger.mode=offline
scheme=hwfa | scheme.parts=[3] -> scheme.parts[0]
logger=wandb | logger.project=
logger=wandb | logger.timeout=-1
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.vocabulary.keys=30 -> finetune.data.vocabulary
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.corpus.smallest=3 -> finetune.data.corpus
task.nll.documents=5000 -> data.corpus.path
task.nll.multiples=[1,1.001]
task.kv.multiples=[2,4]
task.kv.pairs=32
task={kv: 3} -> task.kv
task={kv: {_target_: os.system}} -> task.kv._target_
task=kv-several | task.kv-several.queries=17
task=multidoc | task.multidoc.top=[256]
task=haystack | task.haystack.needles=17
task=lost-in-the-middle | task.lost-in-the-middle.indices=[4]
task=lost-in-the-middle | task.lost-in-the-middle.path=nothing.jsonl
task=repeat | task.repeat.multiples=[0.5]
task=algorithmic | task.algorithmic.ask=[shout]
task=nll-position | task.nll-position.multiples=[1]
task=diagnostics | task.diagnostics.multiples=[1,64]
task.nll.stride=nan
task=lost-in-the-middle | task.lost-in-the-middle.characters=1 | \
task.lost-in-the-middle.pairs=[10] -> task.lost-in-the-middle.pairs
data.length=0
data.text.size=0 | data.retrieval.size=0 -> data.text.size
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
data/corpus=torch | data.corpus.smallest=100000000 -> data/corpus
data/vocabulary=tokenizer | data.vocabulary.tokenizer=/nothing.json
data.length=100000000 | data.retrieval.size=0 -> data.corpus.path
""")
