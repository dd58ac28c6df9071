"""Rows of the task diagnostics with numbers that follow from their places, one scheme below the
gate of retrieval.
"""

from zlib import crc32

from tests.support.plausible import L, around, identity, row

SLOTS = 11
HEADS, LAYERS = 2, 2
SCHEMES = ("rope", "alibi", "kerple-log", "nope")
BIASED = ("alibi", "kerple-log")


def found(scheme, protocol, length, metric, axis="", at=None, value=None, **more):
    """Returns a row with this value, or one drawn by its place."""
    place = scheme, protocol, length, metric, at, more
    value = 0.05 + crc32(repr(place).encode()) / 2**33 if value is None else value
    more |= {"axis": axis, "at": at} if axis else {}
    value = around(value, abs(value) / 20)
    return row("diagnostics", protocol, length, metric, **value, n=32, **more)


def state_rows(*where):
    """where: scheme, protocol, length."""
    length = where[-1]
    for layer in range(LAYERS):
        yield found(*where, "cosine", layer=layer)
        for key in range(16):
            yield found(*where, "mass", "key", key, layer=layer)
        for keys in (2, 4, 8, 16, 32, 64, 128, 256):
            if keys <= length:
                yield found(*where, "entropy", "keys", keys, layer=layer)
    for key in range(16):
        yield found(*where, "mass_uniform", "key", key)
    yield found(*where, "slot_mass_uniform", value=2 / length)
    for k in range(SLOTS):
        at = round(k / (SLOTS - 1) * (length // 2 - 2))
        yield found(*where, "slot_mass", "slot", at)
        yield found(*where, "slot_mass", "slot", at, layer=0)
        yield found(*where, "calibrated", "slot", at)
    for d in (0, *(2**i for i in range(length.bit_length() - 1)), length - 1):
        yield found(*where, "gradient", "distance", d, value=(d + 1) / length)
    yield from influence_rows(*where)


def influence_rows(*where):
    length = where[-1]
    step = 2 * max(1, length // 32)
    records = {at for first in range(1, length - 2, step) for at in (first, first + 1)}
    for at in sorted({0, *records, length - 1}):
        yield found(*where, "influence", "position", at)


def bias_rows(scheme, state):
    for head in range(HEADS):
        for layer in range(LAYERS):
            for d in (0, 1, 2, 4, 8, 16, 32, 64, 128):
                value = {"value": -d * 2.0 ** -(2 * head + 2)}
                where = {"axis": "distance", "at": d, "layer": layer, "head": head}
                yield row("diagnostics", state, 4 * L, "bias", **value, **where)


def diagnostics_rows(scheme):
    for state in ("trained", "untrained"):
        for length in (L, 4 * L):
            yield from state_rows(scheme, f"{state}_records", length)
        yield from bias_rows(scheme, state) if scheme in BIASED else ()
    for layers in (1, 2, 4, 8):
        yield from influence_rows(scheme, f"untrained_{layers}_layers", L)
    yield from influence_rows(scheme, "untrained_unmasked", L) if scheme not in BIASED else ()


def inside_rows(schemes=SCHEMES, data=("retrieval", "retrieval-ends"), seeds=(0,)):
    """Rows of runs on several data, the last scheme not having learned retrieval."""
    out = []
    for scheme in schemes:
        for name in data:
            for seed in seeds:
                settings = f"{len(name):08x}"
                run = identity(scheme, seed, name, settings=settings)
                run["run"] = f"{scheme}-{settings}-s{seed}"
                for one in diagnostics_rows(scheme):
                    failed = scheme == "nope" and one["protocol"] == "trained_records"
                    out.append(run | one | ({"status": "not trained"} if failed else {}))
    return out
