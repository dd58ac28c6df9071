"""The charts that draw the table of extrap/runs/dashboard/lines.py in W&B: charts.yaml, each with
the lines that the words of a panel choose.
"""

from pathlib import Path
from typing import Any

from extrap.runs.folder import fingerprint
from extrap.utils.untrusted import read_yaml

TABLE = "curves"
"""Key of the table on the page of a study."""
CHOSEN = ("part", "gate", "kind", "task", "protocol", "metric")
"""Columns that a panel chooses one value of, by strings of these names."""


def charts() -> dict[str, dict[str, Any]]:
    """Returns Vega-Lite specifications by kind: length, depth and effective."""
    known = read_yaml(Path(__file__).with_name("charts.yaml"))["charts"]
    chosen = " && ".join(f"datum['${{field:{c}}}'] === '${{string:{c}}}'" for c in CHOSEN)
    frame = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"name": "wandb"},
        "title": "${string:title}",
        "transform": [{"filter": chosen}],
    }
    return {kind: frame | chart for kind, chart in known.items()}


def registered(kind: str) -> str:
    """Returns the name of a chart at W&B, which changes with its specification."""
    return f"extrap-{kind}-{fingerprint(charts()[kind])}"
