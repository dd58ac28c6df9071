"""Words of the command line that go through the whole program, and how the line about each begins;
`...` stands for anything.
"""

NAMES = {
    "scheme=ropee": "scheme=ropee: no such scheme; did you mean rope? choose one of abacus",
    "extension=yarm": "extension=yarm: no such extension; did you mean yarn? choose one of ",
    "data=mixtur": "data=mixtur: no such data; did you mean mixture? choose one of ",
    "model=tinny": "model=tinny: no such model; did you mean tiny? choose one of ",
    "trainer=cpuu": (
        "trainer=cpuu: no such trainer; did you mean cpu? choose one of cpu, ddp, fsdp, gpu"
    ),
    "logger=wandbb": "logger=wandbb: no such logger; did you mean wandb? choose one of none, wandb",
    "finetune=lorra": (
        "finetune=lorra: no such finetune; did you mean lora? choose one of full, lora, none"
    ),
    "experiment=demoo": "experiment=demoo: no such experiment; did you mean demo? choose one of ",
    "task=[nll,kw]": "task=[nll,kw]: no such task; choose one of ",
    "task=kv_query": "task=kv_query: no such task; did you mean kv-query? choose one of ",
    "data/corpus=fils": (
        "data/corpus=fils: no such corpus; did you mean files? choose one of files, hub, torch"
    ),
    "data/vocabulary=bites": (
        "data/vocabulary=bites: no such vocabulary; did you mean bytes? choose one of bytes, "
        "tokenizer"
    ),
    "hydra/launcher=locall": (
        "hydra/launcher=locall: no such launcher; did you mean local? choose one of "
    ),
    "finetune=full | data@finetune.data=texxt": (
        "data@finetune.data=texxt: no such data; did you mean text? choose"
    ),
    "shceme=rope": "shceme=rope: no such option; did you mean scheme? choose one of ",
    "data/crpus=files": "data/crpus=files: no such group; did you mean data/corpus? choose one of ",
    "scheme=../../etc/passwd": "scheme=../../etc/passwd: no such scheme; choose one of abacus",
    "scheme=null": "scheme=null: a group takes the name of one of its options; see extrap --help",
    "scheme=3": "scheme=3: a group takes the name of one of its options; see extrap --help",
    "scheme=[rope]": (
        "scheme=[rope]: scheme takes one choice; write scheme=rope, or sweep over several with -m "
        "scheme=a,b"
    ),
    "scheme=rope.yaml": "scheme=rope.yaml: not the name of a choice; write scheme=rope",
    "scheme=../scheme/rope": "scheme=../scheme/rope: not the name of a choice; write scheme=rope",
    "=rope": "=rope: not of the form option=value; see extrap --help",
    "study=ä": "study=ä: letters, digits, dot, hyphen and underscore, starting with a letter",
    "task=[3]": "task=[3]: names of files in conf/task are expected, as extrap --help lists them",
    "task=[]": "task=[]: nothing to measure; name tasks, as in task=[nll,kv], or give stage=train",
    "~task.kv | ~task.nll": "task=[]: nothing to measure; name tasks",
    "task={kv: 3}": "task.kv=3: expected Task; give its options, or choose a file of its group",
    "task=7": "task=7: a group takes the name of one of its options; see extrap --help",
    "data.corpus=files": (
        "data.corpus=files: data/corpus is a choice of files; write data/corpus=files"
    ),
    "finetune={a: b}": "finetune={a: b}: ",
}

TYPES = {
    "seed=x": "seed=x: must be a whole number",
    "seed=1.5": "seed=1.5: must be a whole number",
    "seed=null": "seed=null: must not be empty",
    "seed=[1,2]": "seed=[1,2]: must be a whole number",
    "seed=1e3": "seed=1e3: must be a whole number",
    "seed=" + "9" * 5000: "seed=9999...: a number of too many digits; give a smaller one",
    "threads=many": "threads=many: must be a whole number",
    "stage=half": "stage=half: choose one of train, evaluate, all",
    "label=[a]": "label=[a]: ",
    "study={a: b}": "study={a: b}: ",
    "study=null": "study=null: must not be empty",
    "plugins=os": "plugins=os: ",
    "plugins=[3,[4]]": "plugins=[...[4]]: names of packages, such as plugins=[my_package]",
    "train.steps=1e30": "train.steps=1e30: must be a whole number",
    "train.lr=fast": "train.lr=fast: must be a number",
    "train.lr=.inf": "train.lr=.inf: must be a number",
    "train=null": "train=null: ",
    "train=3": "train=3: ",
}

KEYS = {
    "train.bogus=1": "train.bogus=1: no such option in train; choose one of ",
    "trian.steps=1": "trian.steps=1: no such option; did you mean train",
    "+seed=1": "+seed=1: this option exists; write seed=1",
    "scheme.bse=1": (
        "scheme.bse=1: no such option in scheme; did you mean base? choose one of base, layout"
    ),
    "scheme.base.x=1": "scheme.base.x=1: scheme.base has no options inside",
    "task.kv.pair=3": (
        "task.kv.pair=3: no such option in task.kv; did you mean pairs? choose one of "
        "batch_tokens, "
    ),
    "task.kw.pairs=3": "task.kw.pairs=3: no such option in task; choose one of kv, nll",
    "data.txt.size=3": "data.txt.size=3: no such option in data; did you mean text? choose one of ",
    "hydra.launcher.jobs=3": (
        "hydra.launcher.jobs=3: no such option in hydra.launcher; did you mean n_jobs? choose one "
        "of "
    ),
    "~scheme": "scheme: removed from the configuration; drop ~scheme",
    "~seed": "seed: removed from the configuration; drop ~seed",
    "~task.kv.trials | task.kv.trials=3": (
        "task.kv.trials=3: no such option in task.kv; choose one of batch_tokens, "
    ),
    "extension=rerope | extension.factor=3": (
        "extension.factor=3: no such option in extension; choose one of width"
    ),
}

WORDS = {
    "rope": "rope: not of the form option=value; see extrap --help",
    "scheme=[": "scheme=[: cannot be read (...); brackets and quotes must close",
    "label='a": "label='a: cannot be read (...); brackets and quotes must close",
    "label=é": "label=é: cannot be read (...)",
    "label=a\tb": "label=a\\tb: ",
    "label=a\nb": "label=a\\nb: cannot be read (...)",
    "label=\u202egnp": "label=\\u202egnp: ",
    "study='a\x1b[2Jb'": "study=...a\\x1b[2Jb...: letters, digits, dot, hyphen and underscore",
    "scheme=rope,alibi": ("scheme=rope,alibi: several values make a sweep; add -m"),
    "seed=range(0,3)": "seed=range(0,3): several values make a sweep; add -m",
    "seed=choice()": "seed=choice(): ",
    "scheme.base=${nope}": "scheme.base: Interpolation key 'nope' not found",
    "scheme.base=${scheme.base}": "scheme.base...",
    "scheme.base=${oc.env:NOPE_NOPE}": "scheme.base...",
    "scheme.base=${nope:1}": "scheme.base...",
    "label=" + "[" * 200 + "]" * 200: "label=[[[...",
    "--sheme": "unrecognized arguments: --sheme; see extrap --help",
    "--cfg=jb": "argument --cfg/-c: invalid choice: 'jb' (choose from ...); see extrap --help",
    "--multirun=3": "argument --multirun/-m: ignored explicit argument '3'; see extrap --help",
    "--experimental-rerun=job.pickle": (
        "--experimental-rerun=job.pickle: would run code out of a file; `extrap-status` prints"
    ),
    "+stduy=mine": "+stduy: no such option; did you mean study? choose one of ",
    "plugins=foo": "plugins=foo: must be a list, such as [a,b]",
    "plugins=[nope_nope]": "plugins=nope_nope: no such package here",
    "train=5": "train=5: holds options of its own; give one of them, as in name.option=value",
    "~task": "~task: cannot be left out; give it another value",
    "experiment=reference/gp": (
        "experiment=reference/gp: no such experiment; did you mean reference/gpu? choose one of "
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate": (
        "model.checkpoint=/nope: no such folder or file; give a folder with config.json"
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate | scheme=alibi": (
        "scheme=alibi: a published checkpoint has positions of its own; drop it"
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate | data/vocabulary=bytes": (
        "data/vocabulary=bytes: a published checkpoint has tokens of its own; drop it"
    ),
    "model=checkpoint | model.checkpoint=/nope | finetune=lora | data.vocabulary.keys=9": (
        "data.vocabulary.keys=9: a published checkpoint has tokens of its own; drop it"
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate | data.length=128": (
        "data.length=128: a published checkpoint is not trained; drop it"
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate | data=text": (
        "data=text: a published checkpoint is not trained; drop it"
    ),
    "model=checkpoint | model.checkpoint=/nope | stage=evaluate | train.lr=1": (
        "train.lr=1: a published checkpoint is not trained; drop it"
    ),
    "stage=evaluate": "stage=evaluate: ... is not trained yet",
    "+trainer.overfit_batches=1": "trainer.overfit_batches=1: Lightning cannot take it",
    "+trainer.max_time=1": "trainer.accelerator=...max_time=1: ...; trainer=cpu works everywhere",
    "data/corpus=files": "data.corpus.path=???: needs a value; give data.corpus.path=...",
    "data/vocabulary=tokenizer": (
        "data.vocabulary.tokenizer=???: needs a value; give data.vocabulary.tokenizer=..."
    ),
}

CASES = NAMES | TYPES | KEYS | WORDS
