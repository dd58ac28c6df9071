"""The same last tokens with more and more context: what is it worth, and what of it past L?

Left: loss less that with L/2 tokens of context; right: loss less that with the last L tokens alone
(crop), which any model has that throws the rest away: below 0 text from further back than L helps.
Both frames end at .3 nats, where lines leave them. A series whose gain at L does not lie below 0
ignores its context and is marked "below the gate". Conventions of arXiv 2305.19466 (appendix F).
"""

from typing import Any

import numpy as np
import pandas as pd

from extrap.figures.drawing import QUIET, spread_note
from extrap.figures.drawing.length_panels import length_figure
from extrap.results.series import one_factor, select

NEEDS = {"task": "context-gain", "metric": "gain", "seen": "text"}
PANELS = {"full": "against L/2 tokens of context", "over crop": "against the last L tokens alone"}
CUT = 0.3


def draw(rows):
    rows = select(rows, **NEEDS)
    drawn = pd.concat([rows[rows["protocol"] == "full"], over_crop(rows)])
    note = f"{spread_note(rows, 'bands: 95 % bootstrap over documents')} · above {CUT:g} is cut off"
    low = 1.25 * float(drawn["value"].min())
    form: dict[str, Any] = {"size": (2.5, 2.5), "gap": 0.3, "limits": (low, CUT)}
    form |= {"across": "visible context (tokens)", "also": zero}
    what, title = "change of loss (nats per token)", "What more context is worth"
    return length_figure(drawn, PANELS, what, title, note, **form)


def zero(panel, protocol: str) -> None:
    panel.axhline(0, color=QUIET, linewidth=0.8, label="zero", zorder=1.5)


def over_crop(rows):
    """Returns the gain of the whole context less the gain of its last L tokens, 0 at L, paired by
    study, run and reader. It has no interval, because rows hold none for it.
    """
    if not (rows["protocol"] == "crop").any():
        return rows.iloc[:0]
    rows = rows.assign(factor=one_factor(rows))
    place = ["study", "run", "extension", "factor", "length"]
    crop = rows[rows["protocol"] == "crop"].set_index(place)["value"]
    full = rows[(rows["protocol"] == "full") & (rows["length"] >= rows["train_length"])]
    of_crop = crop.reindex(pd.MultiIndex.from_frame(full[place])).to_numpy(float)
    at_length = full["length"] == full["train_length"]
    gain = full["value"] - np.where(at_length, full["value"], of_crop)
    out = full.assign(value=gain, low=np.nan, high=np.nan, protocol="over crop")
    return out[out["value"].notna()]
