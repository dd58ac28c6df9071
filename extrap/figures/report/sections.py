"""The other parts of the page: what was asked, findings, what did not train, configuration."""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd

from extrap.figures.drawing.axes import larger, span
from extrap.figures.report.text import Html, interval, table
from extrap.results.findings.markdown_pages import reason, summary
from extrap.results.findings.verdict import Finding
from extrap.results.series import one_factor, settings, status_name, steps

SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?"}
SIGNS |= {"premise not met": "–", "not measured": "–"}


def overview(rows: pd.DataFrame, commands: Sequence[str] = (), notes: Sequence[str] = ()) -> str:
    """Returns schemes, seeds, lengths and tasks in words, and the commands that make them again, as
    rows do not hold all options of a run.
    """
    tasks = _tasks(rows)
    lengths = ", ".join(map(str, sorted(rows["train_length"].unique())))
    counts = [
        (rows["scheme"].nunique(), "scheme"),
        (len({*rows["extension"]} - {"direct"}), "extension"),
        (rows["seed"].nunique(), "seed"),
    ]
    counted = ", ".join(f"{n} {name}{'s' * (n > 1)}" for n, name in counts if n)
    words = f"{counted}, trained at {lengths} tokens; tasks: {', '.join(tasks) or 'none'}."
    if others := larger(rows):
        words += f" {others}."
    if uneven := steps(rows):
        words += f" Runs differ in training: {uneven}."
    lines = [*commands] or [command(rows)]
    said = "".join(f"<p>{escape(line)}</p>" for line in [words, *notes])
    return f"{said}<pre><code>{escape(chr(10).join(lines))}</code></pre>"


def command(rows: pd.DataFrame) -> str:
    """Returns `extrap -m study=mine scheme=rope,alibi seed=0,1 ...`, a line for extensions with the
    same options and factors, as far as rows tell, and a comment: rows hold no other options of runs
    and tasks.
    """
    rows = rows.assign(factor=one_factor(rows))
    alike: dict[str, list[str]] = {}
    for name, part in rows.groupby("extension"):
        if _tasks(part) or not _tasks(rows):
            alike.setdefault(_options(str(name), part["factor"]), []).append(str(name))
    lines = [_line(rows[rows["extension"].isin(names)], more) for more, names in alike.items()]
    return "\n".join(lines) + "  # and the options of its runs, which rows lack"


def _options(extension: str, factors: pd.Series) -> str:
    """Returns the changed options in the name of an extension, `rerope,width=16`, and its factors,
    as words of a command.
    """
    options = [f" extension.{option}" for option in extension.split(",")[1:]]
    given = sorted(set(factors) - {1.0})
    if given:
        options.append(f" extension.factor={','.join(f'{factor:g}' for factor in given)}")
    return "".join(options)


def _line(rows: pd.DataFrame, more: str) -> str:
    """Returns the command that makes rows of extensions with the same options, `more`."""
    extensions = {name.partition(",")[0] for name in rows["extension"]}
    words = {"study": rows["study"], "scheme": rows["scheme"], "seed": rows["seed"].astype(str)}
    if extensions != {"direct"}:
        words["extension"] = pd.Series(sorted(extensions))
    if not set(rows["data"]) <= {"mixture", "published"}:
        words["data"] = rows["data"]
    options = [
        f"{name}={','.join(sorted(map(str, set(values))))}" for name, values in words.items()
    ]
    return f"extrap -m {' '.join(options)}{more} 'task=[{','.join(_tasks(rows))}]'"


def findings(found: Sequence[Finding]) -> str:
    """Returns the table of statements with their verdicts."""
    if not found:
        return "<p>This study declares no statements.</p>"
    lines = []
    for one in found:
        told = one.statement
        sign = SIGNS[one.verdict]
        why = "; ".join(filter(None, (reason(one), told.note)))
        verdict = f'<b class="v-{one.verdict.split()[0]}">{sign} {one.verdict}</b>'
        verdict += f"<br><small>{escape(why)}</small>" if why else ""
        seeds = f"{one.seeds} ({one.below} of {one.runs} runs below the gate)" if one.runs else "-"
        effect = interval(one.effect, one.low, one.high)
        lines.append((told.says, told.source, Html(verdict), effect, told.claim, seeds))
    head = ("statement", "source", "verdict", "effect [95 %]", "bound", "seeds")
    return (
        f"<p>{summary([*found])} Each was declared before its rows existed, unless "
        f"its note says otherwise.</p>{table(head, lines, kind='findings')}"
    )


def failures(rows: pd.DataFrame) -> str:
    """Returns runs that miss a gate, with the gate's value, and runs that diverged."""
    who = ["scheme", "extension", "data", "seed", "task"]
    lost = rows[(rows["metric"] == "gate") & (rows["status"] == "not trained")].sort_values(who)
    lines = []
    row: Any
    for row in lost.itertuples():
        run = (row.scheme, row.extension, row.data, row.seed)
        gate = f"{status_name(row.status)}: {interval(row.value, row.low, row.high)}"
        lines.append((*run, f"{row.task} {row.protocol}", gate))
    diverged = rows[rows["status"] == "diverged"].drop_duplicates(["run", "task"])
    for run_and_task in diverged.sort_values(["scheme", "seed"])[who].to_numpy():
        lines.append((*run_and_task, "diverged"))
    if not lines:
        return "<p>Every run passes the gates of its tasks.</p>"
    head = ("scheme", "extension", "data", "seed", "task", "what became of it")
    return table(head, lines, "Runs below the gate of a task (.9 within the training length)")


def configuration(rows: pd.DataFrame) -> str:
    """Returns the options that rows hold and in which runs differ."""
    lines = []
    for key, part in rows.groupby(["scheme", "data", "train_length"]):
        known = part["params"].fillna(0) > 0
        sizes = span(part.loc[known, "params"], ",")
        several = (settings(part), part["corpus"], part["commit"].str[:10])
        hashes, corpora, commits = (", ".join(sorted({*one} - {""})) for one in several)
        seeds = ", ".join(map(str, sorted(part["seed"].unique())))
        lines.append((*key, seeds, sizes, corpora, hashes, commits))
    head = ("scheme", "data", "L", "seeds", "parameters", "corpus", "configuration", "commit")
    return table(head, lines)


def costs(lines: Sequence[Sequence[str]]) -> str:
    """Returns the table of costs, "" without a line below the titles."""
    head, *below = lines or [()]
    said = "Cost of each training, and of the evaluations under each extension (run + extension); "
    said += "the day on which it ended is in UTC"
    return table(head, below, said) if below else ""


def _tasks(rows: pd.DataFrame) -> list[str]:
    return sorted(set(rows["task"]) - {"train", "used"})
