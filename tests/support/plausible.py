"""Plausible rows made in memory: perplexities and U curves of the shapes that schemes show, for
tests of figures and tables.
"""

import math
from pathlib import Path

from extrap.results import rows as files
from extrap.results.schema import COLUMNS, MEASURED
from extrap.results.stats.intervals import depth_contrasts, wilson

L = 64
LENGTHS = (64, 80, 96, 128, 256, 512, 1024)
DEPTHS = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
TRIALS = 200
IDENTITY = tuple(name for name in COLUMNS if name not in MEASURED and name != "task")
"""The columns that say which run a row belongs to."""
# scheme: perplexity at L, growth per doubling of length, accuracy at L, accuracy lost per doubling,
# how deep its U is
SHAPES = {
    "rope": (7.3, 1.7, 0.99, 0.33, 0.1),
    "alibi": (9.2, 1.01, 0.95, 0.1, 0.3),
    "t5": (8.9, 1.26, 0.98, 0.15, 0.4),
    "kerple-log": (7.5, 1.03, 1.0, 0.005, 0.01),
    "sinusoidal": (10.0, 2.2, 0.19, 0.06, 0.0),
    "learned": (11.0, 1.0, 0.25, 0.0, 0.0),
    "nope": (12.0, 1.5, 0.4, 0.15, 0.05),
}


def row(task, protocol, length, metric, value=None, status="ok", **more):
    """Returns a row of one number; empty columns are left out."""
    found = {"task": task, "protocol": protocol, "length": length, "metric": metric}
    found |= {"value": value, "status": status} | more
    return {name: cell for name, cell in found.items() if cell not in (None, "")}


def around(value, below, above=None):
    """Returns a value with an interval that reaches this far below and above it."""
    return {"value": value, "low": value - below, "high": value + (above or below)}


def hits(right, n=TRIALS):
    """Returns the columns of an accuracy: its value, interval and number of trials."""
    low, high = wilson(right, n)
    return {"value": right / n, "low": low, "high": high, "n": n, "tokens": n}


def rate(p, n=TRIALS, least=1 / 64):
    """Returns the columns of an accuracy near p."""
    return hits(round(n * min(max(p, least), 1)), n)


def nll_rows(scheme, seed=0):
    start, growth, *_ = SHAPES[scheme]
    for protocol, easier in (("nonoverlap", 0.97), ("sliding", 0.93), ("last_segment", 0.9)):
        for length in LENGTHS if scheme != "learned" else (L,):
            doublings = math.log2(length / L)
            slope = doublings * math.log(growth) / (1 + 0.15 * doublings)
            nll = around(math.log(start * easier) + slope + 0.02 * seed, 0.05, 0.06)
            yield row("nll", protocol, length, "nll", **nll, n=64, tokens=64 * 512)


def kv_rows(scheme, seed=0, status=None):
    _, _, start, loss, bend = SHAPES[scheme]
    status = status or ("ok" if start >= 0.9 else "not trained")
    yield row("kv", "", None, "chance", 1 / 64, status)
    for protocol, ease in (("records", 1.0), ("padded", 0.6)):
        for length in LENGTHS[:-1] if scheme != "learned" else (L,):
            where = {"task": "kv", "protocol": protocol, "length": length, "status": status}
            doublings = math.log2(length / L)
            k = length // 2 - 1 if protocol == "records" else 8
            yield row(**where, metric="guess", value=1 / k)
            right = []
            for depth in DEPTHS:
                u = bend * doublings * 2 * min(depth, 1 - depth)
                found = rate(start - ease * loss * doublings - u + 0.005 * seed)
                right.append(round(found["value"] * TRIALS))
                yield row(**where, metric="accuracy", depth=depth, **found)
            if protocol == "records" and length == L:
                gate = hits(sum(right), TRIALS * len(DEPTHS)) | {"n": TRIALS}
                yield row(**where, metric="gate", **gate)
            for name, contrast in depth_contrasts(DEPTHS).items():
                if name != "mid":
                    value = around(float(contrast @ right) / TRIALS, 0.07)
                    yield row(**where, metric=name, **value, n=TRIALS)


def train_rows(scheme, seed=0):
    start, _, accuracy, *_ = SHAPES[scheme]
    for step in range(0, 1501, 50):
        at = {"axis": "step", "at": step}
        loss = math.log(start) + 3.5 * math.exp(-step / 200)
        learned = accuracy / (1 + math.exp(-(step - 600 - 40 * seed - 200 * (1 - accuracy)) / 60))
        yield row("train", "text", None, "nll", loss, **at)
        yield row("train", "retrieval", None, "accuracy", learned, **at)
    if accuracy >= 0.9:
        yield row("train", "retrieval", None, "steps_to_90", 750 + 40 * seed)


def identity(scheme, seed=0, data="mixture", corpus="0123456789ab", settings="cafe0123", **more):
    """Returns the columns that say which run a row belongs to."""
    kind = settings if data == "mixture" else f"{data[:4]}0123"
    return {
        **{"run": f"{scheme}-{kind}-s{seed}", "study": "demo", "scheme": scheme, "data": data},
        **{"extension": "direct", "factor": 1, "seed": seed, "train_length": L},
        **{"params": 173000, "corpus": corpus, "config": settings, "commit": "0" * 40},
        **more,
    }


def run_rows(
    scheme, seed=0, data="mixture", corpus="0123456789ab", settings="cafe0123", status=None, **more
):
    """All rows of one run."""
    rows = [*train_rows(scheme, seed)]
    rows += [*nll_rows(scheme, seed)] if data != "retrieval" else []
    rows += [*kv_rows(scheme, seed, status)] if data != "text" else []
    return [identity(scheme, seed, data, corpus, settings) | found | more for found in rows]


def written(*schemes, tasks=("train", "nll", "kv")):
    """Writes the study demo, a run per scheme, into the working folder; returns its rows."""
    found = []
    for scheme in schemes:
        own = run_rows(scheme)
        for task in tasks:
            file = Path("results/demo/rows") / f"{own[0]['run']}__direct__{task}.csv"
            files.write(file, [row for row in own if row["task"] == task])
        found += own
    return found


def study_rows(schemes=tuple(SHAPES), seeds=(0,)):
    return [row for scheme in schemes for seed in seeds for row in run_rows(scheme, seed)]


def control_rows():
    return [
        row
        for scheme in ("rope", "alibi")
        for data in ("text", "retrieval")
        for row in run_rows(scheme, data=data)
    ]


def sized_rows(schemes=("rope", "alibi", "kerple-log"), seeds=(0, 1, 2)):
    """Schemes at two sizes, which change nothing but the order of two of them."""
    swapped = {"rope": "alibi", "alibi": "rope"}
    return [
        row | {"scheme": scheme, "params": params, "run": f"{scheme}-{settings}-s{seed}"}
        for scheme in schemes
        for seed in seeds
        for params, settings in ((172_864, "cafe0123"), (936_832, "cafe4567"))
        for row in run_rows(
            scheme if params < 200_000 else swapped.get(scheme, scheme), seed, settings=settings
        )
    ]
