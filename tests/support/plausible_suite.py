"""Plausible rows of the evaluation suite, in the coordinates that its tasks write, for tests of
figures.
"""

import math

from tests.support.plausible import DEPTHS, SHAPES, TRIALS, L, around, identity, rate, row, run_rows

CHANCE = 1 / 64


def multiples(scheme, *more):
    """Returns the multiples of L that a scheme reads; learned rows end at L."""
    return more if scheme != "learned" else more[:1]


def grid(task, protocols, lengths, scheme, seed, **more):
    """A curve over depth for every protocol (its ease) and length, as scheme and length bend it."""
    _, _, start, loss, bend = SHAPES[scheme]
    for protocol, ease in protocols.items():
        for m in lengths if scheme != "learned" else (1,):
            doublings = math.log2(m)
            for depth in DEPTHS:
                fall = ease * (loss + 2 * bend * min(depth, 1 - depth)) * doublings
                extra = {}
                if task == "haystack":
                    extra = {"axis": "distance", "at": round((1 - depth) * (m * L - 3)) + 2}
                if task == "multidoc":
                    extra = {"axis": "documents", "at": m * L // 4 - 1}
                extra |= rate(start - fall + 0.01 * seed) | more
                yield row(task, protocol, m * L, "accuracy", depth=depth, **extra)
            yield row(task, protocol, m * L, "guess", 4 / (m * L), **more)
    yield row(task, "", None, "chance", CHANCE, **more)


def multidoc(scheme, seed, **more):
    yield from grid("multidoc", {"ordered": 1.0, "shuffled": 0.8}, (1, 2, 4), scheme, seed, **more)
    for protocol, documents, p in (("oracle", 1, SHAPES[scheme][2]), ("closed_book", 0, 0.05)):
        at = {"axis": "documents", "at": documents} | rate(p) | more
        yield row("multidoc", protocol, 4 + 4 * documents, "accuracy", **at)


def retrieved(scheme, seed, **more):
    for documents in (1, 5, 40):
        where = {"protocol": "retrieved", "length": 4 + 4 * documents}
        where |= {"axis": "documents", "at": documents} | more
        handed = 1 - 0.9**documents
        yield row("multidoc", metric="handed", **where, **rate(handed))
        right = rate(handed * SHAPES[scheme][2] - 0.01 * seed)
        yield row("multidoc", metric="accuracy", **where, **right)


def repeats(scheme, seed, **more):
    _, growth, *_ = SHAPES[scheme]
    for protocol, ease in (("nonrepeated", 0.5), ("later", 0.9)):
        for m in multiples(scheme, 1, 2, 4, 8):
            if protocol == "nonrepeated" or m > 1:
                p = ease - math.log2(m) * math.log(growth) / 4 + 0.01 * seed
                yield row("repeat", protocol, m * L, "accuracy", **rate(p), **more)


def gaps(scheme, seed):
    _, growth, *_ = SHAPES[scheme]
    for m in multiples(scheme, 0.5, 1, 2, 4):
        value = 0.02 * m + math.log2(1 + m) * math.log(growth) / 4 + 0.01 * seed
        yield row("gap", "jump", m * L, "change", **around(value, 0.02), n=24)
    yield row("gap", "alone", L // 4, "change", 0.4, low=0.35, high=0.45, n=24)


def serial(scheme, seed, **more):
    _, _, start, loss, bend = SHAPES[scheme]
    for m in multiples(scheme, 1, 2):
        where, records = {"task": "kv-serial", "protocol": "records"} | more, m * L // 2 - 1
        for index in range(records):
            end = min(index, records - 1 - index) / records
            right = rate(start - (loss + bend * end) * (m - 1))
            yield row(**where, length=m * L, metric="accuracy", axis="index", at=index, **right)
        yield row(**where, length=m * L, metric="guess", value=1 / records)


def lost_in_the_middle(scheme, seed, **more):
    _, _, start, loss, bend = SHAPES[scheme]
    for protocol, ease in (("last", 1.0), ("both", 0.3)):
        for records in (1, 2, 75, 140, 300):
            where = {"task": "lost-in-the-middle", "protocol": protocol} | more
            where["length"] = 80 * records + 120 + 300 * (protocol == "both")
            where |= {"axis": "records", "at": records}
            for depth in (0, 0.5, 1) if records > 1 else (0,):
                u = loss + 2 * bend * min(depth, 1 - depth)
                p = start - ease * u * math.log2(records) / 4 + 0.01 * seed
                yield row(**where, metric="accuracy", depth=depth, **rate(p))
            yield row(**where, metric="guess", value=1 / records)


def haystack(scheme, seed, **more):
    protocols = {"single": 0.5, "multikey": 0.9}
    yield from grid("haystack", protocols, (1, 2, 4, 8), scheme, seed, **more)
    _, _, start, loss, _ = SHAPES[scheme]
    for m in multiples(scheme, 1, 2, 4, 8):
        p = start - loss * math.log2(m)
        for protocol in ("multivalue", "multiquery"):
            recall = row("haystack", protocol, m * L, "recall", **rate(p), **more)
            for depth in (0.2, 0.4, 0.6, 0.8):
                at = round((1 - depth) * m * L)
                yield recall | {"depth": depth, "axis": "distance", "at": at}
            yield recall
        for k in range(1, 11):
            at = round(2 + (m * L - 4) * k / 10)
            place = {"axis": "distance", "at": at, "depth": 1 - at / (m * L)} | more
            right = rate(p * (1 - k / 40))
            yield row("haystack", "passkey", m * L, "accuracy", **place, **right)
        furthest = max(0, round((m * L - 2) * min(1, max(0, p) ** 2 * 1.1)))
        yield row("haystack", "passkey", m * L, "k_max", furthest, n=10, **more)


def positions(scheme):
    start, growth, *_ = SHAPES[scheme]
    for protocol in ("full", "windowed"):
        for k in range(0, 37) if (scheme, protocol) != ("learned", "full") else ():
            at, beyond = 2 ** (k / 4), max(0, k / 4 - 6) if protocol == "full" else 0
            nll = math.log(start) + 2 / at**0.6 + beyond * math.log(growth)
            nll = around(nll - 0.02 * max(0, k / 4 - 6), 0.06) | {"n": 64, "tokens": 640}
            yield row("nll-position", protocol, 8 * L, "nll", axis="position", at=at, **nll)


def contexts(scheme):
    start, growth, *_ = SHAPES[scheme]
    base = math.log(start) + 0.25
    for protocol in ("full", "crop", "window"):
        for m in (0.5, 1, 2, 4, 8):
            whole = protocol == "full"
            if (not whole and m <= 1) or (scheme == "learned" and whole and m > 1):
                continue
            far = math.log2(m) * math.log(growth) if whole and m > 1 else 0
            gain = (0 if m == 0.5 else -0.2 - 0.02 * math.log2(m) * whole) + far
            where = {"task": "context-gain", "protocol": protocol, "length": int(m * L)}
            where |= {"n": 64, "tokens": 64 * 32}
            yield row(**where, metric="nll", **around(base + gain, 0.1))
            if m > 0.5:
                yield row(**where, metric="gain", **around(gain, 0.03))


def algorithms(scheme, seed):
    _, _, start, loss, _ = SHAPES[scheme]
    status = "ok" if start >= 0.9 else "not trained"
    hard = {"copy": 1.0, "reverse": 1.4, "even-pairs": 0.4, "flip-flop": 0.6}
    for protocol, slope in hard.items():
        where, trained = {"task": "algorithmic", "protocol": protocol, "status": status}, 0
        for n in (5, 10, 15, 20, 25, 30, 40, 60, 80):
            at = {"axis": "symbols", "at": n}
            chance = 0.5 if protocol in ("even-pairs", "flip-flop") else CHANCE**n
            p = start - slope * (loss + 0.05 * seed) * max(0, math.log2(n / 20)) * 2
            right = rate(max(p, chance))
            yield row(**where, length=2 * n + 2, metric="accuracy", **at, **right)
            yield row(**where, length=None, metric="chance", value=chance, **at)
            trained += n <= 20
        yield row(**where, length=None, metric="gate", value=start, n=trained * TRIALS)


def suite_rows(scheme, seed=0):
    """The rows of the suite for one run."""
    mark = {"status": "ok" if SHAPES[scheme][2] >= 0.9 else "not trained"}
    rows = [*positions(scheme), *contexts(scheme), *gaps(scheme, seed), *algorithms(scheme, seed)]
    for task in (multidoc, haystack, lost_in_the_middle, retrieved, repeats, serial):
        rows += task(scheme, seed, **mark)
    lengths = (1, 2, 4, 8)
    rows += grid("kv-query", {"last": 1.0, "both": 0.2}, lengths, scheme, seed, **mark)
    first = grid("kv-query", {"first": 0.3}, lengths, scheme, seed, status="not trained")
    rows += [found for found in first if found["metric"] != "chance"]
    return [identity(scheme, seed) | found for found in rows]


def suite_study(schemes=("rope", "alibi", "learned"), seeds=(0, 1)):
    """Everything that is measured of these schemes."""
    return [
        row
        for scheme in schemes
        for seed in seeds
        for row in run_rows(scheme, seed) + suite_rows(scheme, seed)
    ]
