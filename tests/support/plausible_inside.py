"""Plausible rows of the task diagnostics: U-shaped influence, a bump at the last slots, heads that
look near and far.
"""

import math

from tests.support.plausible import L, run_rows

SLOTS = 11
HEADS, LAYERS = 2, 2
MEASURED = ("task", "protocol", "axis", "at", "metric", "value", "status")
# scheme: how much the start stands out once trained, how much attention dilutes per doubling,
# whether it has a bias of the distance
SHAPES = {
    "rope": (2.0, 0.05, False),
    "alibi": (0.8, -0.02, True),
    "kerple-log": (1.2, 0.01, True),
    "nope": (1.5, 0.08, False),
}


def interval(value, **where):
    return where | {
        "value": value,
        "low": value * 0.95,
        "high": value * 1.05,
        "n": 32,
        "status": "ok",
    }


def state_rows(scheme, state, length):
    start, dilution, _ = SHAPES[scheme]
    learned = state == "trained"
    where = {"task": "diagnostics", "protocol": f"{state}_records", "length": length}
    uniform = [sum(1 / (i + 1) for i in range(max(8, j), length)) / (length - 8) for j in range(16)]
    for key in range(16):
        yield where | {
            "metric": "mass_uniform",
            "axis": "key",
            "at": key,
            "value": uniform[key],
            "status": "ok",
        }
        for layer in range(LAYERS):
            stands_out = 1 + learned * 5 * layer * (key == 0)
            yield interval(
                uniform[key] * stands_out, **where, metric="mass", axis="key", at=key, layer=layer
            )
    for keys in (2, 4, 8, 16, 32, 64, 128, 256):
        if keys <= length:
            for layer in range(LAYERS):
                value = (0.5 if learned else 0.9) + dilution * math.log2(keys) / 4 - 0.1 * layer
                yield interval(value, **where, metric="entropy", axis="keys", at=keys, layer=layer)
    for layer in range(LAYERS):
        yield interval(0.1 + 0.1 * learned * length / L, **where, metric="cosine", layer=layer)
    yield where | {"metric": "slot_mass_uniform", "value": 2 / length, "status": "ok"}
    for k in range(SLOTS):
        depth, at = k / (SLOTS - 1), round(k / (SLOTS - 1) * (length // 2 - 2))
        u = 2 / length * (1 + start * learned * (1 - depth) ** 8 + 4 * depth**8)
        yield interval(u, **where, metric="slot_mass", axis="slot", at=at)
        yield interval(u, **where, metric="slot_mass", axis="slot", at=at, layer=0)
        yield interval(
            max(0.001, learned * (0.4 - 0.1 * math.sin(math.pi * depth))),
            **where,
            metric="calibrated",
            axis="slot",
            at=at,
        )
    for d in [0, *(2**i for i in range(int(math.log2(length)))), length - 1]:
        near = 0.5 if learned else 0.8
        yield interval(
            near + (1 - near) * (d + 1) / length, **where, metric="gradient", axis="distance", at=d
        )
    yield from influence_rows(where["protocol"], length, start * learned + 0.2, 1 if learned else 0)


def influence_rows(protocol, length, start, flat):
    norms = [
        1 + flat + start * 3 * math.exp(-j / 3) + 20 * (j == length - 1) for j in range(length)
    ]
    step = 2 * max(1, length // 32)
    records = {at for first in range(1, length - 2, step) for at in (first, first + 1)}
    for at in sorted({0, *records, length - 1}):
        where = {
            "task": "diagnostics",
            "protocol": protocol,
            "length": length,
            "metric": "influence",
            "axis": "position",
            "at": at,
        }
        yield interval(norms[at] / sum(norms), **where)


def bias_rows(scheme, state):
    for head in range(HEADS):
        for layer in range(LAYERS):
            for d in (0, 1, 2, 4, 8, 16, 32, 64, 128):
                slope = 2 ** -(2 * head + 2) * (
                    1.5 if state == "trained" and scheme == "kerple-log" else 1
                )
                value = -slope * (8 * math.log1p(d) if scheme == "kerple-log" else d)
                yield {
                    "task": "diagnostics",
                    "protocol": state,
                    "length": 4 * L,
                    "axis": "distance",
                    "at": d,
                    "layer": layer,
                    "head": head,
                    "metric": "bias",
                    "value": value,
                    "status": "ok",
                }


def diagnostics_rows(scheme):
    for state in ("trained", "untrained"):
        for length in (L, 4 * L):
            yield from state_rows(scheme, state, length)
        yield from bias_rows(scheme, state) if SHAPES[scheme][2] else ()
    for k, layers in enumerate((1, 2, 4, 8)):
        yield from influence_rows(f"untrained_{layers}_layers", L, 0.1 + 0.2 * k, 0)
    if not SHAPES[scheme][2]:
        yield from influence_rows("untrained_unmasked", L, 0, 0)


def inside_rows(schemes=tuple(SHAPES), data=("retrieval", "retrieval-ends"), seeds=(0,)):
    """Rows of runs on several data, the last scheme not having learned retrieval."""
    out = []
    for scheme in schemes:
        for name in data:
            for seed in seeds:
                identity = run_rows(scheme, seed, data=name, settings=f"{len(name):08x}")[0]
                identity = {key: value for key, value in identity.items() if key not in MEASURED}
                identity["run"] = f"{scheme}-{len(name):08x}-s{seed}"
                found = [identity | row for row in diagnostics_rows(scheme)]
                mark = {"status": "not trained"} if scheme == "nope" else {}
                out += [
                    row | mark if row["protocol"] == "trained_records" else row for row in found
                ]
    return out
