"""Plausible rows made in memory: perplexities and U curves of the shapes that schemes show, for
tests of figures and tables.
"""

import math

from extrap.results.stats.intervals import depth_contrasts, wilson

L = 64
LENGTHS = (64, 80, 96, 128, 256, 512, 1024)
DEPTHS = (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
TRIALS = 200
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


def nll_rows(scheme, seed=0):
    start, growth, *_ = SHAPES[scheme]
    for protocol, easier in (("nonoverlap", 0.97), ("sliding", 0.93), ("last_segment", 0.9)):
        for length in LENGTHS if scheme != "learned" else (L,):
            doublings = math.log2(length / L)
            nll = (
                math.log(start * easier)
                + doublings * math.log(growth) / (1 + 0.15 * doublings)
                + 0.02 * seed
            )
            yield {
                "task": "nll",
                "protocol": protocol,
                "length": length,
                "metric": "nll",
                "value": nll,
                "low": nll - 0.05,
                "high": nll + 0.06,
                "n": 64,
                "tokens": 64 * 512,
                "status": "ok",
            }


def kv_rows(scheme, seed=0, status=None):
    _, _, start, loss, bend = SHAPES[scheme]
    status = status or ("ok" if start >= 0.9 else "not trained")
    yield {"task": "kv", "metric": "chance", "value": 1 / 64, "status": status}
    for protocol, ease in (("records", 1.0), ("padded", 0.6)):
        for length in LENGTHS[:-1] if scheme != "learned" else (L,):
            doublings = math.log2(length / L)
            k = length // 2 - 1 if protocol == "records" else 8
            yield {
                "task": "kv",
                "protocol": protocol,
                "length": length,
                "metric": "guess",
                "value": 1 / k,
                "status": status,
            }
            hits = []
            for depth in DEPTHS:
                p = (
                    start
                    - ease * loss * doublings
                    - bend * doublings * 2 * min(depth, 1 - depth)
                    + 0.005 * seed
                )
                hits.append(round(TRIALS * min(max(p, 1 / 64), 1)))
                low, high = wilson(hits[-1], TRIALS)
                yield {
                    "task": "kv",
                    "protocol": protocol,
                    "length": length,
                    "depth": depth,
                    "metric": "accuracy",
                    "value": hits[-1] / TRIALS,
                    "low": low,
                    "high": high,
                    "n": TRIALS,
                    "tokens": TRIALS,
                    "status": status,
                }
            if protocol == "records" and length == L:
                right, asked = sum(hits), TRIALS * len(DEPTHS)
                low, high = wilson(right, asked)
                yield {
                    "task": "kv",
                    "protocol": protocol,
                    "length": length,
                    "metric": "gate",
                    "value": right / asked,
                    "low": low,
                    "high": high,
                    "n": TRIALS,
                    "tokens": asked,
                    "status": status,
                }
            for name, contrast in depth_contrasts(DEPTHS).items():
                value = float(contrast @ hits) / TRIALS
                if name != "mid":
                    yield {
                        "task": "kv",
                        "protocol": protocol,
                        "length": length,
                        "metric": name,
                        "value": value,
                        "low": value - 0.07,
                        "high": value + 0.07,
                        "n": TRIALS,
                        "status": status,
                    }


def train_rows(scheme, seed=0):
    start, _, accuracy, *_ = SHAPES[scheme]
    for step in range(0, 1501, 50):
        loss = math.log(start) + 3.5 * math.exp(-step / 200)
        learned = accuracy / (1 + math.exp(-(step - 600 - 40 * seed - 200 * (1 - accuracy)) / 60))
        yield {
            "task": "train",
            "protocol": "text",
            "axis": "step",
            "at": step,
            "metric": "nll",
            "value": loss,
            "status": "ok",
        }
        yield {
            "task": "train",
            "protocol": "retrieval",
            "axis": "step",
            "at": step,
            "metric": "accuracy",
            "value": learned,
            "status": "ok",
        }
    if accuracy >= 0.9:
        yield {
            "task": "train",
            "protocol": "retrieval",
            "metric": "steps_to_90",
            "value": 750 + 40 * seed,
            "status": "ok",
        }


def run_rows(
    scheme, seed=0, data="mixture", corpus="0123456789ab", settings="cafe0123", status=None, **more
):
    """All rows of one run."""
    identity = {
        "run": f"{scheme}-{settings}-s{seed}",
        "study": "demo",
        "scheme": scheme,
        "data": data,
        "extension": "direct",
        "factor": 1,
        "seed": seed,
        "train_length": L,
        "params": 173000,
        "corpus": corpus,
        "config": settings,
        "commit": "0" * 40,
    }
    if data != "mixture":
        identity["run"] = f"{scheme}-{data[:4]}0123-s{seed}"
    rows = [*train_rows(scheme, seed)]
    rows += [*nll_rows(scheme, seed)] if data != "retrieval" else []
    rows += [*kv_rows(scheme, seed, status)] if data != "text" else []
    return [identity | row | more for row in rows]


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
            scheme if params < 200_000 else swapped.get(scheme, scheme),
            seed,
            settings=settings,
        )
    ]
