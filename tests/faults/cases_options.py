"""Options of schemes, models, extensions, training and tuning. `->` names the option of the
message where it is not the last.
"""

from tests.faults.golden import table

CASES = table("""
model.heads=5
model.dim=0
model.dim=12 | model.heads=4 | scheme=rope
model.dim=63 | model.heads=3 | scheme=sinusoidal
model.layers=20 | model.dim=65536 -> model
model.ratio=0
model.norm=batch
+model.depth=3
scheme=t5 | scheme.buckets=31
scheme=rope | scheme.base=1
scheme=rope | scheme.layout=[0,1,2]
scheme=alibi | scheme.slopes=[a,b,c,d]
scheme=fire | scheme.threshold=1000
scheme=tupe-a | scheme.rows=3
scheme=multi-axis-rope | scheme.axes=3
data.more=3
~data.vocabulary
scheme._target_=null
+trainer.max_steps=3
+trainer.foo=1
scheme=rope | scheme._target_=os.system
scheme=rope | scheme._target_=extrap.schemes.rope.Nope
scheme=rope | scheme._target_=extrap.extensions.ntk.NTK
scheme=rope | scheme._target_=extrap.model.scheme.Scheme -> scheme.base
scheme=rope | +scheme.bse=3
extension=pi | extension.factor=0.5
extension=yarn | extension.beta_slow=0
extension=yarn | scheme=alibi -> extension
extension=self-extend | extension.window=63
extension=longrope | extension.long=[1,2]
extension=window | scheme=learned -> extension
extension=lm-infinite | extension.sinks=60 | extension.recent=60
extension=nbce | extension.window=0
extension=randomised-stride | scheme=rope -> extension
extension=log-n | scheme=log-n -> extension
extension=ntk-log-n | extension.then={_target_:extrap.schemes.rope.RoPE} -> extension.then._target_
extension=nbce | task=diagnostics
extension=rerope | +extension.a=b
train.save_every=30
trainer=gpu -> trainer.accelerator
trainer=ddp -> trainer.accelerator
logger=wandb | logger.project=3
study=../x
threads=0
seed=-1
plugins=[os] | scheme._target_=os.system
finetune=full | finetune.factor=100000
finetune=full | finetune.factor=2 | scheme=learned -> finetune.factor
finetune=full | extension=pi-adaptive -> finetune.factor
finetune=full | extension=nbce | finetune.factor=2 -> extension
finetune=full | finetune.factor=16
finetune=lora | finetune.factor=2 | finetune.targets=[]
data.more={x: {_target_: extrap.tasks.kv.KV}} -> data.more.x._target_
model.dropout=nan
train.steps=0.5
logger=none | +logger.mode=offline
scheme=hwfa | scheme.parts=[3] -> scheme.parts[0]
logger=wandb | logger.project=
logger=wandb | logger.timeout=-1
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.vocabulary.keys=30 -> finetune.data.vocabulary
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.corpus.smallest=3 -> finetune.data.corpus
""")
