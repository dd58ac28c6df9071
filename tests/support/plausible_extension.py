"""Plausible rows of a study of extensions: every method on one scheme, factors, windows, slopes,
tuned runs and single pairs.
"""

import math

from tests.support.plausible import L, around, identity, rate, row, run_rows

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


def reading(extension, growth, cost, loss, factor=1.0, scheme="rope", seed=0):
    """Rows of one run read by one method."""
    run = identity(scheme, seed, extension=extension, factor=factor)
    run["config"] = f"{extension}{factor:g}"
    return [run | found for found in measured(growth, cost, loss, seed)]


def jumps(study="real", scheme="smollm2-135m"):
    """Gap rows of a real model under the methods that are set for 8, and without a method."""
    found = []
    for extension, (growth, cost, _) in METHODS.items():
        if extension not in ("crop", "window", "streaming-llm"):
            factor = 8.0 if extension in SET_FOR else 1.0
            found.append(
                reading(extension, growth, cost, 0.0, factor)[0]
                | {"study": study, "scheme": scheme, "run": f"{scheme}-cafe0123-s0"}
                | {"task": "gap", "protocol": "jump", "metric": "nll", "length": 8 * L}
                | around(cost + 3 * growth, 0.1)
            )
    return found


def measured(growth, cost, loss, seed=0):
    for multiple in (1, 2, 4, 8, 16):
        doublings, length = math.log2(multiple), L * multiple
        nll = around(1.8 + cost + growth * doublings + 0.01 * seed, 0.04, 0.05)
        for protocol in ("nonoverlap", "last_segment"):
            yield row("nll", protocol, length, "nll", **nll, n=16, tokens=16 * 512)
        if multiple > 8:
            continue
        for depth in (0, 0.5, 1):
            right = rate(0.99 - cost - loss * doublings * (1 - depth / 2), 60, 0.02)
            yield row("kv", "records", length, "accuracy", depth=depth, **right)
        for protocol, accuracy in (("nonrepeated", 0.52), ("later", 0.8)):
            if protocol == "nonrepeated" or multiple > 1:
                value = around(max(0.1, accuracy - cost / 3 - growth * doublings / 4), 0.01)
                yield row("repeat", protocol, length, "accuracy", **value, n=24, tokens=9000)
    within = {"value": 0.3, "low": 0.28, "high": 0.32}
    yield row("repeat", "within", L, "gain", **within, n=24, tokens=9000)


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
        for s in (2.0, 4.0):
            shape = growth * (1 + 1 / s), cost * s / 8, loss * (1 + 1 / s)
            rows += reading(name, *shape, factor=s)
    for width in (16, 48, 64):
        rows += reading(f"rerope,width={width}", 0.01 if width < 64 else 0.8, 0.01, 0.05)
    for slope in (0.0, 0.2):
        rows += reading(f"yarn,slope={slope}", 0.12 + abs(slope - 0.1), 0.08, 0.1, factor=8.0)
    return rows + pair_rows() + tuned_rows("pi", 2.0) + tuned_rows("pi", 8.0)


def pair_rows():
    rows = []
    for pair, steepness in ((",pair=null", 0.3), ("", 0.2), (",pair=3", 0.0)):
        for k in (1.5, 4.0):
            found = reading(f"pi-pair{pair}", 0.1, steepness * math.log2(k), 0.1, factor=k)
            rows += [r for r in found if r["length"] == L and r["task"] != "repeat"]
    return rows


def tuned_rows(method, factor):
    scheme = f"rope-full-{method}-x{factor:g}"
    rows = reading(method, 0.05, 0.1, 0.05, factor=2.0, scheme=scheme)
    rows += reading(method, 0.05, 0.1, 0.05, factor=8.0, scheme=scheme)
    same = {"scheme": scheme, "run": f"{scheme}-cafe0123-s0"}
    return rows + [found | same for found in run_rows("rope") if found["task"] == "train"]
