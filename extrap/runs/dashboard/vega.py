"""The charts that draw the table of extrap/runs/dashboard/lines.py in W&B: Vega-Lite, with means
and intervals as they stand in the table.

W&B puts names of columns for `${field:...}` and words of a panel for `${string:...}`, also inside
expressions (https://docs.wandb.ai/guides/app/features/custom-charts).
"""

from typing import Any

from extrap.runs.dashboard.lines import COLUMNS
from extrap.runs.folder import fingerprint

TABLE = "curves"
"""Key of the table on the page of a study."""
CHOSEN = ("part", "gate", "kind", "task", "protocol", "metric")
"""Columns that a panel chooses one value of, by strings of these names."""
LOG = {"type": "log", "base": 2}


def charts() -> dict[str, dict[str, Any]]:
    """Specifications by kind: length, depth (a facet for each length read) and effective (a line
    for each series).
    """
    length = _curves(_of("x", scale=LOG, title="tokens read")) | {"width": 420}
    depth = {
        "facet": {"column": _of("at", "ordinal", title="tokens read")},
        "spec": _curves(_of("x", title="depth (0 start, 1 end)")) | {"width": 200},
    }
    return {
        "length": _chart({"hconcat": [length, _legend()]}),
        "depth": _chart({"hconcat": [depth, _legend()]}),
        "effective": _chart(_effective()),
    }


def registered(kind: str) -> str:
    """The name that a chart has with a user or team; another as soon as its specification is."""
    return f"extrap-{kind}-{fingerprint(charts()[kind])}"


def strings(**chosen: str) -> dict[str, str]:
    """Returns the words of a panel: a value for each column of CHOSEN, a title, the scale of y."""
    title = " ".join(chosen[name] for name in ("task", "protocol", "metric"))
    scale = "log" if chosen["metric"] == "perplexity" else "linear"
    return {"title": title, "scale": scale, **chosen}


def fields() -> dict[str, str]:
    """Returns the columns of a panel, each under its own name."""
    return {column: column for column in COLUMNS}


def _chart(body: dict[str, Any]) -> dict[str, Any]:
    chosen = " && ".join(f"datum['{_name(c)}'] === '{_word(c)}'" for c in CHOSEN)
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"name": "wandb"},
        "title": _word("title"),
        "transform": [{"filter": chosen}],
        **body,
    }


def _curves(x: dict[str, Any]) -> dict[str, Any]:
    """Lines with bands; a mean without an interval has none."""
    y = _of("mean", scale={"type": _word("scale"), "zero": False}, title=_word("metric"))
    return {
        "encoding": {"x": x, "color": _colour(), "detail": {"field": _name("series")}},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.15},
                "encoding": {"y": _of("low"), "y2": {"field": _name("high")}},
            },
            {"mark": "line", "encoding": {"y": y}},
            {"mark": _point(), "encoding": {"y": y, "shape": _shape(), "tooltip": _tooltip()}},
        ],
    }


def _legend() -> dict[str, Any]:
    """Colour and mark of each series. Vega-Lite's own legend takes no colours from a column, where
    relatives share one.
    """
    axis = {"orient": "right", "domain": False, "ticks": False}
    y = _of("series", "nominal", axis=axis, title=None)
    return {
        "transform": [{"aggregate": [], "groupby": [_name("series"), _name("colour")]}],
        "mark": _point(),
        "encoding": {"y": y, "color": _colour(), "shape": _shape()},
        "view": {"stroke": None},
    }


def _effective() -> dict[str, Any]:
    """A point with its interval for each series, the furthest first."""
    up = _of("series", "nominal", title=None, sort={"field": _name("mean"), "order": "descending"})
    x = _of("mean", scale=LOG, title="effective length, tokens")
    return {
        "encoding": {"y": up, "color": _colour()},
        "layer": [
            {"mark": "rule", "encoding": {"x": _of("low"), "x2": {"field": _name("high")}}},
            {"mark": _point(), "encoding": {"x": x, "tooltip": _tooltip()}},
        ],
    }


def _point() -> dict[str, Any]:
    return {"type": "point", "filled": True, "size": 50}


def _colour() -> dict[str, Any]:
    """The colours of the figures, which a column holds."""
    return _of("colour", "nominal", scale=None)


def _shape() -> dict[str, Any]:
    return _of("series", "nominal", legend=None)


def _tooltip() -> list[dict[str, Any]]:
    kinds = {"series": "nominal"}
    shown = ("series", "x", "mean", "low", "high", "seeds")
    return [_of(column, kinds.get(column, "quantitative"), title=column) for column in shown]


def _of(column: str, kind: str = "quantitative", **more: Any) -> dict[str, Any]:
    return {"field": _name(column), "type": kind, **more}


def _name(column: str) -> str:
    return f"${{field:{column}}}"


def _word(name: str) -> str:
    return f"${{string:{name}}}"
