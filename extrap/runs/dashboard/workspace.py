"""The W&B workspace of a study: a line is a series, drawn from the table of the study's page.

Built from the rows, without network; `wandb_workspaces` (pip install 'extrap[dashboard]') knows the
form.
"""

from collections.abc import Sequence
from typing import Any

from extrap.runs.dashboard import vega
from extrap.runs.dashboard.lines import BELOW, COLUMNS, PASSED, Lines
from extrap.runs.dashboard.page import BEST, Page
from extrap.runs.dashboard.view import AXES
from extrap.utils.errors import UserError

TITLES = {"length": "By length", "depth": "By depth", "effective": "Effective length"}
"""Sections, in their order, by the kind of lines that they show."""
PINNED = ("run:displayName", "config:size.value", "config:train_length.value")
"""Pinned columns of every study, before the values of its series."""


def modules() -> tuple[Any, Any]:
    """Returns (reports, workspaces) of wandb_workspaces. Raises UserError without the extra."""
    try:
        import wandb_workspaces.reports.v2 as wr
        import wandb_workspaces.workspaces as ws
    except ImportError:
        remedy = "pip install 'extrap[dashboard]'"
        problem = "need wandb_workspaces"
        raise UserError("--workspace, --report", problem=problem, remedy=remedy) from None
    return wr, ws


def build(study: str, project: str, entity: str, lines: Lines, pages: Sequence[Page]) -> Any:
    """Returns the Workspace of the pages of a study and sends nothing. Raises UserError without the
    extra.
    """
    wr, ws = modules()
    sections = panels(lines, entity)
    sections["Training"] = [_training(wr, key, len(pages)) for key in training(lines)]
    best = list(dict.fromkeys(name for values in lines.best.values() for name in values))
    first, *_ = best
    return ws.Workspace(
        entity=entity,
        project=project,
        name=f"extrap {study}",
        sections=[
            ws.Section(name=name, panels=own, is_open=True) for name, own in sections.items() if own
        ],
        settings=ws.WorkspaceSettings(max_runs=len(pages) + 1),
        runset_settings=ws.RunsetSettings(
            filters=ws.And(ws.Config("study") == study),
            groupby=[ws.Config("series")],
            # the page of the study first: its table has to be among the runs that W&B reads
            order=[
                ws.Ordering(ws.Metric("JobType"), ascending=False),
                ws.Ordering(ws.Summary(BEST + first), ascending=False),
            ],
            group_colors=lines.colours,
            pinned_columns=[*PINNED, *(f"summary:{BEST}{name}" for name in best)],
            baseline_run=_baseline(pages),
        ),
    )


def specification(built: Any) -> dict[str, Any]:
    """A workspace or a report as plain values, as it would be sent."""
    return dict(built._to_model().model_dump(mode="json", by_alias=True, exclude_none=True))


def panels(lines: Lines, entity: str) -> dict[str, list[Any]]:
    """Returns sections with their panels: one per task, protocol and metric, for each part of a
    study. Seeds below the gate of a task have sections of their own.
    """
    wr, _ = modules()
    sections: dict[str, list[Any]] = {}
    for words in _chosen(lines):
        apart = [BELOW] * (words["gate"] == BELOW) + [words["part"]] * bool(words["part"])
        panel = wr.CustomChart(
            query={"summaryTable": {"tableKey": vega.TABLE}},
            chart_name=f"{entity}/{vega.registered(words['kind'])}",
            chart_fields={column: column for column in COLUMNS},
            chart_strings={
                "title": " ".join(words[name] for name in ("task", "protocol", "metric")),
                "scale": "log" if words["metric"] == "perplexity" else "linear",
                **words,
            },
        )
        sections.setdefault(", ".join([TITLES[words["kind"]], *apart]), []).append(panel)
    return sections


def _chosen(lines: Lines) -> list[dict[str, str]]:
    """Returns the values of CHOSEN of each panel, in the order of the sections."""
    known = {"gate": (PASSED, BELOW), "part": [*lines.parts.values()], "kind": [*TITLES]}
    places = dict.fromkeys(tuple(line[name] for name in vega.CHOSEN) for line in lines.records())
    chosen = [
        words
        for words in (dict(zip(vega.CHOSEN, place, strict=True)) for place in places)
        if words["kind"] != "effective"
        or (words["task"], words["protocol"]) == (lines.place or ())[:2]
    ]
    return sorted(chosen, key=lambda words: [all_.index(words[by]) for by, all_ in known.items()])


def training(lines: Lines) -> list[str]:
    """Names of the training losses of a study."""
    curves = [
        s.rows[(s.rows["task"] == "train") & (s.rows["axis"] == "step")] for s in lines.series
    ]
    losses = [rows.loc[rows["metric"] == "nll", "protocol"] for rows in curves]
    return [f"train/{protocol}/nll" for protocol in sorted({p for own in losses for p in own})]


def _training(wr: Any, key: str, runs: int) -> Any:
    """Returns a training loss by step, the same steps for all seeds: W&B's mean is theirs."""
    return wr.LinePlot(
        title=key, x=AXES["train/*"], y=[key], max_runs_to_show=max(runs, 1),
        groupby=wr.Config("series"), groupby_aggfunc="mean", groupby_rangefunc="minmax",
    )  # fmt: skip


def _baseline(pages: Sequence[Page]) -> str | None:
    """Returns the page that others are compared with: of NoPE, else of RoPE, else none."""
    plain = [page for page in pages if page.extension == "direct"]
    found = (page.id for scheme in ("nope", "rope") for page in plain if page.scheme == scheme)
    return next(found, None)
