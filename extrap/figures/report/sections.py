"""The other parts of the page: what was asked, findings, what did not train, configuration,
frequencies in force.
"""

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd

from extrap.figures.report.text import interval, number, table
from extrap.results.findings.verdict import Finding
from extrap.results.series import status_name

SIGNS = {"holds": "✓", "fails": "✗", "undecided": "?"}
SIGNS |= {"premise not met": "–", "not measured": "–"}


def overview(rows: pd.DataFrame, experiments: Sequence[str] = ()) -> str:
    """Returns schemes, seeds, lengths and tasks in words, and the commands that make them again:
    experiments of the study if it has some, as rows do not hold all options of a run.
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
    if unlike := _unlike(rows):
        words += f" Larger than the others by a tenth and more: {unlike}."
    lines = [f"extrap experiment={name}" for name in experiments] or [command(rows)]
    return f"<p>{escape(words)}</p><pre><code>{escape(chr(10).join(lines))}</code></pre>"


def _unlike(rows: pd.DataFrame) -> str:
    """Schemes whose models have a tenth more parameters than the median scheme, with their number.

    A study over sizes has many numbers for a scheme, and nothing to say here.
    """
    sizes = rows.dropna(subset="params").groupby("scheme")["params"].agg(["min", "max"])
    if (sizes["min"] != sizes["max"]).any():
        return ""
    larger = sizes.loc[sizes["max"] > 1.1 * sizes["max"].median(), "max"]
    return ", ".join(f"{scheme} ({int(size):,} parameters)" for scheme, size in larger.items())


def command(rows: pd.DataFrame) -> str:
    """`extrap -m study=mine scheme=rope,alibi seed=0,1 ...` as far as rows tell; options that
    differ from the defaults stand in the experiment file.
    """
    words = {"study": rows["study"], "scheme": rows["scheme"], "seed": rows["seed"].astype(str)}
    if set(rows["extension"]) != {"direct"}:
        words["extension"] = rows["extension"].str.partition(",")[0]
    if not set(rows["data"]) <= {"mixture", "published"}:
        words["data"] = rows["data"]
    options = [
        f"{name}={','.join(sorted(map(str, set(values))))}" for name, values in words.items()
    ]
    return f"extrap -m {' '.join(options)} task=[{','.join(_tasks(rows))}]"


def findings(found: Sequence[Finding]) -> str:
    """The table of statements with their verdicts."""
    if not found:
        return "<p>This study declares no statements.</p>"
    lines = []
    for one in found:
        reason = "; ".join(filter(None, (one.reason, one.statement.badly_put, one.statement.note)))
        sign = SIGNS[one.verdict]
        cells = (
            escape(one.statement.says),
            escape(one.statement.source),
            f'<b class="v-{one.verdict.split()[0]}">{sign} {one.verdict}</b>'
            + (f"<br><small>{escape(reason)}</small>" if reason else ""),
            interval(one.effect, one.low, one.high),
            escape(one.statement.claim),
            f"{one.seeds} ({one.below} of {one.runs} runs below the gate)" if one.runs else "-",
        )
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    head = ("statement", "source", "verdict", "effect [95 %]", "bound", "seeds")
    titles = "".join(f'<th scope="col">{name}</th>' for name in head)
    count = ", ".join(
        f"{sum(one.verdict == verdict for one in found)} {verdict}"
        for verdict in SIGNS
        if any(one.verdict == verdict for one in found)
    )
    return (
        f"<p>{len(found)} statements, {count}. Each was declared before its rows existed, unless "
        "its note says otherwise.</p>"
        f'<div class="scroll"><table class="findings"><thead><tr>{titles}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def failures(rows: pd.DataFrame) -> str:
    """Runs that miss a gate, with the gate's value, and runs that diverged."""
    lost = rows[(rows["metric"] == "gate") & (rows["status"] == "not trained")]
    lines = [
        (row.scheme, row.extension, row.data, row.seed, f"{row.task} {row.protocol}",
         f"{status_name(row.status)}: {interval(row.value, _bare(row.low), _bare(row.high))}")
        for row in lost.sort_values(["scheme", "extension", "data", "seed", "task"]).itertuples()
    ]  # fmt: skip
    diverged = rows[rows["status"] == "diverged"].drop_duplicates(["run", "task"])
    lines += [
        (row.scheme, row.extension, row.data, row.seed, row.task, "diverged")
        for row in diverged.sort_values(["scheme", "seed"]).itertuples()
    ]
    if not lines:
        return "<p>Every run passes the gates of its tasks.</p>"
    head = ("scheme", "extension", "data", "seed", "task", "what became of it")
    return table(head, lines, "Runs below the gate of a task (.9 within the training length)")


def configuration(rows: pd.DataFrame) -> str:
    """Returns the options in which runs differ, of those that rows hold."""
    lines = []
    for (scheme, data, length), part in rows.groupby(["scheme", "data", "train_length"]):
        known = (
            ", ".join(str(seed) for seed in sorted(part["seed"].unique())),
            " to ".join(dict.fromkeys(f"{n:,}" for n in _ends(part["params"].dropna()))),
            ", ".join(sorted(set(part["corpus"]) - {""})),
            ", ".join(sorted({run.rsplit("-", 2)[-2] for run in part["run"] if "-" in run})),
            ", ".join(sorted(set(part["commit"].str[:10]) - {""})),
        )
        lines.append((scheme, data, length, *known))
    head = ("scheme", "data", "L", "seeds", "parameters", "corpus", "configuration", "commit")
    return table(head, lines)


def frequencies(rows: pd.DataFrame) -> str:
    """Angles by pair, as trained and as an extension put in force, with the turns within L."""
    theta = rows[(rows["metric"] == "theta") & (rows["axis"] == "pair") & rows["value"].notna()]
    if theta.empty:
        return "<p>No rows tell of frequencies: no extension was read with.</p>"
    by = ["scheme", "extension", "factor", "at", "protocol"]
    means = theta.groupby(by, dropna=False)["value"].mean().unstack("protocol")
    lines = [
        (scheme, extension, number(float(factor)), f"{pair:g}",
         number(row.get("trained", np.nan)), number(row.get("used", np.nan)))
        for (scheme, extension, factor, pair), row in means.iterrows()
    ]  # fmt: skip
    head = ("scheme", "extension", "factor", "pair", "trained, rad/token", "in force, rad/token")
    return f"<details><summary>{len(lines)} angles</summary>{table(head, lines)}</details>"


def _tasks(rows: pd.DataFrame) -> list[str]:
    return sorted(set(rows["task"]) - {"train", "used"})


def _ends(values: pd.Series) -> list:
    return [values.min(), values.max()] if len(values) else []


def _bare(value) -> float:
    return float("nan") if pd.isna(value) else float(value)
