"""Command lines as they are typed. `->` names the option of the message, if it is not the last."""

from tests.faults.golden import table

CASES = table("""
scheme=ropee
experiment=demoo
task=[nll,kw]
data/corpus=fils
hydra/launcher=locall
finetune=full | data@finetune.data=texxt
shceme=rope
data/crpus=files
scheme=../../etc/passwd
scheme=null
task=[]
~task.kv | ~task.nll -> task
task={kv: 3} -> task.kv
data.corpus=files
finetune={a: b}
seed=x
seed=1.5
seed=null
threads=many
stage=half
label=[a]
study={a: b}
study=null
plugins=[3,[4]]
train.steps=1e30
train.lr=fast
train=null
trian.steps=1
+seed=1 -> +seed
scheme.bse=1
task.kv.pair=3
hydra.launcher.jobs=3
~scheme
~seed
~task.kv.trials | task.kv.trials=3
extension=rerope | extension.factor=3
rope
scheme=[
label='a
scheme=rope,alibi
seed=range(0,3)
seed=choice()
scheme.base=${nope}
scheme.base=${scheme.base}
scheme.base=${oc.env:NOPE_NOPE}
scheme.base=${nope:1}
scheme=[rope]
scheme=rope.yaml
scheme=../scheme/rope
=rope -> =rope
--sheme -> unrecognized arguments
--cfg=jb -> argument --cfg/-c
--multirun=3 -> argument --multirun/-m
--experimental-rerun=job.pickle
+stduy=mine -> +stduy
plugins=foo
plugins=[nope_nope]
train=5
~task -> ~task
experiment=reference/gp
model=checkpoint | model.checkpoint=/nope | stage=evaluate -> model.checkpoint
model=checkpoint | model.checkpoint=/nope | stage=evaluate | scheme=alibi
model=checkpoint | model.checkpoint=/nope | finetune=lora | data.vocabulary.keys=9
model=checkpoint | model.checkpoint=/nope | stage=evaluate | data.length=128
model=checkpoint | model.checkpoint=/nope | stage=evaluate | train.lr=1
stage=evaluate
+trainer.max_time=1 -> trainer.accelerator
data/corpus=files -> data.corpus.path
data/vocabulary=tokenizer -> data.vocabulary.tokenizer
""") | {
    "seed=" + "9" * 5000: "seed",
    "label=a\tb": "label",
    "label=a\nb": "label",
    "label=\u202egnp": "label",
    "study='a\x1b[2Jb'": "study",
    "label=" + "[" * 200 + "]" * 200: "label",
}
