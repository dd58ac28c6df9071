"""Plausible rows of the evaluation suite, in the coordinates that its tasks write, for tests of
figures.
"""

import math

from extrap.results.stats.intervals import wilson
from tests.support.plausible import DEPTHS, SHAPES, TRIALS, L, run_rows

CHANCE = 1 / 64
IDENTITY = (
    "run",
    "study",
    "scheme",
    "data",
    "extension",
    "factor",
    "seed",
    "train_length",
    "params",
    "corpus",
    "config",
    "commit",
)


def rate(p, n=TRIALS):
    """value, low, high, n of an accuracy near p."""
    hits = round(n * min(max(p, CHANCE), 1))
    low, high = wilson(hits, n)
    return {"value": hits / n, "low": low, "high": high, "n": n, "tokens": n}


def grid(task, protocols, multiples, scheme, seed, **more):
    """A curve over depth for every protocol (its ease) and length, as scheme and length bend it."""
    _, _, start, loss, bend = SHAPES[scheme]
    for protocol, ease in protocols.items():
        for m in multiples if scheme != "learned" else (1,):
            where, doublings = {"task": task, "protocol": protocol, "length": m * L}, math.log2(m)
            for depth in DEPTHS:
                p = (
                    start
                    - ease * (loss + 2 * bend * min(depth, 1 - depth)) * doublings
                    + 0.01 * seed
                )
                extra = (
                    {"axis": "distance", "at": round((1 - depth) * (m * L - 3)) + 2}
                    if task == "haystack"
                    else {}
                )
                extra |= {"axis": "documents", "at": m * L // 4 - 1} if task == "multidoc" else {}
                yield where | {"depth": depth, "metric": "accuracy"} | extra | rate(p) | more
            yield where | {"metric": "guess", "value": 4 / (m * L)} | more
    yield {"task": task, "metric": "chance", "value": CHANCE} | more


def multidoc(scheme, seed, **more):
    yield from grid("multidoc", {"ordered": 1.0, "shuffled": 0.8}, (1, 2, 4), scheme, seed, **more)
    for protocol, documents, p in (("oracle", 1, SHAPES[scheme][2]), ("closed_book", 0, 0.05)):
        where = {
            "task": "multidoc",
            "protocol": protocol,
            "length": 4 + 4 * documents,
            "axis": "documents",
            "at": documents,
        }
        yield where | {"metric": "accuracy"} | rate(p) | more


def retrieved(scheme, seed, **more):
    for documents in (1, 5, 40):
        where = {
            "task": "multidoc",
            "protocol": "retrieved",
            "length": 4 + 4 * documents,
            "axis": "documents",
            "at": documents,
        }
        handed = 1 - 0.9**documents
        yield where | {"metric": "handed"} | rate(handed) | more
        yield where | {"metric": "accuracy"} | rate(handed * SHAPES[scheme][2] - 0.01 * seed) | more


def repeats(scheme, seed, **more):
    _, growth, *_ = SHAPES[scheme]
    for protocol, ease in (("nonrepeated", 0.5), ("later", 0.9)):
        for m in (1, 2, 4, 8) if scheme != "learned" else (1,):
            where = {"task": "repeat", "protocol": protocol, "length": m * L, "metric": "accuracy"}
            if protocol == "nonrepeated" or m > 1:
                yield where | rate(ease - math.log2(m) * math.log(growth) / 4 + 0.01 * seed) | more


def gaps(scheme, seed):
    _, growth, *_ = SHAPES[scheme]
    for m in (0.5, 1, 2, 4) if scheme != "learned" else (0.5,):
        value = 0.02 * m + math.log2(1 + m) * math.log(growth) / 4 + 0.01 * seed
        where = {"task": "gap", "protocol": "jump", "length": m * L, "metric": "change"}
        yield where | {
            "value": value,
            "low": value - 0.02,
            "high": value + 0.02,
            "n": 24,
            "status": "ok",
        }
    where = {"task": "gap", "protocol": "alone", "length": L // 4, "metric": "change"}
    yield where | {"value": 0.4, "low": 0.35, "high": 0.45, "n": 24, "status": "ok"}


def serial(scheme, seed, **more):
    _, _, start, loss, bend = SHAPES[scheme]
    for m in (1, 2) if scheme != "learned" else (1,):
        where, records = (
            {"task": "kv-serial", "protocol": "records", "length": m * L},
            m * L // 2 - 1,
        )
        for index in range(records):
            end = min(index, records - 1 - index) / records
            yield (
                where
                | {"axis": "index", "at": index, "metric": "accuracy"}
                | rate(start - (loss + bend * end) * (m - 1))
                | more
            )
        yield where | {"metric": "guess", "value": 1 / records} | more


def lost_in_the_middle(scheme, seed, **more):
    _, _, start, loss, bend = SHAPES[scheme]
    for protocol, ease, records in (
        (p, e, k) for p, e in (("last", 1.0), ("both", 0.3)) for k in (1, 2, 75, 140, 300)
    ):
        where = {
            "task": "lost-in-the-middle",
            "protocol": protocol,
            "axis": "records",
            "at": records,
        }
        where["length"] = 80 * records + 120 + 300 * (protocol == "both")
        for depth in (0, 0.5, 1) if records > 1 else (0,):
            p = (
                start
                - ease * (loss + 2 * bend * min(depth, 1 - depth)) * math.log2(records) / 4
                + 0.01 * seed
            )
            yield where | {"depth": depth, "metric": "accuracy"} | rate(p) | more
        yield where | {"metric": "guess", "value": 1 / records} | more


def haystack(scheme, seed, **more):
    yield from grid(
        "haystack", {"single": 0.5, "multikey": 0.9}, (1, 2, 4, 8), scheme, seed, **more
    )
    _, _, start, loss, _ = SHAPES[scheme]
    for m in (1, 2, 4, 8) if scheme != "learned" else (1,):
        p = start - loss * math.log2(m)
        for protocol in ("multivalue", "multiquery"):
            where = {"task": "haystack", "protocol": protocol, "length": m * L}
            for depth in (0.2, 0.4, 0.6, 0.8):
                yield (
                    where
                    | {
                        "depth": depth,
                        "axis": "distance",
                        "at": round((1 - depth) * m * L),
                        "metric": "recall",
                    }
                    | rate(p)
                    | more
                )
            yield where | {"metric": "recall"} | rate(p) | more
        furthest = {
            "task": "haystack",
            "protocol": "passkey",
            "length": m * L,
            "metric": "k_max",
            "n": 10,
        }
        for k in range(1, 11):
            at = round(2 + (m * L - 4) * k / 10)
            place = {"axis": "distance", "at": at, "depth": 1 - at / (m * L), "metric": "accuracy"}
            yield furthest | place | rate(p * (1 - k / 40)) | more
        yield furthest | {"value": max(0, round((m * L - 2) * min(1, max(0, p) ** 2 * 1.1)))} | more


def positions(scheme):
    start, growth, *_ = SHAPES[scheme]
    for protocol in ("full", "windowed"):
        for k in range(0, 37) if (scheme, protocol) != ("learned", "full") else ():
            at, beyond = 2 ** (k / 4), max(0, k / 4 - 6) if protocol == "full" else 0
            nll = (
                math.log(start) + 2 / at**0.6 + beyond * math.log(growth) - 0.02 * max(0, k / 4 - 6)
            )
            where = {
                "task": "nll-position",
                "protocol": protocol,
                "length": 8 * L,
                "axis": "position",
                "at": at,
                "metric": "nll",
            }
            yield where | {
                "value": nll,
                "low": nll - 0.06,
                "high": nll + 0.06,
                "n": 64,
                "tokens": 640,
                "status": "ok",
            }


def contexts(scheme):
    start, growth, *_ = SHAPES[scheme]
    base = math.log(start) + 0.25
    for protocol in ("full", "crop", "window"):
        for m in (0.5, 1, 2, 4, 8):
            if (protocol != "full" and m <= 1) or (
                (scheme, protocol) == ("learned", "full") and m > 1
            ):
                continue
            far = math.log2(m) * math.log(growth) if protocol == "full" and m > 1 else 0
            gain = (0 if m == 0.5 else -0.2 - 0.02 * math.log2(m) * (protocol == "full")) + far
            where = {
                "task": "context-gain",
                "protocol": protocol,
                "length": int(m * L),
                "n": 64,
                "tokens": 64 * 32,
                "status": "ok",
            }
            yield where | {
                "metric": "nll",
                "value": base + gain,
                "low": base + gain - 0.1,
                "high": base + gain + 0.1,
            }
            if m > 0.5:
                yield where | {
                    "metric": "gain",
                    "value": gain,
                    "low": gain - 0.03,
                    "high": gain + 0.03,
                }


def algorithms(scheme, seed):
    _, _, start, loss, _ = SHAPES[scheme]
    for protocol, hard in (
        ("copy", 1.0),
        ("reverse", 1.4),
        ("even-pairs", 0.4),
        ("flip-flop", 0.6),
    ):
        status = "ok" if start >= 0.9 else "not trained"
        where, trained = {"task": "algorithmic", "protocol": protocol, "status": status}, 0
        for n in (5, 10, 15, 20, 25, 30, 40, 60, 80):
            at, chance = (
                {"axis": "symbols", "at": n},
                0.5 if protocol in ("even-pairs", "flip-flop") else CHANCE**n,
            )
            p = start - hard * (loss + 0.05 * seed) * max(0, math.log2(n / 20)) * 2
            yield where | at | {"length": 2 * n + 2, "metric": "accuracy"} | rate(max(p, chance))
            yield where | at | {"metric": "chance", "value": chance}
            trained += n <= 20
        yield where | {"metric": "gate", "value": start, "n": trained * TRIALS}


def suite_rows(scheme, seed=0):
    """The rows of the suite for one run."""
    identity = {name: run_rows(scheme, seed)[0][name] for name in IDENTITY}
    mark = {"status": "ok" if SHAPES[scheme][2] >= 0.9 else "not trained"}
    rows = [
        *multidoc(scheme, seed, **mark),
        *haystack(scheme, seed, **mark),
        *positions(scheme),
        *contexts(scheme),
    ]
    rows += [
        *lost_in_the_middle(scheme, seed, **mark),
        *retrieved(scheme, seed, **mark),
        *repeats(scheme, seed, **mark),
    ]
    rows += [*serial(scheme, seed, **mark), *gaps(scheme, seed)]
    rows += [
        *algorithms(scheme, seed),
        *grid("kv-query", {"last": 1.0, "both": 0.2}, (1, 2, 4, 8), scheme, seed, **mark),
    ]
    rows += [
        row
        for row in grid(
            "kv-query", {"first": 0.3}, (1, 2, 4, 8), scheme, seed, status="not trained"
        )
        if row["metric"] != "chance"
    ]
    return [identity | row for row in rows]


def suite_study(schemes=("rope", "alibi", "learned"), seeds=(0, 1)):
    """Everything that is measured of these schemes."""
    return [
        row
        for scheme in schemes
        for seed in seeds
        for row in run_rows(scheme, seed) + suite_rows(scheme, seed)
    ]


def family(schemes=("rope", "alibi"), lengths=(32, 64)):
    """Losses of runs of several training lengths; a longer training is better by a
    tenth of a nat.
    """
    for scheme in schemes:
        for length in lengths:
            for row in run_rows(scheme, settings=f"cafe{length:04d}"):
                if row["task"] == "nll":
                    better = {
                        name: row[name] - 0.1 * lengths.index(length)
                        for name in ("value", "low", "high")
                    }
                    yield row | better | {"train_length": length}
