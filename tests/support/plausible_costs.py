"""Plausible rows of what schemes cost, and of tasks on records that no other rows have."""

from tests.support.plausible import L, around, identity, rate, row
from tests.support.plausible_suite import grid


def speed_rows(schemes=("rope", "alibi"), seeds=(0,)):
    for rank, scheme in enumerate(schemes, 1):
        for seed in seeds:
            for n in (L, 4 * L) if scheme != "learned" else (L,):
                for protocol, metric, value in (
                    ("read", "tokens_per_second", 4e6 / n / rank + seed),
                    ("train", "tokens_per_second", 1e6 / n / rank + seed),
                    ("train", "bytes_per_token", 13000.0 * rank),
                ):
                    found = row("speed", protocol, n, metric, value, tokens=4096)
                    if metric == "tokens_per_second":
                        found |= {"low": 0.9 * value, "high": 1.2 * value, "n": 7}
                    yield identity(scheme, seed) | found


def chain_rows(schemes=("alibi", "rope")):
    """The n-th record of a key, aliases, aggregation, lists and chains of assignments, the longest
    of which one scheme never learned.
    """
    tasks = {
        "nth": {"start": 0.4, "end": 0.2},
        "trace": {"hops-1": 0.2, "hops-2": 0.5, "hops-4": 0.8},
        "trace-written": {"written-1": 0.05, "written-4": 0.3},
        "alias": {"literal": 0.1, "one-hop": 0.3, "two-hops": 0.6},
    }
    for scheme in schemes:
        run = identity(scheme)
        for task, protocols in tasks.items():
            for found in grid(task, protocols, (1, 2, 4), scheme, 0):
                failed = scheme == "alibi" and found.get("protocol") == "hops-4"
                yield run | found | {"status": "not trained" if failed else "ok"}
        for kind, slope in (("majority", 0.1), ("first-half", 0.15), ("count", 0.3)):
            for m in (0.5, 1, 2, 4):
                right = rate(0.98 - slope * max(0, m - 1) / 2)
                yield run | row("aggregate", kind, int(m * L), "accuracy", **right)
        for found in grid("recall", {"recall": 0.3, "span": 0.1}, (1, 2, 4), scheme, 0):
            yield run | found | {"metric": found["metric"].replace("accuracy", "recall")}
        for protocol, start, fall in (("all", 1.9, 0.1), ("match", 1.5, 0.5), ("own", 2.9, 1.2)):
            for m in (0.5, 1, 2, 4):
                loss = start - fall * m / 2 if scheme == "alibi" or m <= 1 else start + 0.2 * m
                nll = around(loss, 0.1) | {"n": 64, "tokens": 900}
                yield run | row("long-loss", protocol, int(m * L), "nll", **nll)
        readings = {"padded": 0.2, "padded-first": 0.4, "padded-other": 0.2}
        for found in grid("sinks", readings, (1, 2), scheme, 0):
            yield run | found
        for params in (10_000, 40_000):
            wider = run | {"run": f"{run['run']}-{params}", "params": params}
            for pairs, m in ((2, 1), (2, 4), (8, 1), (8, 4)):
                right = rate(1 - 500 * pairs * m / params)
                yield wider | row("mqar", f"pairs-{pairs}", m * L, "accuracy", **right)
            yield wider | row("mqar", "", None, "chance", 1 / 64)
