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
model.dim=1.5
model.layers=0
model.layers=20 | model.dim=65536 -> model
model.ratio=0
model.ratio=x
model.dropout=1
model.norm=batch
model.mlp=relu6
model.head=none
+model.depth=3
model.heads=true
scheme=t5 | scheme.buckets=31
scheme=learned | scheme.rows=10
scheme=learned | scheme.policy=wrap
scheme=rope | scheme.base=1
scheme=rope | scheme.base=big
scheme=rope | scheme.layout=diagonal
scheme=rope | scheme.layout=[0,1,2]
scheme=alibi | scheme.slopes=[1,2]
scheme=alibi | scheme.slopes=[a,b,c,d]
scheme=p-rope | scheme.fraction=2
scheme=partial-rope | scheme.fraction=0.01
scheme=fire | scheme.hidden=0
scheme=fire | scheme.threshold=1000
scheme=fire | scheme.sharing=everything
scheme=sandwich | scheme.width=3
scheme=xpos | scheme.gamma=0
scheme=window | scheme.width=0
scheme=deberta | scheme.span=1
scheme=deberta | scheme.terms=none
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
scheme=rope | scheme._target_=os.system
scheme=rope | scheme._target_=extrap.schemes.rope.Nope
scheme=rope | scheme._target_=extrap.extensions.ntk.NTK
scheme=rope | scheme._target_=extrap.model.scheme.Scheme -> scheme.base
scheme=rope | +scheme.bse=3
extension=pi | extension.factor=0.5
extension=pi | extension.factor=1e308
extension=pi | extension.factor=x
extension=yarn | extension.ramp=steep
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
extension=learned-clamp | scheme=learned | extension.policy=guess
extension=bias-interpolation | scheme=rope -> extension
extension=log-n | scheme=log-n -> extension
extension=ntk-su-mixed | extension.b=-1
extension=ntk-dynamic | extension.mode=column
extension=ntk-log-n | extension.then={_target_:extrap.schemes.rope.RoPE} -> extension.then._target_
extension=nbce | task=diagnostics
extension=rerope | +extension.a=b
train.steps=0
train.lr=0
train.warmup=-1
train.final=-1
train.clip=0
train.beta1=1
train.beta2=-1
train.weight_decay=-1
train.log_every=0
train.save_every=30
trainer.devices=0
trainer.precision=7-bit
+trainer.color=red
trainer=gpu -> trainer.accelerator
trainer=ddp -> trainer.accelerator
logger=wandb | logger.mode=sometimes
logger=wandb | logger.timeout=x
logger=wandb | logger.project=3
study=../x
study=-x
label=a/b
threads=0
seed=-1
plugins=[os] | scheme._target_=os.system
finetune=full | finetune.factor=0.5
finetune=full | finetune.factor=2 | finetune.batch=0
finetune=full | finetune.factor=100000
finetune=full | finetune.factor=2 | scheme=learned -> finetune.factor
finetune=full | extension=pi-adaptive -> finetune.factor
finetune=full | extension=nbce | finetune.factor=2 -> extension
finetune=full | finetune.factor=16
finetune=lora | finetune.factor=2 | finetune.rank=0
finetune=lora | finetune.factor=2 | finetune.alpha=0
finetune=lora | finetune.factor=2 | finetune.targets=[]
finetune=lora | finetune.factor=2 | finetune.targets=qkv
data.more={x: {_target_: extrap.tasks.kv.KV}} -> data.more.x._target_
model.dropout=nan
train.steps=0.5
finetune=full | finetune.factor=1e18
logger=none | +logger.mode=offline
scheme=xpos | scheme.gamma=inf
scheme=sinusoidal | scheme.emb_scale=inf
scheme=fire | scheme.hidden=100000000000
scheme=learned | scheme.rows=100000000000000
scheme=t5 | scheme.buckets=100000000 | scheme.max_distance=1000000000 -> scheme.buckets
scheme=hwfa | scheme.parts=3
scheme=hwfa | scheme.parts=[3] -> scheme.parts[0]
extension=yarn | extension.slope=inf
extension=leaky-rerope | extension.k=inf
extension=nbce | extension.beta=inf
finetune=lora | finetune.factor=2 | finetune.alpha=inf
logger=wandb | logger.project=
logger=wandb | logger.timeout=-1
finetune=full | finetune.factor=2 | data@finetune.data=text | finetune.data.text.weight=-1 -> \
finetune.data.text.weight
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.vocabulary.keys=30 -> finetune.data.vocabulary
finetune=full | data@finetune.data=retrieval | finetune.factor=2 | \
finetune.data.corpus.smallest=3 -> finetune.data.corpus
""")
