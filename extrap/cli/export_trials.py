"""Write the trials of tasks for other harnesses."""

from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from extrap.cli.export import check_free, whole
from extrap.cli.shared import argument, command
from extrap.utils.errors import UserError, choose

TASKS = "such as kv, nth, trace, or a name of RULER and MRCR such as niah_single_2"
TOKENIZER = "tokenizer.json, a folder, a hub name"


@command(
    "",
    argument("tasks", metavar="TASK", nargs="+", help=TASKS),
    argument("--tokenizer", required=True, metavar="X", help=TOKENIZER),
    argument("--out", type=Path, default=Path("trials"), metavar="FOLDER", help="folder to create"),
    argument("--lengths", default="1024,2048,4096", help="in tokens, separated by commas"),
    argument("--trials", type=int, default=20, help="trials of each length and depth"),
)
def main(args: Namespace) -> str:
    from extrap.tasks.scoring import harness

    check_free(args.out)
    whole(args.out, partial(harness.write, cells(args)))
    return str(args.out)


def cells(args: Namespace) -> list[Any]:
    """Draws every cell. Raises UserError for a task that is not asked in words, for a tokenizer
    without words and for lengths that hold no trial.
    """
    from extrap.data.corpora.base import Source
    from extrap.data.tokenizer import encoder
    from extrap.runs.build import build
    from extrap.runs.choices import node
    from extrap.tasks.scoring import harness

    parts = args.lengths.split(",")
    if not all(part.isdecimal() and 0 < int(part) <= 10**7 for part in parts):
        raise UserError("--lengths", args.lengths, "expected tokens, such as 1024,4096")
    lengths = sorted({int(part) for part in parts})
    if args.trials < 1:
        raise UserError("--trials", args.trials, "expected 1 or more")
    place = f"--tokenizer={args.tokenizer}"
    tokens = encoder(args.tokenizer, place)
    words = _vocabulary(tokens, place)
    source = build(node("data/corpus", "torch"), "data.corpus", kind=Source)
    corpus = source.open(encoder=words.encoder)
    corpus.check("validation", max(lengths))
    found = []
    for name in args.tasks:
        task = _task(name)
        task.check_forms(words, lengths)
        stream = corpus.stream("validation")
        found += harness.cells(name, task, words, tokens, stream, lengths, args.trials)
    return found


def _vocabulary(tokens: Any, place: str) -> Any:
    """Returns the words of a tokenizer, or the keys and values of a run of `extrap export`."""
    from extrap.data.vocabulary import Vocabulary
    from extrap.pretrained.vocabulary import PublishedVocabulary

    kinds = [tokens.word(i)[:2] for i in range(Vocabulary.text + 1, tokens.ids)]
    if kinds[:1] == ["<k"]:
        return Vocabulary(kinds.count("<k"), kinds.count("<v"))
    return PublishedVocabulary(tokens, tokens.ids, 0, place).words


def _task(name: str) -> Any:
    """Returns the task of a name or an alias. Raises UserError."""
    from extrap.runs.build import build
    from extrap.runs.choices import node
    from extrap.tasks.scoring.harness import ALIASES
    from extrap.tasks.scoring.retrieval import Grid
    from extrap.utils.paths import conf_dir

    own, options, *_ = ALIASES.get(name, (name, {}))
    known = {path.stem for path in Path(conf_dir(), "task").glob("*.yaml")}
    if own not in known:
        raise UserError("TASK", name, "no such task", choose(name, {*known, *ALIASES}))
    made = build({**(node("task", own) or {}), **options}, f"task.{own}")
    if not (isinstance(made, Grid) and made.words):
        raise UserError("TASK", name, "is not asked in words at depths", "try kv, nth or trace")
    return made
