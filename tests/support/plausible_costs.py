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


PROTOCOLS = {
    "nth": ("start", "end"),
    "trace": ("hops-1", "hops-2", "hops-4"),
    "trace-written": ("written-1", "written-4"),
    "alias": ("literal", "one-hop", "two-hops"),
    "recall": ("recall", "span"),
    "sinks": ("padded", "padded-first", "padded-other"),
}


def chain_rows(schemes=("alibi", "rope")):
    """Tasks on records and their figures' other columns; one scheme never learned long chains."""
    for scheme in schemes:
        run = identity(scheme)
        for task, protocols in PROTOCOLS.items():
            eases = {name: 0.1 + 0.2 * k for k, name in enumerate(protocols)}
            for found in grid(task, eases, (1, 2, 4), scheme, 0):
                failed = scheme == "alibi" and found.get("protocol") == "hops-4"
                metric = "recall" if task == "recall" else "accuracy"
                found |= {"metric": found["metric"].replace("accuracy", metric)}
                yield run | found | {"status": "not trained" if failed else "ok"}
        for m in (0.5, 1, 2, 4):
            for kind in ("majority", "first-half", "count"):
                yield run | row("aggregate", kind, int(m * L), "accuracy", **rate(1 - 0.2 * m))
            for protocol in ("all", "match", "own"):
                nll = around(2 - 0.1 * m, 0.1) | {"n": 64, "tokens": 900}
                yield run | row("long-loss", protocol, int(m * L), "nll", **nll)
        for params in (10_000, 40_000):
            wider = run | {"run": f"{run['run']}-{params}", "params": params}
            for pairs, m in ((2, 1), (2, 4), (8, 1), (8, 4)):
                right = rate(1 - 500 * pairs * m / params)
                yield wider | row("mqar", f"pairs-{pairs}", m * L, "accuracy", **right)
            yield wider | row("mqar", "", None, "chance", 1 / 64)
