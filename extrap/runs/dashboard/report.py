"""The W&B Report of a study: its question, its findings, its series and its charts."""

from typing import Any

from extrap.figures.report.text import number
from extrap.runs.dashboard.lines import DRAWN, Lines
from extrap.runs.dashboard.workspace import modules, panels
from extrap.utils import markdown


def build(study: str, project: str, entity: str, lines: Lines, question: str, findings: str) -> Any:
    """Returns the Report and sends nothing; with an entity it asks the server for the project.
    question, findings: Markdown, which may be empty. Raises UserError without the extra.
    """
    wr, ws = modules()
    blocks = [wr.H1("Question"), wr.MarkdownBlock(question)]
    if findings:
        blocks += [wr.H1("Findings"), wr.MarkdownBlock(findings)]
    blocks += [wr.H1("Series"), wr.MarkdownBlock(table(lines))]
    if len(lines.series) > DRAWN:
        left = f"The page of the study has no figures, as it has more than {DRAWN} series"
        blocks.append(wr.MarkdownBlock(f"{left}; `extrap plot {study}` draws them."))
    where = {"entity": entity, "project": project} if entity else {}
    for title, some in panels(lines, entity).items():
        # the charts draw the table of one page alone
        only = ws.And(ws.Config("study") == study, ws.Metric("JobType") == "study")
        runs = wr.Runset(name=study, filters=only, **where)
        blocks += [wr.H1(title), wr.PanelGrid(runsets=[runs], panels=some)]
    title = f"extrap {study}"
    return wr.Report(project=project, entity=entity, title=title, blocks=blocks, width="fluid")


def table(lines: Lines) -> str:
    """Returns the values of each series in Markdown, the greatest first."""
    names = list(dict.fromkeys(name for values in lines.best.values() for name in values))
    first = names[0]
    order = sorted(lines.best, key=lambda label: -lines.best[label].get(first, 0.0))
    rows = [[label, *(_cell(lines.best[label].get(name)) for name in names)] for label in order]
    return markdown.table([["series", *names], *rows])


def _cell(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else number(value)
