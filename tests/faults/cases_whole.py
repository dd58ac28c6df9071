"""Command lines as they are typed. `->` names the option of the message, if it is not the last."""

from tests.faults.golden import table

CASES = table("""
scheme=ropee
task=[nll,kw]
hydra/launcher=locall
finetune=full | data@finetune.data=texxt
shceme=rope
data/crpus=files
scheme=null
task=[]
~task.kv | ~task.nll -> task
data.corpus=files
finetune={a: b}
seed=x
seed=null
stage=half
label=[a]
train.lr=fast
+seed=1 -> +seed
scheme.bse=1
task.kv.pair=3
hydra.launcher.jobs=3
~scheme
rope
scheme=[
scheme=rope,alibi
scheme.base=${nope}
scheme.base=${scheme.base}
scheme.base=${oc.env:NOPE_NOPE}
scheme=../scheme/rope
--sheme -> unrecognized arguments
--cfg=jb -> argument --cfg/-c
--experimental-rerun=job.pickle
+stduy=mine -> +stduy
plugins=foo
plugins=[nope_nope]
train=5
train=${task} -> train.kv
label=${plugins}
label=${train}
hydra.verbose=maybe
hydra.verbose=[hydra,maybe.so]
~task -> ~task
experiment=reference/gp
model=checkpoint | model.checkpoint=/nope | stage=evaluate -> model.checkpoint
model=checkpoint | model.checkpoint=/nope | stage=evaluate | scheme=alibi
stage=evaluate
+trainer.max_time=1 -> trainer.accelerator
data/corpus=files -> data.corpus.path
""") | {
    "label=\u202egnp": "label",
    "label=" + "[" * 200 + "]" * 200: "label",
}
