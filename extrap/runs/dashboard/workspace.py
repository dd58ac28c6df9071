"""The W&B workspace of a study: a line is a series, drawn from the table of the study's page.

Built from the rows, without network; `wandb_workspaces` (pip install 'extrap[dashboard]') knows the
form.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from extrap.figures.report.views import SCORES
from extrap.runs.dashboard import vega
from extrap.runs.dashboard.lines import BELOW, PASSED, Lines
from extrap.runs.dashboard.page import BEST, Page
from extrap.runs.dashboard.view import AXES
from extrap.utils.errors import UserError

TITLES = {"length": "By length", "depth": "By depth", "effective": "Effective length"}
"""Sections, in their order, by the kind of lines that they show."""
COLUMNS = ("run:displayName", "config:size.value", "config:train_length.value")
"""Pinned columns of every study, before the values of its series."""


def modules() -> tuple[Any, Any]:
    """(reports, workspaces) of wandb_workspaces. Raises UserError where the extra is missing."""
    try:
        import wandb_workspaces.reports.v2 as wr
        import wandb_workspaces.workspaces as ws
    except ImportError:
        raise UserError(
            "--workspace, --report",
            problem="need wandb_workspaces",
            remedy="pip install 'extrap[dashboard]'",
        ) from None
    return wr, ws


def build(study: str, project: str, entity: str, lines: Lines, pages: Sequence[Page]) -> Any:
    """A wandb_workspaces.workspaces.Workspace of the pages of a study; nothing is sent. Raises
    UserError where the extra is missing.
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
            ws.Section(name=name, panels=some, is_open=True)
            for name, some in sections.items()
            if some
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
            pinned_columns=[*COLUMNS, *(f"summary:{BEST}{name}" for name in best)],
            baseline_run=_baseline(pages),
        ),
    )


def specification(built: Any) -> dict[str, Any]:
    """A workspace or a report as plain values, as it would be sent."""
    return dict(built._to_model().model_dump(mode="json", by_alias=True, exclude_none=True))


def panels(lines: Lines, entity: str) -> dict[str, list[Any]]:
    """Sections with their panels, for each part of a study: at most one panel per task and
    protocol. Seeds below the gate of a task have sections of their own.
    """
    sections: dict[str, list[Any]] = {}
    names = {kind: vega.registered(kind) for kind in TITLES}
    for title, words in _chosen(lines):
        chart = f"{entity}/{names[words['kind']]}"
        sections.setdefault(title, []).append(_panel(chart, words))
    return sections


def _chosen(lines: Lines) -> Iterator[tuple[str, dict[str, str]]]:
    """(title of the section, words) of each panel."""
    places: dict[tuple, set[str]] = {}
    for line in lines.records():
        place = tuple(line[name] for name in ("gate", "part", "kind", "task", "protocol"))
        places.setdefault(place, set()).add(line["metric"])
    order = [(PASSED, BELOW), list(dict.fromkeys(lines.parts.values())), list(TITLES)]
    for place in sorted(
        places, key=lambda p: [known.index(name) for known, name in zip(order, p, strict=False)]
    ):
        gate, part, kind, task, protocol = place
        if kind == "effective" and (task, protocol) != (lines.place or ())[:2]:
            continue
        metrics = places[place]
        metric = next((name for name in SCORES if name in metrics), min(metrics))
        words = {"gate": gate, "part": part, "kind": kind, "task": task, "protocol": protocol}
        words |= {"metric": metric, "title": f"{task} {protocol} {metric}"}
        words["scale"] = "log" if metric == "perplexity" else "linear"
        apart = [BELOW] * (gate == BELOW) + [part] * bool(part)
        yield ", ".join([TITLES[kind], *apart]), vega.strings(**words)


def training(lines: Lines) -> list[str]:
    """Names of the training losses of a study."""
    curves = [
        s.rows[(s.rows["task"] == "train") & (s.rows["axis"] == "step")] for s in lines.series
    ]
    losses = [rows.loc[rows["metric"] == "nll", "protocol"] for rows in curves]
    return [f"train/{protocol}/nll" for protocol in sorted({p for own in losses for p in own})]


def _panel(chart: str, words: Mapping[str, str]) -> Any:
    wr, _ = modules()
    return wr.CustomChart(
        query={"summaryTable": {"tableKey": vega.TABLE}},
        chart_name=chart,
        chart_fields=vega.fields(),
        chart_strings=dict(words),
    )


def _training(wr: Any, key: str, runs: int) -> Any:
    """Training losses by step, which are those of a series in every seed, so that W&B's mean is
    theirs.
    """
    return wr.LinePlot(
        title=key,
        x=AXES["train/*"],
        y=[key],
        max_runs_to_show=max(runs, 1),
        groupby=wr.Config("series"),
        groupby_aggfunc="mean",
        groupby_rangefunc="minmax",
    )


def _baseline(pages: Sequence[Page]) -> str | None:
    """The page that others are compared with: of NoPE, else of RoPE, else none."""
    plain = [page for page in pages if page.extension == "direct"]
    found = [page for scheme in ("nope", "rope") for page in plain if page.scheme == scheme]
    return found[0].kept_id() if found else None
