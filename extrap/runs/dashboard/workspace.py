"""The W&B workspace of a study: perplexity against length by scheme, U-curves, heat-maps, training
curves, seeds as bands.

Built from what the rows hold, without network; `wandb_workspaces` (pip install 'extrap[dashboard]')
knows the form.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from extrap.runs.dashboard.view import AXES
from extrap.utils.errors import UserError

LENGTHS = 4
"""U-curves are drawn for so many lengths, the shortest first."""


def build(study: str, project: str, entity: str, rows: Sequence[dict]) -> Any:
    """A wandb_workspaces.workspaces.Workspace; nothing is sent. Raises UserError where the extra is
    missing.
    """
    try:
        import wandb_workspaces.reports.v2 as wr
        import wandb_workspaces.workspaces as ws
    except ImportError:
        raise UserError(
            "--workspace: needs wandb_workspaces; pip install 'extrap[dashboard]'"
        ) from None

    def lines(axis: str, keys: Iterable[str], log: bool = False) -> list[Any]:
        """A panel for each key; runs of a scheme are one line, its seeds a band."""
        seeds = {
            "groupby": wr.Config("scheme"),
            "groupby_aggfunc": "mean",
            "groupby_rangefunc": "minmax",
        }
        scale = {"log_x": axis == AXES["eval/*"], "log_y": log}
        return [
            wr.LinePlot(title=_title(key), x=axis, y=[key], max_runs_to_show=100, **scale, **seeds)
            for key in keys
        ]

    maps = [wr.WeavePanelSummaryTable(table_name=name) for name in _heatmaps(rows)]
    sections = {
        "Perplexity against length": lines(AXES["eval/*"], _perplexities(rows), log=True),
        "Retrieval by depth": lines(AXES["depth/*"], _by_depth(rows)),
        "Retrieval over depth and length": [
            wr.MediaBrowser(title="heat-map", media_keys=["figure/kv_heatmap"]),
            *maps,
        ]
        if maps
        else [],
        "Training": lines(AXES["train/*"], _training(rows)),
    }
    return ws.Workspace(
        entity=entity,
        project=project,
        name=f"extrap {study}",
        sections=[
            ws.Section(name=name, panels=panels, is_open=True)
            for name, panels in sections.items()
            if panels
        ],
        runset_settings=ws.RunsetSettings(
            filters=ws.And(ws.Config("study") == study), groupby=[ws.Config("scheme")]
        ),
    )


def specification(workspace: Any) -> dict[str, Any]:
    """The workspace as plain values, as it would be sent."""
    return dict(workspace._to_model().model_dump(mode="json", by_alias=True, exclude_none=True))


def _title(key: str) -> str:
    return key.partition("/")[2].replace("/", " ")


def _protocols(rows: Sequence[dict], metric: str) -> list[tuple[str, str]]:
    return sorted(
        {
            (row["task"], row["protocol"] or "")
            for row in rows
            if row["metric"] == metric and row["length"] is not None
        }
    )


def _perplexities(rows: Sequence[dict]) -> list[str]:
    return [f"eval/{task}/{protocol}/perplexity" for task, protocol in _protocols(rows, "nll")]


def _deep(rows: Sequence[dict]) -> list[dict]:
    return [
        row
        for row in rows
        if row["metric"] == "accuracy" and row["depth"] is not None and row["length"] is not None
    ]


def _by_depth(rows: Sequence[dict]) -> list[str]:
    lengths = sorted({row["length"] for row in _deep(rows)})[:LENGTHS]
    kinds = _protocols(_deep(rows), "accuracy")
    return [
        f"depth/{task}/{protocol}/accuracy at {length}"
        for task, protocol in kinds
        for length in lengths
    ]


def _heatmaps(rows: Sequence[dict]) -> list[str]:
    return [f"heatmap/{task}/{protocol}" for task, protocol in _protocols(_deep(rows), "accuracy")]


def _training(rows: Sequence[dict]) -> list[str]:
    return sorted(
        {
            f"train/{row['protocol']}/{row['metric']}"
            for row in rows
            if row["task"] == "train" and row["axis"] == "step"
        }
    )
