"""Invented rows of tasks, for tests of figures: a table says at which places a task measures, and
the numbers follow from the places.
"""

from zlib import crc32

from tests.support.plausible import DEPTHS, SHAPES, TRIALS, L, around, identity, rate, row, run_rows

CHANCE = 1 / 64
SHARES = ("accuracy", "recall")
ALGORITHMS = {"copy": CHANCE, "reverse": CHANCE, "even-pairs": 0.5, "flip-flop": 0.5}
BIASED = ("alibi", "kerple-log")
SLOTS, LAYERS, HEADS = 11, (0, 1), (0, 1)
PAST_A_TABLE = ("windowed", "crop", "window")
"""Protocols in which a table of positions suffices for any length."""


def crossed(task, protocol, metric, **columns):
    """Returns a row per combination of the columns: a tuple holds several values, and a function
    makes them of the columns before.
    """
    found = [{}]
    for name, values in {"task": task, "protocol": protocol, "metric": metric, **columns}.items():
        longer = []
        for before in found:
            several = values(before) if callable(values) else values
            several = several if isinstance(several, tuple) else (several,)
            longer += [before | {name: value} for value in several]
        found = longer
    return found


def by_depth(task, protocols, multiples, metric="accuracy", **at):
    """Returns the places of a curve over depth, of what a guess finds, and of chance."""
    lengths = tuple(m * L for m in multiples)
    return [
        *crossed(task, protocols, metric, length=lengths, depth=DEPTHS, **at),
        *crossed(task, protocols, "guess", length=lengths, value=lambda row: 4 / row["length"]),
        *crossed(task, "", "chance", value=CHANCE),
    ]


def measured(places, run):
    """Yields the rows of a run at these places; a value that no place gives is drawn by it."""
    known = {"status": "ok" if SHAPES[run["scheme"]][2] >= 0.9 else "not trained"}
    for place in places:
        drawn = crc32(repr((run["scheme"], run["seed"], run["params"], place)).encode()) / 2**32
        if "value" in place:
            number = {}
        elif place["metric"] in SHARES:
            number = rate(drawn)
        else:
            number = around(0.05 + drawn / 5, 0.01) | {"n": 64, "tokens": 640}
        far = place.get("length", L) > L and place["task"] != "algorithmic"
        if not (far and run["scheme"] == "learned" and place["protocol"] not in PAST_A_TABLE):
            yield run | row(**{"length": None} | known | place | number)


def _lost_at(row):
    return 80 * row["at"] + 120 + 300 * (row["protocol"] == "both")


def _suite():
    """The places of the evaluation suite."""
    far, lengths = (1, 2, 4, 8), (L, 2 * L, 4 * L, 8 * L)
    documents = {"axis": "documents", "at": lambda row: row["length"] // 4 - 1}
    yield from by_depth("multidoc", ("ordered", "shuffled"), (1, 2, 4), **documents)
    for protocol, several in ("oracle", 1), ("closed_book", 0), ("retrieved", (1, 5, 40)):
        shown = {"axis": "documents", "at": several, "length": lambda row: 4 + 4 * row["at"]}
        yield from crossed("multidoc", protocol, "accuracy", **shown)
    handed = shown | {"value": lambda row: 1 - 0.9 ** row["at"]}
    yield from crossed("multidoc", "retrieved", "handed", **handed)

    distance = {"axis": "distance", "at": lambda row: 2 + round((1 - row["depth"]) * row["length"])}
    yield from by_depth("haystack", ("single", "multikey"), far, **distance)
    back = tuple(k / 10 for k in range(10))
    yield from crossed("haystack", "passkey", "accuracy", length=lengths, depth=back, **distance)

    yield from by_depth("kv-query", ("last", "both", "first"), far)

    queries = ("last", "both")
    records = {"axis": "records", "at": (1, 2, 75, 140, 300), "length": _lost_at}
    yield from crossed(
        "lost-in-the-middle",
        queries,
        "accuracy",
        **records,
        depth=lambda row: (0, 0.5, 1) if row["at"] > 1 else 0,
    )
    yield from crossed(
        "lost-in-the-middle", queries, "guess", **records, value=lambda row: 1 / row["at"]
    )

    shown = {"axis": "documents", "at": (5, 10, 20), "length": lambda row: 120 * row["at"]}
    every = {"depth": (0, 0.25, 0.5, 0.75, 1)}
    yield from crossed("multidoc-qa", queries, "accuracy", **shown, **every)
    for protocol, several in ("oracle", 1), ("closed_book", 0):
        shown = {"axis": "documents", "at": several, "length": 150}
        yield from crossed("multidoc-qa", protocol, "accuracy", **shown)

    every = {"axis": "index", "at": lambda row: tuple(range(row["length"] // 2 - 1))}
    yield from crossed("kv-serial", "records", "accuracy", length=(L, 2 * L), **every)
    yield from crossed(
        "kv-serial",
        "records",
        "guess",
        length=(L, 2 * L),
        value=lambda row: 1 / (row["length"] // 2 - 1),
    )

    place = {"axis": "position", "at": tuple(2 ** (k / 4) for k in range(37))}
    yield from crossed("nll-position", ("full", "windowed"), "nll", length=8 * L, **place)
    yield from crossed("context-gain", "full", "gain", length=lengths)
    yield from crossed("context-gain", ("crop", "window"), "gain", length=lengths[1:])
    yield from crossed("repeat", "nonrepeated", "accuracy", length=lengths)
    yield from crossed("repeat", "later", "accuracy", length=lengths[1:])

    symbols = {"axis": "symbols", "at": (5, 10, 15, 20, 25, 30, 40, 60, 80)}
    for protocol, chance in ALGORITHMS.items():
        task = "algorithmic", protocol
        yield from crossed(*task, "accuracy", **symbols, length=lambda row: 2 * row["at"] + 2)
        yield from crossed(*task, "chance", **symbols, value=chance)
        yield from crossed(*task, "gate", value=0.95, n=4 * TRIALS)


def suite_rows(scheme, seed=0):
    """The rows of the suite for one run."""
    return [*measured(_suite(), identity(scheme, seed))]


def suite_study(schemes=("rope", "alibi", "learned"), seeds=(0, 1)):
    """Everything that is measured of these schemes."""
    return [
        row
        for scheme in schemes
        for seed in seeds
        for row in run_rows(scheme, seed) + suite_rows(scheme, seed)
    ]


def _chains():
    """The places of tasks on records and their figures' other columns."""
    for task, protocols, metric in (
        ("nth", ("start", "end"), "accuracy"),
        ("trace", ("hops-1", "hops-2", "hops-4"), "accuracy"),
        ("trace-written", ("written-1", "written-4"), "accuracy"),
        ("alias", ("literal", "one-hop", "two-hops"), "accuracy"),
        ("recall", ("recall", "span"), "recall"),
        ("sinks", ("padded", "padded-first", "padded-other"), "accuracy"),
    ):
        yield from by_depth(task, protocols, (1, 2, 4), metric)
    lengths = (L // 2, L, 2 * L, 4 * L)
    kinds = ("majority", "first-half", "count")
    yield from crossed("aggregate", kinds, "accuracy", length=lengths)
    yield from crossed("long-loss", ("all", "match", "own"), "nll", length=lengths)


def chain_rows(schemes=("alibi", "rope")):
    """Tasks on records; one scheme never learned long chains."""
    mqar = crossed("mqar", ("pairs-2", "pairs-8"), "accuracy", length=(L, 4 * L))
    mqar += crossed("mqar", "", "chance", value=CHANCE)
    for scheme in schemes:
        run = identity(scheme)
        for found in measured(_chains(), run):
            failed = scheme == "alibi" and found.get("protocol") == "hops-4"
            yield found | ({"status": "not trained"} if failed else {})
        for params in (10_000, 40_000):
            yield from measured(mqar, run | {"run": f"{run['run']}-{params}", "params": params})


def speed_rows(schemes=("rope", "alibi"), seeds=(0,)):
    for rank, scheme in enumerate(schemes, 1):
        lengths = (L, 4 * L) if scheme != "learned" else L
        kept = crossed("speed", "train", "bytes_per_token", length=lengths, value=13000.0 * rank)
        for seed in seeds:
            run = identity(scheme, seed)
            yield from (run | row(**place) for place in kept)
            for protocol, speed in ("read", 4e6), ("train", 1e6):
                for place in crossed("speed", protocol, "tokens_per_second", length=lengths):
                    value = speed / place["length"] / rank + seed
                    yield run | row(**place, **around(value, 0.1 * value, 0.2 * value))


def _influence(protocol, length):
    """A few records, keys and values, between the first token and the last."""
    step = 2 * max(1, length // 32)
    records = {at for first in range(1, length - 2, step) for at in (first, first + 1)}
    at = tuple(sorted({0, *records, length - 1}))
    return crossed("diagnostics", protocol, "influence", length=length, axis="position", at=at)


def _state(protocol, length):
    task, keys = ("diagnostics", protocol), {"axis": "key", "at": tuple(range(16))}
    powers = tuple(2**i for i in range(length.bit_length() - 1))
    slots = tuple(round(k / (SLOTS - 1) * (length // 2 - 2)) for k in range(SLOTS))
    slots, distances = {"axis": "slot", "at": slots}, (0, *powers, length - 1)
    of = {"length": length}
    yield from crossed(*task, "cosine", **of, layer=LAYERS)
    yield from crossed(*task, "mass", **of, **keys, layer=LAYERS)
    yield from crossed(*task, "mass_uniform", **of, **keys)
    yield from crossed(*task, "entropy", **of, axis="keys", at=(*powers[1:], length), layer=LAYERS)
    yield from crossed(*task, "slot_mass_uniform", **of, value=2 / length)
    yield from crossed(*task, "slot_mass", **of, **slots, layer=(None, 0))
    yield from crossed(*task, "calibrated", **of, **slots)
    within = {"axis": "distance", "at": distances, "value": lambda row: (row["at"] + 1) / length}
    yield from crossed(*task, "gradient", **of, **within)
    yield from _influence(protocol, length)


def _inside(scheme):
    """The places of the task diagnostics."""
    for state in ("trained", "untrained"):
        for length in (L, 4 * L):
            yield from _state(f"{state}_records", length)
        if scheme in BIASED:
            yield from crossed(
                "diagnostics",
                state,
                "bias",
                **{"length": 4 * L, "layer": LAYERS, "head": HEADS, "axis": "distance"},
                at=(0, *(2**i for i in range(8))),
                value=lambda row: -row["at"] * 2.0 ** -(2 * row["head"] + 2),
            )
    for layers in (1, 2, 4, 8):
        yield from _influence(f"untrained_{layers}_layers", L)
    if scheme not in BIASED:
        yield from _influence("untrained_unmasked", L)


def inside_rows(
    schemes=("rope", "alibi", "kerple-log", "nope"),
    data=("retrieval", "retrieval-ends"),
    seeds=(0,),
):
    """Rows of the task diagnostics of runs on several data; nope did not learn retrieval."""
    for scheme in schemes:
        for name in data:
            for seed in seeds:
                settings = f"{len(name):08x}"
                run = identity(scheme, seed, name, settings=settings)
                run["run"] = f"{scheme}-{settings}-s{seed}"
                for found in measured(_inside(scheme), run):
                    failed = scheme == "nope" and found["protocol"] == "trained_records"
                    yield found | {"status": "not trained" if failed else "ok"}
