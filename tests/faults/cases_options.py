"""Options of schemes, models, extensions, training and tuning, and how the line about each begins;
`...` stands for anything.
"""

CASES = {
    "model.heads=5": "model.heads=5: must divide model.dim=64",
    "model.heads=64 | scheme=rope": (
        "scheme: rotation turns pairs of channels; 1 channels (dim / heads) are not pairs; give "
        "an even number"
    ),
    "model.dim=0": "model.dim=0: expected a whole number from 1 to 65536",
    "model.dim=65537": "model.dim=65537: expected a whole number from 1 to 65536",
    "model.dim=12 | model.heads=4 | scheme=rope": (
        "scheme: rotation turns pairs of channels; 3 channels (dim / heads) are not pairs"
    ),
    "model.dim=63 | model.heads=3 | scheme=sinusoidal": (
        "scheme: sinusoids come in pairs of channels; dim=63 is odd; give an even model.dim"
    ),
    "model.dim=1.5": "model.dim=1.5: expected a whole number",
    "model.layers=0": "model.layers=0: expected a whole number from 1 to 1000",
    "model.layers=1001": "model.layers=1001: expected a whole number from 1 to 1000",
    "model.layers=20 | model.dim=65536": (
        "model: ... parameters need ... GiB in training and this machine has ...; give a smaller "
        "model.dim"
    ),
    "model.ratio=0": "model.ratio=0: expected a number above 0, at most 64",
    "model.ratio=x": "model.ratio=x: expected a number",
    "model.dropout=1": "model.dropout=1: expected a number from 0 to below 1",
    "model.dropout=-0.1": "model.dropout=-0.1: expected a number from 0 to below 1",
    "model.norm=batch": "model.norm=batch: expected one of rms, layer",
    "model.mlp=relu6": "model.mlp=relu6: expected one of gelu, ",
    "model.head=none": "model.head=none: expected one of untied, tied",
    "+model.depth=3": "model.depth: no such option; Decoder takes ",
    "model.heads=true": "model.heads=true: expected a whole number",
    "model.dim=null": "model.dim=null: expected a whole number",
    "scheme=t5 | scheme.buckets=31": (
        "scheme.buckets=31, max_distance=32: buckets is even, at least 2, below 2 * max_distance"
    ),
    "scheme=t5 | scheme.buckets=0": (
        "scheme.buckets=0, max_distance=32: buckets is even, at least 2, below 2 * max_distance"
    ),
    "scheme=t5 | scheme.buckets=128 | scheme.max_distance=32": (
        "scheme.buckets=128, max_distance=32: buckets is even, at least 2, below 2 * max_distance"
    ),
    "scheme=t5 | scheme.max_distance=-1": (
        "scheme.buckets=32, max_distance=-1: buckets is even, at least 2, below 2 * max_distance"
    ),
    "scheme=learned | scheme.rows=10": "scheme.rows=10: the table must hold the training length 64",
    "scheme=learned | scheme.policy=wrap": (
        "scheme.policy=wrap: expected one of raise, clamp, interpolate, hierarchical"
    ),
    "scheme=rope | scheme.base=1": "scheme.base=1: must exceed 1, so that later pairs turn slower",
    "scheme=rope | scheme.base=-5": (
        "scheme.base=-5: must exceed 1, so that later pairs turn slower"
    ),
    "scheme=rope | scheme.base=big": "scheme.base=big: expected a number or null",
    "scheme=rope | scheme.layout=diagonal": (
        "scheme.layout=diagonal: expected one of interleaved, half or a list of whole numbers"
    ),
    "scheme=rope | scheme.layout=[0,1,2]": (
        "scheme.layout=[0, 1, 2]: name each of the channels 0 to 15 once, pair by pair"
    ),
    "scheme=alibi | scheme.slopes=[1,2]": (
        "scheme.slopes=[1, 2]: give one positive slope for each of the 4 heads"
    ),
    "scheme=alibi | scheme.slopes=[0,1,2,3]": (
        "scheme.slopes=[0, 1, 2, 3]: give one positive slope for each of the 4 heads"
    ),
    "scheme=alibi | scheme.slopes=[a,b,c,d]": (
        "scheme.slopes=['a', 'b', 'c', 'd']: expected a list of numbers or null"
    ),
    "scheme=p-rope | scheme.fraction=2": (
        "scheme.fraction=2: a share of the pairs lies between 0 and 1"
    ),
    "scheme=partial-rope | scheme.fraction=0.01": (
        "scheme.fraction=0.01: of 16 channels, an even number from 2 to 16 can turn"
    ),
    "scheme=fire | scheme.hidden=0": "scheme.hidden=0: at least 1",
    "scheme=fire | scheme.threshold=1000": (
        "scheme.threshold=1000: must lie between 1 and 63, where training still reaches the last "
        "entry"
    ),
    "scheme=fire | scheme.sharing=everything": (
        "scheme.sharing=everything: expected one of per-layer, shared"
    ),
    "scheme=sandwich | scheme.width=3": (
        "scheme.width=3: sinusoids come in pairs of channels, at least one"
    ),
    "scheme=xpos | scheme.gamma=0": "scheme.gamma=0, scale_base=512.0: both must be positive",
    "scheme=window | scheme.width=0": "scheme.width=0: a query sees itself, so at least 1",
    "scheme=deberta | scheme.span=1": (
        "scheme.span=1: must lie between 2 and 64, where training still reaches the last entry"
    ),
    "scheme=deberta | scheme.terms=none": "scheme.terms=none: expected one of both, c2p, p2c",
    "scheme=transformer-xl | scheme.clamp=0": (
        "scheme.clamp=0: a distance of at least 1, or null for none"
    ),
    "scheme=tupe-a | scheme.rows=3": (
        "scheme.rows=3: at least the training length 64, and null where past=sinusoidal has no "
        "table"
    ),
    "scheme=multi-axis-rope | scheme.axes=3": (
        "scheme.axes=3: 16 channels of a head cannot be split into so many blocks of pairs"
    ),
    "scheme=multi-axis-rope | scheme.width=1": "scheme.width=1: a line holds at least 2 tokens",
    "scheme=floater | scheme.delta=0": (
        "scheme.delta=0: the time between two positions must exceed 0"
    ),
    "scheme=floater | scheme.steps=0": "scheme.steps=0: at least 1 per position",
    "scheme=hope | scheme.turns=-1": "scheme.turns=-1: must not be negative",
    "scheme=log-n | scheme.floor=-1": (
        "scheme.floor=-1, training length 64: floor is at least 0, the length at least 2"
    ),
    "scheme=raw-index | scheme.step=0": "scheme.step=0: must not be 0, which adds nothing",
    "scheme=sinusoidal | scheme.emb_scale=0": (
        "scheme.emb_scale=0: must exceed 0, else the tokens are lost"
    ),
    "scheme=sinusoidal-concat | scheme.width=3": (
        "scheme.width=3: sinusoids come in pairs of channels; give an even number of at least 2"
    ),
    "scheme=mul-sinusoidal | scheme.amplitude=0": (
        "scheme.amplitude=0: must not be 0, which is NoPE"
    ),
    "scheme=inverse-leaky-rope | scheme.window=100": (
        "scheme.window=100: must lie between 1 and the training length 64"
    ),
    "scheme=inverse-leaky-rope | scheme.factor=0.5": "scheme.factor=0.5: must be at least 1",
    "scheme=complex-order | scheme.base=1": "scheme.base=1: must exceed 1",
    "data.more=3": "data.more=3: expected Part by name or null",
    "data.more=true": "data.more=true: expected Part by name or null",
    "data.more={3:{_target_:extrap.data.query.Query,size:4}}": (
        "data.more={3: {'_target_': 'extrap.data.query.Query', 'size': 4}}: expected Part by name"
    ),
    "~data.vocabulary": "data.vocabulary=null: expected Vocabulary; give its options",
    "scheme._target_=null": "scheme._target_=None: only classes of extrap are built",
    "finetune=full | finetune.factor=2 | data@finetune.data=text | finetune.data.more=3": (
        "finetune.data.more=3: expected Part by name or null"
    ),
    "finetune=full | finetune.factor=2 | data@finetune.data=text | finetune.data.text.weight=-1": (
        "finetune.data.text.weight=-1: give a number above 0; finetune.data.text.size=0 leaves"
    ),
    "+trainer.max_steps=3": "trainer.max_steps=3: train.steps says it; leave it out",
    "+trainer.logger=false": "trainer.logger=False: the group logger says it (logger=wandb)",
    "+trainer.foo=1": "trainer.foo=1: no such option of Lightning's Trainer; leave it out",
    "+trainer.fast_dev_run=true": "trainer.fast_dev_run=True: trains nothing; leave it out",
    "+trainer.limit_train_batches=0": "trainer.limit_train_batches=0: trains nothing; leave it",
    "scheme=rope | scheme._target_=os.system": (
        "scheme._target_=os.system: only classes of extrap are built; name others in plugins=[...]"
    ),
    "scheme=rope | scheme._target_=extrap.schemes.rope.Nope": (
        "scheme._target_=extrap.schemes.rope.Nope: no such class"
    ),
    "scheme=rope | scheme._target_=extrap.extensions.ntk.NTK": (
        "scheme._target_=extrap.extensions.ntk.NTK: expected Scheme"
    ),
    ("scheme=rope | scheme._target_=extrap.model.scheme.Scheme"): (
        "scheme.base: no such option; Scheme takes none"
    ),
    "scheme=rope | +scheme.bse=3": "scheme.bse: no such option; RoPE takes base, layout",
    "extension=pi | extension.factor=0.5": (
        "extension.factor=0.5: from 1 to 1000000, or null for T / L of each text"
    ),
    "extension=pi | extension.factor=1e308": "extension.factor=1e+308: from 1 to 1000000, or null",
    "extension=dynamic-ntk | extension.factor=.inf": "extension.factor=.inf: expected a number",
    "extension=pi | extension.factor=x": "extension.factor=x: expected a number or null",
    "extension=ntk | extension.factor=0": (
        "extension.factor=0: from 1 to 1000000, or null for T / L of each text"
    ),
    "extension=yarn | extension.ramp=steep": "extension.ramp=steep: expected one of index, turns",
    "extension=yarn | extension.slope=-1": (
        "extension.slope=-1: at least 0, at which logits stay as they are"
    ),
    "extension=yarn | extension.beta_slow=0": (
        "extension.beta_slow=0, beta_fast=None: turns, 0 < beta_slow < beta_fast; null for "
        "beta_fast is 2 or more"
    ),
    "extension=yarn | extension.beta_slow=4 | extension.beta_fast=2": (
        "extension.beta_slow=4, beta_fast=2: turns, 0 < beta_slow < beta_fast; null for beta_fast "
        "is 2 or more"
    ),
    "extension=yarn | scheme=nope": (
        "extension=yarn: YaRN on NoPE: no channels turn there, so there are no frequencies to "
        "change; with scheme=nope work"
    ),
    "extension=yarn | scheme=alibi": (
        "extension=yarn: YaRN on ALiBi: no channels turn there, so there are no frequencies to "
        "change; with scheme=alibi work"
    ),
    "extension=pi | scheme=nope": (
        "extension=pi: Interpolation on NoPE: nothing there is a function of a real coordinate "
        "(rotary, sinusoidal); with"
    ),
    "extension=rerope | extension.width=0": (
        "extension.width=0: must lie between 1 and the training length 64"
    ),
    "extension=rerope | extension.width=65": (
        "extension.width=65: must lie between 1 and the training length 64"
    ),
    "extension=leaky-rerope | extension.k=0.5": (
        "extension.k=0.5: must exceed 1, so that far distances grow more slowly"
    ),
    "extension=self-extend | extension.window=63": (
        "extension.window=63: no divisor of it groups 512 tokens within the training length"
    ),
    "extension=self-extend | extension.group=5": (
        "extension.group=5: must divide the window of 32 tokens"
    ),
    "extension=longrope | extension.long=[1,2]": ("extension.long: 2 factors given for 8 pairs"),
    "extension=longrope | extension.long=[0,1,2,3,4,5,6,7]": (
        "extension.long=[0, 1, 2, 3, 4, 5, 6, 7]: every factor must exceed 0"
    ),
    "extension=pi-pair | extension.pair=8": ("extension.pair=8: there are 8, counted from 0"),
    "extension=pi-pair | extension.pair=-1": "extension.pair=-1: counted from 0",
    "extension=crop | extension.stride=0": "extension.stride=0: at least one prediction per window",
    "extension=window | extension.width=0": "extension.width=0: a query sees itself, so at least 1",
    "extension=window | scheme=learned": (
        "extension=window: Windowed on Learned: positions past 64 are undefined in it, whatever "
        "is seen of them; with"
    ),
    "extension=streaming-llm | extension.sinks=-1": "extension.sinks=-1: at least 0",
    "extension=streaming-llm | extension.recent=0": (
        "extension.recent=0: a query sees itself, so at least 1"
    ),
    "extension=streaming-llm | extension.sinks=100": (
        "extension.sinks=100: fewer than the 64 tokens of training"
    ),
    "extension=lm-infinite | extension.sinks=60 | extension.recent=60": (
        "extension.recent=60: with sinks=60 more than the 64 tokens of training"
    ),
    "extension=nbce | extension.beta=-1": (
        "extension.beta=-1: at least 0, or null for one less than there are contexts"
    ),
    "extension=nbce | extension.top_p=0": (
        "extension.top_p=0: a share of probability above 0 and at most 1"
    ),
    "extension=nbce | extension.stickiness=-1": "extension.stickiness=-1: at least 0",
    "extension=nbce | extension.window=0": (
        "extension.window=0: must lie between 1 and 63, the training length without BOS"
    ),
    "extension=parallel-windows | extension.window=64": (
        "extension.window=64: must lie between 1 and 62, so that BOS and the end of"
    ),
    "extension=parallel-windows | extension.window=0": (
        "extension.window=0: must lie between 1 and 62, so that BOS and the end of"
    ),
    "extension=randomised-stride | scheme=rope": (
        "extension=randomised-stride: RandomisedTest on RoPE: it was not trained on randomised "
        "positions; with scheme=rope"
    ),
    "extension=randomised-stride | scheme=randomised-rope | extension.longest=3": (
        "extension.longest=3: must lie between the training"
    ),
    "extension=learned-clamp | scheme=rope": (
        "extension=learned-clamp: LearnedTable on RoPE: it has no learned table of positions "
        "added to the tokens; with"
    ),
    "extension=learned-clamp | scheme=learned | extension.policy=guess": (
        "extension.policy=guess: expected one of clamp, interpolate, hierarchical"
    ),
    "extension=bias-interpolation | scheme=rope": (
        "extension=bias-interpolation: BiasInterpolation on RoPE: it has no bias that is a "
        "function of the distance (ALiBi,"
    ),
    "extension=log-n | scheme=log-n": (
        "extension=log-n: ClippedLogN on LogN: its logits grow with ln n already; with "
        "scheme=log-n work crop, direct,"
    ),
    "extension=ntk-su-mixed | extension.b=-1": (
        "extension.b=-1: at least 0, so that slow pairs are slowed most"
    ),
    "extension=ntk-dynamic | extension.mode=column": (
        "extension.mode=column: expected one of sequence, row"
    ),
    "extension=ntk-log-n | extension.first.factor=0": (
        "extension.first.factor=0: from 1 to 1000000, or null for T / L of each text"
    ),
    ("extension=ntk-log-n | extension.then={_target_:extrap.schemes.rope.RoPE}"): (
        "extension.then._target_=extrap.schemes.rope.RoPE: expected Extension"
    ),
    "extension=llama3 | extension.beta_fast=0.5": (
        "extension.beta_slow=1.0, beta_fast=0.5: turns, 0 < beta_slow < beta_fast; null for "
        "beta_fast is 2 or more"
    ),
    "extension=nbce | task=diagnostics": (
        "task=diagnostics: looks inside a model, and extension=nbce reads with several windows of "
        "one; leave one of the two out"
    ),
    "extension=rerope | +extension.a=b": "extension.a: no such option; ReRoPE takes width",
    "train.steps=0": "train.steps=0: expected a whole number of at least 1",
    "train.lr=0": "train.lr=0.0: expected a number above 0",
    "train.warmup=-1": "train.warmup=-1: expected a whole number of at least 0",
    "train.final=-1": "train.final=-1.0: expected a number of at least 0",
    "train.clip=0": "train.clip=0.0: expected a number above 0",
    "train.beta1=1": "train.beta1=1.0: expected a number from 0 to below 1",
    "train.beta2=-1": "train.beta2=-1.0: expected a number from 0 to below 1",
    "train.weight_decay=-1": "train.weight_decay=-1.0: expected a number of at least 0",
    "train.log_every=0": "train.log_every=0: expected a whole number of at least 1",
    "train.save_every=30": "train.save_every=30: a multiple of log_every=25",
    "trainer.devices=0": "trainer.devices=0 trainer.num_nodes=1: whole numbers from 1",
    "trainer.devices=auto": "trainer.devices=auto trainer.num_nodes=1: whole numbers from 1",
    "trainer.devices=[]": "trainer.devices=[] trainer.num_nodes=1: whole numbers from 1",
    "trainer.num_nodes=0": "trainer.devices=1 trainer.num_nodes=0: whole numbers from 1",
    "trainer.precision=7-bit": (
        "trainer.precision=7-bit: choose one of 32-true, 64-true, bf16-true, bf16-mixed"
    ),
    "trainer.accelerator=abacus": (
        "trainer.accelerator=abacus trainer.devices=1 trainer.precision=32-true: You selected an "
        "invalid accelerator name:"
    ),
    "+trainer.color=red": (
        "trainer.color=red: no such option of Lightning's Trainer; leave it out"
    ),
    "trainer=gpu": (
        "trainer.accelerator=gpu trainer.devices=1 trainer.precision=bf16-mixed: No supported gpu "
        "backend found!; trainer=cpu"
    ),
    "trainer=ddp": (
        "trainer.accelerator=gpu trainer.devices=2 trainer.num_nodes=1 trainer.strategy=ddp "
        "trainer.precision=bf16-mixed: No"
    ),
    "logger=wandb | logger.mode=sometimes": (
        "logger.mode=sometimes: expected one of offline, online"
    ),
    "logger=wandb | logger.timeout=x": "logger.timeout=x: expected a whole number",
    "logger=wandb | logger.project=3": "logger.project=3: expected text",
    "logger=wandb | logger._target_=os.system": (
        "logger._target_=os.system: only classes of extrap are built; name others in plugins=[...]"
    ),
    "study=../x": (
        "study=../x: letters, digits, dot, hyphen and underscore, starting with a letter or digit"
    ),
    "study=": (
        "study=: letters, digits, dot, hyphen and underscore, starting with a letter or digit"
    ),
    "study=a b": (
        "study=a b: letters, digits, dot, hyphen and underscore, starting with a letter or digit"
    ),
    "study=-x": (
        "study=-x: letters, digits, dot, hyphen and underscore, starting with a letter or digit"
    ),
    "label=a/b": (
        "label=a/b: letters, digits, dot, hyphen and underscore, starting with a letter or digit"
    ),
    "label=.hidden": (
        "label=.hidden: letters, digits, dot, hyphen and underscore, starting with a letter or "
        "digit"
    ),
    "threads=0": "threads=0: a whole number from 1 to 1024",
    "threads=5000": "threads=5000: a whole number from 1 to 1024",
    "seed=-1": "seed=-1: a whole number from 0 to 4294967295",
    "seed=4294967296": "seed=4294967296: a whole number from 0 to 4294967295",
    "seed=123456789012345678901234567890": (
        "seed=123456789012345678901234567890: a whole number from 0 to 4294967295"
    ),
    "plugins=[os] | scheme._target_=os.system": (
        "scheme._target_=os.system: not a class of extrap, os"
    ),
    "finetune=full | finetune.factor=0.5": (
        "finetune.factor=0.5: expected a number of at least 1 or null"
    ),
    ("finetune=full | finetune.factor=2 | finetune.batch=0"): (
        "finetune.batch=0: expected a number above 0 or null"
    ),
    "finetune=full | finetune.factor=2 | finetune.steps=0": (
        "finetune.steps=0: expected a whole number of at least 1"
    ),
    ("finetune=full | finetune.factor=2 | finetune.save_every=7"): (
        "finetune.save_every=7: a multiple of log_every=5"
    ),
    "finetune=full | finetune.factor=100000": (
        "finetune.factor=100000: windows of 6400000 tokens; data.vocabulary.keys=256: 3199999 "
        "records in 6400000 tokens need a key each; raise data.vocabulary.keys to 3199999 or"
    ),
    "finetune=full | finetune.factor=2 | scheme=learned": (
        "finetune.factor=2: windows of 128 tokens, but position 127 lies past the 64 positions "
        "that Learned defines"
    ),
    "finetune=full | extension=pi-adaptive": (
        "finetune.factor=null: extension=pi-adaptive follows the length of the text; give "
        "finetune.factor=4, say"
    ),
    "finetune=full | extension=nbce | finetune.factor=2": (
        "extension=nbce finetune=full: it is a way of reading, not a model to tune; evaluate it "
        "on finetune=none"
    ),
    "finetune=full | extension=crop | finetune.factor=2": (
        "extension=crop finetune=full: it is a way of reading, not a model to tune; evaluate it "
        "on finetune=none"
    ),
    "finetune=full | extension=yarn | scheme=nope": (
        "extension=yarn: YaRN on NoPE: no channels turn there, so there are no frequencies to "
        "change; with scheme=nope work"
    ),
    "finetune=full | finetune.factor=16": (
        "finetune.factor=16: windows of 1024 tokens; data.vocabulary.keys=256: 511 records in "
        "1024 tokens need a key each; raise data.vocabulary.keys to 511 or more, or"
    ),
    "finetune=lora | finetune.factor=2 | finetune.rank=0": (
        "finetune.rank=0: expected a whole number of at least 1"
    ),
    "finetune=lora | finetune.factor=2 | finetune.rank=65": (
        "finetune.rank=65: more than a side of blocks.0.qkv, 192 x 64"
    ),
    ("finetune=lora | finetune.factor=2 | finetune.alpha=0"): (
        "finetune.alpha=0: expected a number above 0"
    ),
    "finetune=lora | finetune.factor=2 | finetune.targets=[]": (
        "finetune.targets=[]: one or more of embedding, qkv, out, up, down, head, the matrices of "
        "this model"
    ),
    "finetune=lora | finetune.factor=2 | finetune.targets=[queries]": (
        "finetune.targets=[queries]: one or more of embedding, qkv, out, up, down, head, the "
        "matrices of this model"
    ),
    ("finetune=lora | finetune.factor=2 | finetune.targets=qkv"): (
        "finetune.targets=qkv: expected a list of text"
    ),
    ("finetune=lora | finetune.factor=2 | finetune.targets=[[qkv]]"): (
        "finetune.targets=[['qkv']]: expected a list of text"
    ),
    (
        "finetune=full | data@finetune.data=retrieval | finetune.factor=2 | "
        "finetune.data.vocabulary.keys=30"
    ): ("finetune.data.vocabulary: tuning reads what training read; give data.vocabulary alone"),
    (
        "finetune=full | data@finetune.data=retrieval | finetune.factor=2 | "
        "finetune.data.corpus.smallest=3"
    ): ("finetune.data.corpus: tuning reads what training read; give data.corpus alone"),
    (
        "finetune=full | finetune.factor=2 | "
        "label=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    ): (
        "label=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "
        "the tuned run"
    ),
    "data.more={x: {_target_: extrap.tasks.kv.KV}}": (
        "data.more.x._target_=extrap.tasks.kv.KV: expected Part"
    ),
    "model.ratio=inf": "model.ratio=inf: expected a number",
    "model.ratio=nan": "model.ratio=nan: expected a number",
    "model.dropout=nan": "model.dropout=nan: expected a number",
    "scheme=rope | scheme.base=nan": "scheme.base=nan: expected a number or null",
    "train.lr=inf": "train.lr=inf: expected a number above 0",
    "train.lr=nan": "train.lr=nan: expected a number above 0",
    "train.final=nan": "train.final=nan: expected a number of at least 0",
    "train.final=inf": "train.final=inf: expected a number of at least 0",
    "train.weight_decay=inf": "train.weight_decay=inf: expected a number of at least 0",
    "train.clip=nan": "train.clip=nan: expected a number above 0",
    "train.steps=0.5": "train.steps: must be a whole number",
    "finetune=full | finetune.factor=inf": (
        "finetune.factor=inf: expected a number of at least 1 or null"
    ),
    "finetune=full | finetune.factor=nan": (
        "finetune.factor=nan: expected a number of at least 1 or null"
    ),
    ("finetune=full | finetune.factor=2 | finetune.batch=inf"): (
        "finetune.batch=inf: expected a number above 0 or null"
    ),
    "finetune=full | finetune.factor=2 | finetune.lr=0": "finetune.lr=0: expected a number above 0",
    "finetune=full | finetune.factor=1e18": (
        "finetune.factor=1e+18: windows of 64000000000000000000 tokens; data.length="
    ),
    "logger=none | +logger.mode=offline": "logger.mode: no such option; NoDashboard takes none",
    "scheme=rope | scheme.base=inf": "scheme.base=inf: expected a number or null",
    "scheme=xpos | scheme.gamma=inf": "scheme.gamma=inf: expected a number",
    "scheme=sinusoidal | scheme.emb_scale=inf": "scheme.emb_scale=inf: expected a number",
    "scheme=alibi | scheme.slopes=[inf,1,1,1]": (
        "scheme.slopes=[inf, 1, 1, 1]: expected a list of numbers or null"
    ),
    "scheme=fire | scheme.hidden=100000000000": (
        "scheme.hidden=100000000000: expected a whole number of at most 4194304"
    ),
    "scheme=learned | scheme.rows=100000000000000": (
        "scheme.rows=100000000000000: expected a whole number of at most 4194304 or null"
    ),
    ("scheme=t5 | scheme.buckets=100000000 | scheme.max_distance=1000000000"): (
        "scheme.buckets=100000000: expected a whole number of at most 4194304"
    ),
    "scheme=hwfa | scheme.parts=3": "scheme.parts=3: expected a list of Scheme",
    "scheme=hwfa | scheme.parts=[3]": (
        "scheme.parts[0]=3: expected Scheme; give its options, or choose a file of its group"
    ),
    "extension=pi | extension.factor=inf": "extension.factor=inf: expected a number or null",
    "extension=yarn | extension.slope=inf": "extension.slope=inf: expected a number",
    "extension=leaky-rerope | extension.k=inf": "extension.k=inf: expected a number or null",
    "extension=nbce | extension.beta=inf": "extension.beta=inf: expected a number or null",
    "extension=self-extend | extension.factor=inf": "extension.factor=inf: expected a number",
    ("finetune=lora | finetune.factor=2 | finetune.alpha=inf"): (
        "finetune.alpha=inf: expected a number"
    ),
    "logger=wandb | logger.project=": "logger.project=: needs a name",
    "logger=wandb | logger.timeout=-1": "logger.timeout=-1: at least 1 second",
}
