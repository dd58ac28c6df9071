"""`extrap export-trials kv nth trace --tokenizer X --out FOLDER`: the trials of retrieval tasks as
files for other harnesses.

    trials/CELL.jsonl    a trial a line: prompt, answer, length, depth, seed, ...
    CELL.yaml            an lm-eval task; its `acc` is our `accuracy`: every token of the answer is
                         the most likely one
    extrap.yaml          the lm-eval group of all of them
    extrap_trials.py     an inspect task of one cell

A cell is a task, a protocol, a length in tokens and a depth in percent: kv-records-1024-d50.
extrap evaluates a checkpoint with this tokenizer on the same prompts. A prompt lacks the token that
begins a text: its length counts this token, and the harness adds it.
"""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from extrap.cli.export import whole
from extrap.cli.shared import parser, reported
from extrap.utils.errors import UserError, choose

NEEDLE, PASSAGE = "values are words, not numbers of 7 digits", "one word, not a passage of a chat"
ALIASES = {
    "nth": ("nth", {"count": ["start"]}, "", ""),
    "niah_single_2": ("kv", {"pairs": 1}, "padded", NEEDLE),
    "niah_multikey_1": ("kv", {"pairs": 4}, "padded", NEEDLE),
    "niah_multikey_2": ("kv", {}, "records", NEEDLE),
    "vt": ("trace", {"hops": [4]}, "", "the answer is the value, not the list of variables"),
    "mrcr_4needle": (
        "nth",
        {"count": ["start"], "copies": 4, "depths": [0, 0.33, 0.67, 1]},
        "",
        PASSAGE,
    ),
    "mrcr_8needle": ("nth", {"count": ["start"], "copies": 8}, "", PASSAGE),
}
"""Names of RULER (arXiv 2404.06654) and MRCR (arXiv 2409.12640): the task that is nearest, its
options, its protocol ("" for each), and what differs; and the options of `nth` in words.
"""

LM_EVAL = """\
# {why}
task: extrap_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: trials/{cell}.jsonl}}}}
test_split: test
output_type: loglikelihood
doc_to_text: prompt
doc_to_target: answer
target_delimiter: ""
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1, protocol: {protocol}, length: {length}, depth: {depth}}}
"""

INSPECT = '''\
"""Trials of extrap: `inspect eval extrap_trials.py -T cell={cell} --model ...`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import match
from inspect_ai.solver import generate

FIELDS = ["task", "protocol", "length", "depth", "seed", "trial"]


@task
def extrap(cell: str = "{cell}") -> Task:
    file = Path(__file__).parent / "trials" / f"{{cell}}.jsonl"
    spec = FieldSpec(input="prompt", target="answer", id="id", metadata=FIELDS)
    config = GenerateConfig(max_tokens=8, temperature=0)
    return Task(json_dataset(str(file), spec), generate(), match("begin"), config=config)
'''


class Cell(NamedTuple):
    """name: of its files; why: what differs from the benchmark of that name; trials: the lines."""

    name: str
    protocol: str
    length: int
    depth: float
    why: str
    trials: list[dict[str, Any]]


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    command = parser("extrap export-trials", "Write the trials of tasks for other harnesses.")
    more = ", ".join(name for name, (task, *_) in ALIASES.items() if name != task)
    command.add_argument("tasks", metavar="TASK", nargs="+", help=f"such as kv, nth, trace, {more}")
    command.add_argument(
        "--tokenizer", required=True, metavar="X", help="tokenizer.json, a folder, a hub name"
    )
    command.add_argument(
        "--out", type=Path, default=Path("trials"), metavar="FOLDER", help="to make"
    )
    command.add_argument("--lengths", default="1024,2048,4096", help="tokens, commas between")
    command.add_argument("--trials", type=int, default=20, help="of each length and depth")
    args = command.parse_args(argv)
    with reported(command.prog):
        whole(args.out, partial(_write, list(cells(args))))
        print(args.out)


def cells(args: Namespace) -> Iterator[Cell]:
    """Draws every cell. Raises UserError for a task that is not asked in words, for a tokenizer
    without words and for lengths that hold no trial.
    """
    from extrap.data.corpora.base import Encoded, Source
    from extrap.data.tokenizer import encoder
    from extrap.data.trials.base import Trials
    from extrap.runs.build import build
    from extrap.runs.choices import node
    from extrap.tasks.scoring.retrieval import SEED

    lengths = _lengths(args.lengths)
    if args.trials < 1:
        raise UserError("--trials", args.trials, "expected 1 or more")
    tokens = encoder(args.tokenizer, f"--tokenizer={args.tokenizer}")
    words = _vocabulary(tokens, f"--tokenizer={args.tokenizer}")
    source = build(node("data/corpus", "torch"), "data.corpus", kind=Source)
    corpus = Encoded(source, words.encoder).open()
    corpus.check("validation", max(lengths))
    stream, changed, drawn = corpus.stream("validation"), 0, 0
    for name in args.tasks:
        task, only, why = _task(name)
        task.check_forms(words, lengths)
        forms = {p: form for p, form in task.written(words).items() if only in ("", p)}
        for (protocol, form), length, depth in product(forms.items(), lengths, task.depths):
            made = form.questions(Trials(words, stream, length, range(args.trials), SEED), depth)
            cell = f"{name}-{protocol}-{length}-d{round(100 * depth)}"
            trials = []
            for i, (ids, answer) in enumerate(zip(made.tokens, made.answers, strict=True)):
                prompt = tokens.decode(ids[1:].tolist())
                read = 1 + len(tokens(prompt.encode())[0])
                changed, drawn = changed + (read != length), drawn + 1
                where = {"task": name, "protocol": protocol, "length": length, "depth": depth}
                more = {"seed": SEED, "trial": i, "tokens": read, "prompt": prompt}
                said = tokens.decode(answer.tolist())
                trials.append({"id": f"{cell}-{i}"} | where | more | {"answer": said})
            yield Cell(cell, protocol, length, depth, why, trials)
    if changed:
        line = f"{changed} of {drawn} prompts have another length when read again; see `tokens`"
        print(f"extrap export-trials: {line}", file=sys.stderr)


def _vocabulary(tokens: Any, place: str) -> Any:
    """The words of a tokenizer, or the keys and values of a run that `extrap export` wrote."""
    from extrap.data.vocabulary import Vocabulary
    from extrap.pretrained.vocabulary import PublishedVocabulary

    kinds = [tokens.word(i)[:2] for i in range(Vocabulary.text + 1, tokens.ids)]
    if kinds[:1] == ["<k"]:
        return Vocabulary(kinds.count("<k"), kinds.count("<v"))
    return PublishedVocabulary(tokens, tokens.ids, 0, place).words


def _lengths(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and 0 < int(part) <= 10**7 for part in parts):
        raise UserError("--lengths", text, "expected tokens, such as 1024,4096")
    return sorted({int(part) for part in parts})


def _task(name: str) -> tuple[Any, str, str]:
    """(the task, its protocol, what differs from the benchmark of that name)."""
    from extrap.runs.build import build
    from extrap.runs.choices import node
    from extrap.tasks.scoring.retrieval import Grid
    from extrap.utils.paths import conf_dir

    own, options, only, why = ALIASES.get(name, (name, {}, "", ""))
    known = {path.stem for path in Path(conf_dir(), "task").glob("*.yaml")}
    if own not in known:
        raise UserError("TASK", name, "no such task", choose(name, {*known, *ALIASES}))
    made = build({**(node("task", own) or {}), **options}, f"task.{own}")
    if not (isinstance(made, Grid) and made.words):
        raise UserError("TASK", name, "is not asked in words at depths", "try kv, nth or trace")
    return made, only, why and f"{name}: {why}"


def _write(found: list[Cell], folder: Path) -> None:
    (folder / "trials").mkdir(parents=True)
    names = []
    for cell, protocol, length, depth, why, trials in found:
        lines = [json.dumps(trial, ensure_ascii=False) + "\n" for trial in trials]
        _text(folder / "trials" / f"{cell}.jsonl", "".join(lines))
        names.append(f"extrap_{(name := cell.replace('-', '_'))}")
        where = {"protocol": protocol, "length": length, "depth": depth}
        own = LM_EVAL.format(name=name, cell=cell, why=why or "extrap, a cell", **where)
        _text(folder / f"{cell}.yaml", own)
    listed = "".join(f"  - {name}\n" for name in names)
    _text(folder / "extrap.yaml", f"group: extrap\ntask:\n{listed}metadata: {{version: 1}}\n")
    _text(folder / "extrap_trials.py", INSPECT.format(cell=found[0].name))


def _text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
