"""Options of schemes, models, extensions, training and tuning. `->` names the option of the
message where it is not the last.
"""

from tests.faults.golden import table

CASES = table("""
model.heads=5
model.heads=64 | scheme=rope
model.dim=0
model.dim=12 | model.heads=4 | scheme=rope
model.dim=63 | model.heads=3 | scheme=sinusoidal
model.layers=20 | model.dim=65536 -> model
model.ratio=0
model.norm=batch
+model.depth=3
scheme=t5 | scheme.buckets=31
scheme=learned | scheme.rows=10
scheme=rope | scheme.base=1
scheme=rope | scheme.layout=[0,1,2]
scheme=alibi | scheme.slopes=[1,2]
scheme=alibi | scheme.slopes=[a,b,c,d]
scheme=p-rope | scheme.fraction=2
scheme=partial-rope | scheme.fraction=0.01
scheme=fire | scheme.hidden=0
scheme=fire | scheme.threshold=1000
scheme=sandwich | scheme.width=3
scheme=xpos | scheme.gamma=0
scheme=window | scheme.width=0
scheme=deberta | scheme.span=1
scheme=transformer-xl | scheme.clamp=0
scheme=tupe-a | scheme.rows=3
scheme=multi-axis-rope | scheme.axes=3
scheme=multi-axis-rope | scheme.width=1
scheme=floater | scheme.delta=0
scheme=floater | scheme.steps=0
scheme=hope | scheme.turns=-1
scheme=log-n | scheme.floor=-1
scheme=raw-index | scheme.step=0
scheme=sinusoidal | scheme.emb_scale=0
scheme=sinusoidal-concat | scheme.width=3
scheme=mul-sinusoidal | scheme.amplitude=0
scheme=inverse-leaky-rope | scheme.window=100
scheme=inverse-leaky-rope | scheme.factor=0.5
scheme=complex-order | scheme.base=1
data.more=3
~data.vocabulary
scheme._target_=null
+trainer.max_steps=3
+trainer.logger=false
+trainer.foo=1
+trainer.fast_dev_run=true
+trainer.limit_train_batches=0
scheme=rope | scheme._target_=os.system
scheme=rope | scheme._target_=extrap.schemes.rope.Nope
scheme=rope | scheme._target_=extrap.extensions.ntk.NTK
scheme=rope | scheme._target_=extrap.model.scheme.Scheme -> scheme.base
scheme=rope | +scheme.bse=3
extension=pi | extension.factor=0.5
extension=pi | extension.factor=1e308
extension=yarn | extension.slope=-1
extension=yarn | extension.beta_slow=0
extension=yarn | scheme=nope -> extension
extension=yarn | scheme=alibi -> extension
extension=pi | scheme=nope -> extension
extension=rerope | extension.width=0
extension=leaky-rerope | extension.k=0.5
extension=self-extend | extension.window=63
extension=self-extend | extension.group=5
extension=longrope | extension.long=[1,2]
extension=longrope | extension.long=[0,1,2,3,4,5,6,7]
extension=pi-pair | extension.pair=8
extension=pi-pair | extension.pair=-1
extension=crop | extension.stride=0
extension=window | scheme=learned -> extension
extension=streaming-llm | extension.sinks=-1
extension=streaming-llm | extension.recent=0
extension=streaming-llm | extension.sinks=100
extension=lm-infinite | extension.sinks=60 | extension.recent=60
extension=nbce | extension.beta=-1
extension=nbce | extension.top_p=0
extension=nbce | extension.stickiness=-1
extension=nbce | extension.window=0
extension=parallel-windows | extension.window=64
extension=randomised-stride | scheme=rope -> extension
extension=randomised-stride | scheme=randomised-rope | extension.longest=3
extension=learned-clamp | scheme=rope -> extension
extension=bias-interpolation | scheme=rope -> extension
extension=log-n | scheme=log-n -> extension
extension=ntk-su-mixed | extension.b=-1
extension=ntk-log-n | extension.then={_target_:extrap.schemes.rope.RoPE} -> extension.then._target_
extension=nbce | task=diagnostics
extension=rerope | +extension.a=b
train.save_every=30
+trainer.color=red
trainer=gpu -> trainer.accelerator
trainer=ddp -> trainer.accelerator
logger=wandb | logger.project=3
study=../x
study=-x
label=a/b
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
finetune.data.text.weight
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.vocabulary.keys=30 -> finetune.data.vocabulary
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.corpus.smallest=3 -> finetune.data.corpus
""")
