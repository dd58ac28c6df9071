"""Plausible rows of a study of extensions: every method on one scheme, factors, windows, slopes,
tuned runs and single pairs.
"""

import math

from extrap.results.stats.intervals import wilson
from tests.support.plausible import run_rows

L = 64
# method: (loss added per doubling past L, loss added within L, share of retrieval lost per
# doubling)
METHODS = {
    "direct": (0.9, 0.0, 0.3),
    "crop": (0.02, 0.0, 0.33),
    "window": (0.03, 0.0, 0.33),
    "pi": (0.3, 0.6, 0.2),
    "ntk": (0.1, 0.1, 0.1),
    "ntk-su-mixed-log-n": (0.08, 0.15, 0.08),
    "yarn": (0.12, 0.08, 0.1),
    "rerope": (0.01, 0.0, 0.05),
    "streaming-llm": (0.05, 0.0, 0.3),
}
SET_FOR = {"pi", "ntk", "ntk-su-mixed-log-n", "yarn"}
MULTIPLES = (1, 2, 4, 8, 16)


def reading(extension, growth, cost, loss, factor=1.0, scheme="rope", seed=0):
    """Rows of one run read by one method."""
    name = f"{scheme}-cafe0123-s{seed}"
    identity = {
        "run": name,
        "study": "demo",
        "scheme": scheme,
        "data": "mixture",
        "extension": extension,
        "factor": factor,
        "seed": seed,
        "train_length": L,
        "params": 173000,
        "corpus": "0123456789ab",
        "commit": "0" * 40,
    }
    identity["config"] = f"{extension}{factor:g}"
    return [identity | row for row in measured(growth, cost, loss, seed)]


def jumps(study="real", scheme="smollm2-135m"):
    """Gap rows of a real model under the methods that are set for 8, and those of none."""
    found = []
    for extension, (growth, cost, _) in METHODS.items():
        if extension not in ("crop", "window", "streaming-llm"):
            row = reading(extension, growth, cost, 0.0, 8.0 if extension in SET_FOR else 1.0)[0]
            value = cost + 3 * growth
            found.append(
                row
                | {"study": study, "scheme": scheme, "run": f"{scheme}-cafe0123-s0"}
                | {"task": "gap", "protocol": "jump", "metric": "nll", "length": 8 * L}
                | {"value": value, "low": value - 0.1, "high": value + 0.1}
            )
    return found


def measured(growth, cost, loss, seed=0):
    for multiple in MULTIPLES:
        doublings = math.log2(multiple)
        nll = 1.8 + cost + growth * doublings + 0.01 * seed
        for protocol in ("nonoverlap", "last_segment"):
            yield {
                "task": "nll",
                "protocol": protocol,
                "length": L * multiple,
                "metric": "nll",
                "value": nll,
                "low": nll - 0.04,
                "high": nll + 0.05,
                "n": 16,
                "tokens": 16 * 512,
                "status": "ok",
            }
        if multiple > 8:
            continue
        for depth in (0, 0.5, 1):
            hits = round(60 * min(1, max(0.99 - cost - loss * doublings * (1 - depth / 2), 0.02)))
            low, high = wilson(hits, 60)
            yield {
                "task": "kv",
                "protocol": "records",
                "length": L * multiple,
                "depth": depth,
                "metric": "accuracy",
                "value": hits / 60,
                "low": low,
                "high": high,
                "n": 60,
                "tokens": 60,
                "status": "ok",
            }
        for protocol, accuracy in (("nonrepeated", 0.52), ("later", 0.8)):
            if protocol == "nonrepeated" or multiple > 1:
                value = max(0.1, accuracy - cost / 3 - growth * doublings / 4)
                yield {
                    "task": "repeat",
                    "protocol": protocol,
                    "length": L * multiple,
                    "metric": "accuracy",
                    "value": value,
                    "low": value - 0.01,
                    "high": value + 0.01,
                    "n": 24,
                    "tokens": 9000,
                    "status": "ok",
                }
    yield {
        "task": "repeat",
        "protocol": "within",
        "length": L,
        "metric": "gain",
        "value": 0.3,
        "low": 0.28,
        "high": 0.32,
        "n": 24,
        "tokens": 9000,
        "status": "ok",
    }


def extension_rows(seeds=(0,)):
    """Rows of a whole study; its plain readings are read anew and not those of
    plausible.run_rows.
    """
    rows = []
    for seed in seeds:
        for name, shape in METHODS.items():
            rows += reading(name, *shape, factor=8.0 if name in SET_FOR else 1.0, seed=seed)
    for name in SET_FOR:
        growth, cost, loss = METHODS[name]
        rows += [
            row
            for s in (2.0, 4.0)
            for row in reading(
                name, growth * (1 + 1 / s), cost * s / 8, loss * (1 + 1 / s), factor=s
            )
        ]
    for width in (16, 48, 64):
        rows += reading(f"rerope,width={width}", 0.01 if width < 64 else 0.8, 0.01, 0.05)
    for slope in (0.0, 0.2):
        rows += reading(f"yarn,slope={slope}", 0.12 + abs(slope - 0.1), 0.08, 0.1, factor=8.0)
    return rows + pair_rows() + [row for factor in (2.0, 8.0) for row in tuned_rows("pi", factor)]


def pair_rows():
    rows = []
    for pair, steepness in (("null", 0.3), ("0", 0.2), ("3", 0.0)):
        for k in (1.5, 4.0):
            cost = steepness * math.log2(k)
            name = "pi-pair" + (f",pair={pair}" if pair != "0" else "")
            rows += [
                row
                for row in reading(name, 0.1, cost, 0.1, factor=k)
                if row["length"] == L and row["task"] != "repeat"
            ]
    return rows


def tuned_rows(method, factor):
    scheme, growth = f"rope-full-{method}-x{factor:g}", 0.05
    rows = [
        row
        for s in (2.0, 8.0)
        for row in reading(method, growth, 0.1, 0.05, factor=s, scheme=scheme)
    ]
    curve = [
        row | {"study": "demo", "scheme": scheme}
        for row in run_rows("rope")
        if row["task"] == "train"
    ]
    return rows + [row | {"run": f"{scheme}-cafe0123-s0"} for row in curve]
