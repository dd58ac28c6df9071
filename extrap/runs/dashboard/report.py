"""The W&B Report of a study: its question, what was declared and what came of it, the series in the
order of their values, and the charts of the workspace.
"""

from typing import Any

from extrap.figures.report.text import number
from extrap.runs.dashboard.lines import Lines
from extrap.runs.dashboard.workspace import modules, panels


def build(study: str, project: str, entity: str, lines: Lines, question: str, findings: str) -> Any:
    """A wandb_workspaces.reports.v2.Report; nothing is sent. With an entity it asks the server for
    the project. Raises UserError where the extra is missing.

    question, findings: Markdown; findings may be empty.
    """
    wr, ws = modules()
    blocks = [wr.H1("Question"), wr.MarkdownBlock(question)]
    if findings:
        blocks += [wr.H1("Findings"), wr.MarkdownBlock(findings)]
    blocks += [wr.H1("Series"), wr.MarkdownBlock(table(lines))]
    where = {"entity": entity, "project": project} if entity else {}
    for title, some in panels(lines, entity).items():
        # the charts draw the table of one page alone
        only = [ws.Config("study") == study, ws.Metric("JobType") == "study"]
        grid = wr.PanelGrid(
            runsets=[wr.Runset(name=study, filters=ws.And(*only), **where)], panels=some
        )
        blocks += [wr.H1(title), grid]
    title = f"extrap {study}"
    return wr.Report(project=project, entity=entity, title=title, blocks=blocks, width="fluid")


def table(lines: Lines) -> str:
    """The values of each series in Markdown, the furthest reader first."""
    names = list(dict.fromkeys(name for values in lines.best.values() for name in values))
    first = names[0]
    order = sorted(lines.best, key=lambda label: -lines.best[label].get(first, 0.0))
    rows = [[label, *(_cell(lines.best[label].get(name)) for name in names)] for label in order]
    cells = [["series", *names], ["---"] * (len(names) + 1), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in cells)


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else number(value)
