"""Plausible rows of the task diagnostics: U-shaped influence, a bump at the last slots, heads that
look near and far.
"""

import math

from tests.support.plausible import L, identity, row

SLOTS = 11
HEADS, LAYERS = 2, 2
# scheme: how much the start stands out once trained, how much attention dilutes per doubling,
# whether it has a bias of the distance
SHAPES = {
    "rope": (2.0, 0.05, False),
    "alibi": (0.8, -0.02, True),
    "kerple-log": (1.2, 0.01, True),
    "nope": (1.5, 0.08, False),
}


def interval(value):
    return {"value": value, "low": value * 0.95, "high": value * 1.05, "n": 32}


def state_rows(scheme, state, length):
    start, dilution, _ = SHAPES[scheme]
    learned = state == "trained"
    where = {"task": "diagnostics", "protocol": f"{state}_records", "length": length}

    def found(metric, value, axis="", at=None, **more):
        at = {"axis": axis, "at": at} if axis else {}
        return row(**where, metric=metric, **interval(value), **at, **more)

    uniform = [sum(1 / (i + 1) for i in range(max(8, j), length)) / (length - 8) for j in range(16)]
    for key in range(16):
        yield row(**where, metric="mass_uniform", axis="key", at=key, value=uniform[key])
        for layer in range(LAYERS):
            stands_out = 1 + learned * 5 * layer * (key == 0)
            yield found("mass", uniform[key] * stands_out, "key", key, layer=layer)
    for keys in (2, 4, 8, 16, 32, 64, 128, 256):
        if keys <= length:
            for layer in range(LAYERS):
                value = (0.5 if learned else 0.9) + dilution * math.log2(keys) / 4 - 0.1 * layer
                yield found("entropy", value, "keys", keys, layer=layer)
    for layer in range(LAYERS):
        yield found("cosine", 0.1 + 0.1 * learned * length / L, layer=layer)
    yield row(**where, metric="slot_mass_uniform", value=2 / length)
    for k in range(SLOTS):
        depth, at = k / (SLOTS - 1), round(k / (SLOTS - 1) * (length // 2 - 2))
        u = 2 / length * (1 + start * learned * (1 - depth) ** 8 + 4 * depth**8)
        yield found("slot_mass", u, "slot", at)
        yield found("slot_mass", u, "slot", at, layer=0)
        calibrated = max(0.001, learned * (0.4 - 0.1 * math.sin(math.pi * depth)))
        yield found("calibrated", calibrated, "slot", at)
    for d in [0, *(2**i for i in range(int(math.log2(length)))), length - 1]:
        near = 0.5 if learned else 0.8
        yield found("gradient", near + (1 - near) * (d + 1) / length, "distance", d)
    yield from influence_rows(where["protocol"], length, start * learned + 0.2, 1 if learned else 0)


def influence_rows(protocol, length, start, flat):
    norms = [
        1 + flat + start * 3 * math.exp(-j / 3) + 20 * (j == length - 1) for j in range(length)
    ]
    step = 2 * max(1, length // 32)
    records = {at for first in range(1, length - 2, step) for at in (first, first + 1)}
    for at in sorted({0, *records, length - 1}):
        share = interval(norms[at] / sum(norms)) | {"axis": "position", "at": at}
        yield row("diagnostics", protocol, length, "influence", **share)


def bias_rows(scheme, state):
    for head in range(HEADS):
        for layer in range(LAYERS):
            for d in (0, 1, 2, 4, 8, 16, 32, 64, 128):
                slope = 2 ** -(2 * head + 2) * (
                    1.5 if state == "trained" and scheme == "kerple-log" else 1
                )
                value = -slope * (8 * math.log1p(d) if scheme == "kerple-log" else d)
                at = {"axis": "distance", "at": d, "layer": layer, "head": head}
                yield row("diagnostics", state, 4 * L, "bias", value, **at)


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
                settings = f"{len(name):08x}"
                run = identity(scheme, seed, name, settings=settings)
                run["run"] = f"{scheme}-{settings}-s{seed}"
                for found in diagnostics_rows(scheme):
                    failed = scheme == "nope" and found["protocol"] == "trained_records"
                    out.append(run | found | ({"status": "not trained"} if failed else {}))
    return out
