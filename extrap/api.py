"""What `import extrap` gives: train, evaluate, draw, compare and judge from Python.

    rows = extrap.evaluate(model, tokenizer=tok, tasks=["kv", "nll"], multiples=[0.5, 1, 2])
    extrap.plot(rows, "kv_depth")
    extrap.judge("scheme=mine").board

Each function composes the words of a command line and runs the code of the command line, so
that values are the same bit for bit, whatever default type, device or autocast of torch the caller
has set. Errors are UserError, in one line. Words such as "task.kv.trials=20",
"data.corpus.path=my/text" or "threads=8" set any other option.
"""

import shlex
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import pandas as pd
from annotated_types import MinLen

from extrap.utils.bounds import OneOrMore, Positive
from extrap.utils.calls import checked
from extrap.utils.errors import UserError, choose
from extrap.utils.plugins import check_plugins, told

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from extrap.cli.judge import Judged
    from extrap.results.comparison.pairs import Found
    from extrap.runs.job import Job


P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class TrainedRun:
    """A run that `train` made or found: its options, `words`, and the run folder of this name."""

    words: tuple[str, ...]
    name: str
    folder: Path


_LOCK = RLock()
"""Held by a function that works: Hydra, threads of torch and a model in a variable are for one at
a time."""


def _alone(work: Callable[P, R]) -> Callable[P, R]:
    """Lets one thread work at a time, with gradients as a new process has them."""

    @wraps(work)
    def working(*args: P.args, **more: P.kwargs) -> R:
        import torch

        with _LOCK, torch.inference_mode(False), torch.enable_grad():
            return work(*args, **more)

    return working


@_alone
@checked
def train(*words: str) -> TrainedRun:
    """Trains the run of these options, as `extrap WORDS stage=train` does, unless it is trained
    already; its folder is in `runs`. Raises UserError for a mistake, and for a training of several
    processes, each of which would run the caller's script from its start.
    """
    from extrap.runs.experiment import Experiment
    from extrap.runs.training import devices

    logger = [] if _named(words, {"logger"}) else ["logger=none"]
    with _job([*words, *logger, "stage=train"]) as job:
        work = Experiment(job, shlex.join(["extrap", *words]), says=False)
        if not work.finished():
            n = job.source.trainer.processes
            if n > 1 and not devices.started_outside(job.source.trainer):
                command = shlex.join(["extrap", *words, "stage=train"])
                remedy = f"run `{command}` first"
                raise UserError("trainer", problem=f"makes {n} processes", remedy=remedy)
            work.check()
        work.run()
        return TrainedRun(words, job.run.name, job.run.folder.absolute())


@_alone
@checked
def evaluate(
    model: Any,
    *words: str,
    tokenizer: Any = None,
    tasks: str | OneOrMore[str] = ("nll", "kv"),
    multiples: OneOrMore[Positive] | None = None,
    extension: str | Annotated[Sequence[str | None], MinLen(1)] | None = None,
    factor: float | None = None,
    reference: str | Path | None = None,
) -> pd.DataFrame:
    """Returns the rows of a model in the schema of results; writes no file but the tokens of the
    text (runs/.tokens).

    model: a TrainedRun; the path of a checkpoint or a name on the hub; a model of transformers; a
    GPT of extrap; any function from ids (B, T) on the CPU to logits (B, T, vocab); or the address
    of an engine, up to and with /v1. tokenizer: of a model in a variable and of an engine; a model
    without one reads bytes and the ids of data.vocabulary. tasks: names of conf/task. multiples:
    lengths in training lengths, of every task. extension, factor: one or several, and the factor of
    each. reference: the checkpoint that an engine should serve; task=parity reads both. In `words`,
    "task.kv.batch_tokens=65536" sets tokens per forward (speed alone; less where memory is short).
    Raises UserError.
    """
    names = [tasks] if isinstance(tasks, str) else list(tasks)
    if reference is not None:
        if not _is_url(model):
            problem = "compares an engine with its model, and this model is no address"
            raise UserError("reference", reference, problem, "leave it out")
        names += ["parity"] * ("parity" not in names)
        words = (*words, _word("model.reference", reference))
    more = [f"task=[{','.join(names)}]", "stage=evaluate"]
    if multiples is not None:
        lengths = ",".join(map(str, multiples))
        more += [f"task.{name}.multiples=[{lengths}]" for name in names]
    chosen = [extension] if extension is None or isinstance(extension, str) else list(extension)
    typed = [*getattr(model, "words", ()), *words] if isinstance(model, TrainedRun) else words
    extended = {one for one in chosen if one not in (None, "direct")}
    by_word = None in chosen and _named(typed, {"extension"})
    if factor is not None and not extended and not by_word:
        raise UserError("factor", factor, "no extension takes it", 'give extension="yarn", say')
    found, kept = [], None
    for one in chosen:
        options = [f"extension={one}"] if one else []
        if factor is not None and (one in extended or (one is None and by_word)):
            options.append(f"extension.factor={factor}")
        own, source = _source(
            model, tokenizer, {"task", "stage", *["extension"][: one is not None]}
        )
        with _evaluating(model), _job([*own, *more, *options, *words], source or kept) as job:
            found.append(_rows(job))
            kept = getattr(job.source, "again", None)
    # the curve of training has the same rows under each extension
    return pd.concat(found).drop_duplicates(ignore_index=True)


@checked
def rows(study: str, results: Path | str = "results") -> pd.DataFrame:
    """Returns the rows of a study on disk. Raises UserError for an unknown study."""
    from extrap.results import rows as results_rows
    from extrap.results.comparison.cells import on_disk

    folder = results_rows.folder(results, study)
    found = results_rows.read_with_sheets(folder)
    scores = on_disk(folder)
    row: Any
    for row in found.drop_duplicates("sheet").itertuples():
        _ITEMS[row.run, row.config] = partial(scores, row.sheet)
    return found.drop(columns=results_rows.SHEET)


@checked
def plot(
    rows: pd.DataFrame, figure: str, width: Positive | None = None, plugins: Sequence[str] = ()
) -> "Figure":
    """Returns a figure of `extrap plot` by name, drawn from rows; width: inches at most; plugins:
    packages with figures of your own. Raises UserError for an unknown figure, and for rows that
    lack the rows of the figure.
    """
    from extrap import figures
    from extrap.results.rows import checked_frame

    rows = checked_frame(rows)
    known = figures.available(check_plugins(plugins))
    if figure not in known:
        own = "" if plugins else '; a figure of your own needs plugins=["my_package"]'
        raise UserError("FIGURE", figure, "no such figure", choose(figure, known) + own)
    with figures.pictured(known[figure]):
        if not figures.served(known[figure], rows):
            problem = f"no rows with {figures.needed(known[figure])}"
            raise UserError(figure, problem=problem, remedy="evaluate that task")
        return figures.shown(partial(figures.drawn, known[figure], rows), width)


@checked
def compare(rows: pd.DataFrame, first: str, *others: str) -> pd.DataFrame:
    """Returns paired differences between series with 95 % intervals, as `extrap compare` prints
    them: a row for each other series and cell. Names: a series (`rope+yarn`), or its scheme or
    extension alone where one series has it. Raises UserError for an unknown name.
    """
    from extrap.results.comparison.pairs import in_memory
    from extrap.results.rows import checked_frame

    return in_memory(checked_frame(rows), [first, *others], _ITEMS)


@_alone
@checked
def judge(
    *words: str, config_dir: Path | str | None = None, paper: str = "single", recipes: int = 0
) -> "Judged":
    """Does what `extrap judge WORDS` does, and returns its board, differences, contracts, text and
    files. config_dir: a folder of your own choices. paper: the page of the figures, by a name of
    `extrap plot --paper`. recipes: how many recipes of the study grid it is trained under as well,
    up to 4. Raises UserError for a mistake.
    """
    from extrap.cli.apart import own_settings
    from extrap.cli.judge import judged
    from extrap.cli.judge_candidate import candidate
    from extrap.runs.texts import reopen

    reopen()
    with own_settings():
        folder = None if config_dir is None else Path(config_dir)
        return judged(candidate(words, folder, paper, recipes))


_ITEMS: "dict[tuple[str, str], pd.DataFrame | Found]" = {}
"""Scores of single documents and trials by run and hash of the evaluation, for `compare`. A study
on disk has a function that reads them.
"""


@contextmanager
def _job(words: Sequence[str], source: Any = None) -> Iterator["Job"]:
    import torch

    from extrap.cli import program
    from extrap.cli.apart import own_settings
    from extrap.cli.app import MOST_THREADS
    from extrap.cli.composed import composed
    from extrap.runs.texts import reopen

    reopen()
    with own_settings():
        this = composed(words)
        if 1 <= this.values["threads"] <= MOST_THREADS:  # the check rejects other numbers
            torch.set_num_threads(this.values["threads"])
        with told(map(str, this.values.get("plugins") or ())):
            yield program.job(this, source)


def _source(model: Any, tokenizer: Any, replaced: set[str]) -> tuple[list[str], Any]:
    """Returns the words of the command line that name a model, without overrides of the groups in
    `replaced`, and a function that makes its Source; None if the model is on disk.
    """
    if not isinstance(model, TrainedRun | str | Path):
        from extrap.runs.given import Given

        return ["model=checkpoint", "model.checkpoint=variable"], partial(Given, model, tokenizer)
    if _is_url(model):
        from extrap.runs.served import Served

        named = ["model=engine", _word("model.url", model)]
        if isinstance(tokenizer, str | Path):
            return [*named, _word("model.tokenizer", tokenizer)], None
        return named, partial(Served, tokenizer=tokenizer)
    if tokenizer is not None:
        problem = "a checkpoint on disk and a run have a tokenizer of their own"
        raise UserError("tokenizer", problem=problem, remedy="leave it out")
    if isinstance(model, TrainedRun):
        if model.folder != Path("runs", model.name).absolute():
            problem = f"its weights lie in {model.folder}"
            raise UserError("model", model.name, problem, "go back to the folder of the training")
        return [word for word in model.words if not _named([word], replaced)], None
    if Path(model, "curve.json").exists():
        problem = "a run of extrap, which needs its options"
        raise UserError("model", model, problem, "give what extrap.train(...) returns for them")
    return ["model=checkpoint", _word("model.checkpoint", model)], None


def _word(option: str, value: object) -> str:
    """Returns the word that gives an option this text, commas and brackets included."""
    from extrap.cli.words import as_text

    return f"{option}={as_text(str(value))}"


def _is_url(model: Any) -> bool:
    return isinstance(model, str) and model.startswith(("http://", "https://"))


def _named(words: Sequence[str], groups: set[str]) -> bool:
    """True if a word sets one of these groups, or an option of it."""
    names = (word.lstrip("+~").partition("=")[0] for word in words)
    return any(name.replace("/", ".").split(".")[0] in groups for name in names)


@contextmanager
def _evaluating(model: Any) -> Iterator[None]:
    """Puts the modules of a model into evaluation mode and their outputs into classes, and back at
    the end.
    """
    from torch.nn import Module

    before = {m: m.training for m in model.modules()} if isinstance(model, Module) else {}
    configs = [vars(m)["config"] for m in before if hasattr(vars(m).get("config"), "return_dict")]
    kept = [(config, config.return_dict) for config in configs]
    try:
        for module in before:
            module.training = False
        for config in configs:
            config.return_dict = True
        yield
    finally:
        for module, training in before.items():
            module.training = training
        for config, classes in reversed(kept):
            config.return_dict = classes


def _rows(job: "Job") -> pd.DataFrame:
    from extrap.runs import validate
    from extrap.runs.evaluate import measured_rows
    from extrap.runs.experiment import warn_of_changes
    from extrap.tasks.base import AtLengths

    validate.check(job)
    if job.run.state.get("state") == "diverged":
        remedy = "train it with other options"
        raise UserError("model", job.run.name, "its training diverged", remedy)
    warn_of_changes(job)
    found, items = measured_rows(job)
    _ITEMS.update({(job.run.name, config): scores for config, scores in items.items()})
    for name, task in job.tasks.items():
        wanted = set(task.lengths(job.source.length)) if isinstance(task, AtLengths) else set()
        read = set(found.loc[found["task"] == name, "length"].dropna())
        if lost := sorted(wanted - read):
            option = f"task.{name}.multiples"
            which = f"{', '.join(map(str, lost))} tokens, which lie past what {job.label} can read"
            if not read:
                raise UserError(option, problem=f"no rows at {which}", remedy="give shorter ones")
            warnings.warn(f"{option}: no rows at {which}", stacklevel=3)
    return found
