"""The W&B workspace and the W&B Report of a study: a line is a series, drawn from the table of the
study's page by the charts in charts.yaml.
"""

import math
from operator import itemgetter
from pathlib import Path
from typing import Any

from extrap.figures.report.text import number
from extrap.runs.dashboard.page import BEST
from extrap.runs.dashboard.series_table import BELOW, COLUMNS, PASSED
from extrap.runs.dashboard.study import DRAWN, Study
from extrap.runs.dashboard.view import AXES
from extrap.runs.identity import fingerprint
from extrap.utils import markdown
from extrap.utils.errors import UserError
from extrap.utils.pip import install_extra
from extrap.utils.untrusted import read_yaml

TABLE = "curves"
"""Key of the table on the page of a study."""
CHOSEN = ("part", "gate", "kind", "task", "protocol", "metric")
"""Columns that a panel chooses one value of, by strings of these names (charts.yaml)."""
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
        remedy = install_extra("dashboard")
        problem = "need wandb_workspaces"
        raise UserError("--workspace, --report", problem=problem, remedy=remedy) from None
    return wr, ws


def charts() -> dict[str, dict[str, Any]]:
    """Returns Vega-Lite specifications by their names at W&B, which change with them."""
    known = read_yaml(Path(__file__).with_name("charts.yaml"))["charts"]
    return {f"extrap-{kind}-{fingerprint(chart)}": chart for kind, chart in known.items()}


def workspace(study: Study, project: str, entity: str) -> Any:
    """Returns the Workspace of a study and sends nothing. Raises UserError without the extra."""
    wr, ws = modules()
    sections = panels(study, entity)
    sections["Training"] = _training(wr, study)
    shown = {name: own for name, own in sections.items() if own}
    best = [BEST + name for name in study.ranked]
    studies = [*dict.fromkeys([study.name, *study.names])]  # one page is that of all together
    return ws.Workspace(
        entity=entity,
        project=project,
        name=f"extrap {study.name}",
        sections=[ws.Section(name=name, panels=own, is_open=True) for name, own in shown.items()],
        settings=ws.WorkspaceSettings(max_runs=len(study.pages) + 1),
        runset_settings=ws.RunsetSettings(
            filters=ws.And(ws.Config("study").isin(studies)),
            groupby=[ws.Config("series")],
            # the page of the study first: its table has to be among the runs that W&B reads
            order=[
                ws.Ordering(ws.Metric("JobType"), ascending=False),
                ws.Ordering(ws.Summary(best[0]), ascending=_of_losses(study)),
            ],
            group_colors=study.colours,
            pinned_columns=[*PINNED, *(f"summary:{name}" for name in best)],
            baseline_run=_baseline(study),
        ),
    )


def _baseline(study: Study) -> str | None:
    """Returns the id of a page without an extension, of nope or else of rope; None without one."""
    for scheme in ("nope", "rope"):
        for page in study.jobs:
            if page.extension == "direct" and page.scheme == scheme:
                return page.id
    return None


def report(study: Study, project: str, entity: str, question: str, findings: str) -> Any:
    """Returns the Report and sends nothing; with an entity it asks the server for the project.
    question, findings: Markdown, which may be empty. Raises UserError without the extra.
    """
    wr, ws = modules()
    blocks = [wr.H1("Question"), wr.MarkdownBlock(question)]
    if findings:
        blocks += [wr.H1("Findings"), wr.MarkdownBlock(findings)]
    blocks += [wr.H1("Series"), wr.MarkdownBlock(markdown.table(_leaderboard(study)))]
    if len(study.series) > DRAWN:
        left = f"The page of the study has no figures, as it has more than {DRAWN} series"
        blocks.append(wr.MarkdownBlock(f"{left}; `extrap plot {study.name}` draws them."))
    where = {"entity": entity, "project": project} if entity else {}
    for title, some in panels(study, entity).items():
        # the charts draw the table of one page alone
        only = ws.And(ws.Config("study") == study.name, ws.Metric("JobType") == "study")
        runs = wr.Runset(name=study.name, filters=only, **where)
        blocks += [wr.H1(title), wr.PanelGrid(runsets=[runs], panels=some)]
    title = f"extrap {study.name}"
    return wr.Report(project=project, entity=entity, title=title, blocks=blocks, width="fluid")


def _of_losses(study: Study) -> bool:
    """True if series are ranked by a perplexity, of which less is better."""
    return study.ranked[0].startswith("perplexity")


def _leaderboard(study: Study) -> list[list[str]]:
    """Returns the series in order as cells, the header first."""
    names = study.ranked
    lines = [["series", *names]]
    sign = 1 if _of_losses(study) else -1

    def from_best(label: str) -> float:
        value = study.best[label].get(names[0])
        return math.inf if value is None else sign * value

    for label in sorted(study.best, key=from_best):
        cells = [_cell(study.best[label].get(name)) for name in names]
        lines.append([label, *cells])
    return lines


def specification(built: Any) -> dict[str, Any]:
    """Returns a workspace or a report as plain values, as it would be sent."""
    return dict(built._to_model().model_dump(mode="json", by_alias=True, exclude_none=True))


def panels(study: Study, entity: str) -> dict[str, list[Any]]:
    """Returns sections with their panels: one per task, protocol and metric, for each part of a
    study. Seeds below the gate of a task have sections of their own.
    """
    wr, _ = modules()
    names = dict(zip(TITLES, charts(), strict=True))
    sections: dict[str, list[Any]] = {}
    for words in _chosen(study):
        title = [TITLES[words["kind"]]]
        if words["gate"] == BELOW:
            title.append(BELOW)
        if words["part"]:
            title.append(words["part"])
        panel = wr.CustomChart(
            query={"summaryTable": {"tableKey": TABLE}},
            chart_name=f"{entity}/{names[words['kind']]}",
            chart_fields={column: column for column in COLUMNS},
            chart_strings={
                "title": f"{words['task']} {words['protocol']} {words['metric']}",
                "scale": "log" if words["metric"] == "perplexity" else "linear",
                **words,
            },
        )
        sections.setdefault(", ".join(title), []).append(panel)
    return sections


def _chosen(study: Study) -> list[dict[str, str]]:
    """Returns the values of CHOSEN of each panel, in the order of the sections."""
    order = {"gate": [PASSED, BELOW], "part": [*study.parts.values()], "kind": [*TITLES]}
    places = dict.fromkeys(map(itemgetter(*CHOSEN), study.lines))
    chosen = []
    for place in places:
        words = dict(zip(CHOSEN, place, strict=True))
        if words["kind"] != "effective" or (words["task"], words["protocol"]) == study.place:
            chosen.append(words)
    return sorted(chosen, key=lambda words: [known.index(words[by]) for by, known in order.items()])


def _training(wr: Any, study: Study) -> list[Any]:
    """Returns training losses by step, the same steps for all seeds: W&B's mean is theirs."""
    of_row = itemgetter("task", "axis", "metric")
    steps = [row for row in study.records if of_row(row) == ("train", "step", "nll")]
    return [
        wr.LinePlot(
            title=key, x=AXES["train/*"], y=[key], max_runs_to_show=len(study.pages),
            groupby=wr.Config("series"), groupby_aggfunc="mean", groupby_rangefunc="minmax",
        )
        for key in sorted({*map(_loss, steps)})
    ]  # fmt: skip


def _loss(row: dict) -> str:
    return f"train/{row['protocol']}/nll"


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else number(value)
