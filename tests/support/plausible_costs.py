"""Plausible rows of what schemes and fine-tuning cost: speed, and passkeys after some steps of
tuning.
"""

from tests.support.plausible import L, run_rows
from tests.support.plausible_suite import IDENTITY, grid, rate


def speed_rows(schemes=("rope", "alibi"), seeds=(0,)):
    for rank, scheme in enumerate(schemes, 1):
        for seed in seeds:
            identity = {name: run_rows(scheme, seed)[0][name] for name in IDENTITY}
            for n in (L, 4 * L) if scheme != "learned" else (L,):
                for protocol, metric, value in (
                    ("read", "tokens_per_second", 4e6 / n / rank + seed),
                    ("train", "tokens_per_second", 1e6 / n / rank + seed),
                    ("train", "bytes_per_token", 13000.0 * rank),
                ):
                    where = {
                        "task": "speed",
                        "protocol": protocol,
                        "length": n,
                        "metric": metric,
                        "value": value,
                        "status": "ok",
                    }
                    bounds = (
                        {"low": 0.9 * value, "high": 1.2 * value, "n": 7}
                        if metric == "tokens_per_second"
                        else {}
                    )
                    yield identity | where | bounds | {"tokens": 4096}


def passkey_rows(seeds=(0, 1)):
    """PI and YaRN untuned and after 50 and 100 steps, for 8 times the training length; one run for
    2 times that is not shown.
    """
    for seed in seeds:
        plain = {name: run_rows("rope", seed)[0][name] for name in IDENTITY}
        for method, start in (("pi", 10), ("yarn", 200)):
            yield from k_max(
                plain | {"extension": method, "factor": 8.0, "config": method}, start + seed
            )
            for steps, label in ((50, "rope-full-steps-50-{}-x8"), (100, "rope-full-{}-x8")):
                name = label.format(method)
                tuned = plain | {
                    "scheme": name,
                    "run": f"{name}-cafe0123-s{seed}",
                    "extension": method,
                    "factor": 8.0,
                    "config": name,
                }
                yield from k_max(tuned, start + 2 * steps + seed)
                for at in (steps // 2, steps):
                    yield tuned | {
                        "extension": "direct",
                        "factor": 1.0,
                        "task": "train",
                        "protocol": "text",
                        "axis": "step",
                        "at": at,
                        "metric": "nll",
                        "value": 2.0,
                        "status": "ok",
                    }
        other = plain | {
            "scheme": "rope-full-pi-x2",
            "run": f"rope-full-pi-x2-cafe0123-s{seed}",
            "extension": "pi",
            "factor": 2.0,
        }
        yield from k_max(other, 99)


def k_max(identity, value):
    for n in (L, 8 * L):
        where = {
            "task": "haystack",
            "protocol": "passkey",
            "length": n,
            "metric": "k_max",
            "n": 10,
            "status": "ok",
        }
        yield identity | where | {"value": value if n > L else L - 2}


def query_rows(schemes=("alibi", "rope"), seeds=(0,)):
    """The forms of the query, asked of a base and of what it was tuned to; the base never learned
    the query in front.
    """
    learned = {"": ("last",), "last": ("last",), "both": ("last", "both"), "first": ("first",)}
    for scheme in schemes:
        for seed in seeds:
            plain = {name: run_rows(scheme, seed)[0][name] for name in IDENTITY}
            for rank, (form, knows) in enumerate(learned.items()):
                label = f"{scheme}-full-steps-1000-query-{form}-direct-x1" if form else scheme
                identity = plain | {"scheme": label, "run": f"{label}-cafe0123-s{seed}"}
                for protocol in ("last", "both", "first"):
                    more = {"status": "ok" if protocol in knows else "not trained"}
                    for row in grid(
                        "kv-query", {protocol: 0.2 * (1 + rank)}, (1, 2, 4), scheme, seed, **more
                    ):
                        yield (
                            identity
                            | row
                            | ({"protocol": protocol} if row["metric"] == "chance" else {})
                        )


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
        identity = {name: run_rows(scheme, 0)[0][name] for name in IDENTITY}
        for task, protocols in tasks.items():
            for row in grid(task, protocols, (1, 2, 4), scheme, 0):
                failed = scheme == "alibi" and row.get("protocol") == "hops-4"
                yield identity | row | {"status": "not trained" if failed else "ok"}
        for kind, slope in (("majority", 0.1), ("first-half", 0.15), ("count", 0.3)):
            for m in (0.5, 1, 2, 4):
                where = {"task": "aggregate", "protocol": kind, "length": int(m * L)}
                accuracy = {"metric": "accuracy"} | rate(0.98 - slope * max(0, m - 1) / 2)
                yield identity | where | accuracy | {"status": "ok"}
        for row in grid("recall", {"recall": 0.3, "span": 0.1}, (1, 2, 4), scheme, 0):
            named = {"metric": row["metric"].replace("accuracy", "recall")}
            yield identity | row | named | {"status": "ok"}
        for protocol, start, fall in (("all", 1.9, 0.1), ("match", 1.5, 0.5), ("own", 2.9, 1.2)):
            for m in (0.5, 1, 2, 4):
                loss = start - fall * m / 2 if scheme == "alibi" or m <= 1 else start + 0.2 * m
                where = {"task": "long-loss", "protocol": protocol, "length": int(m * L)}
                bounds = {"low": loss - 0.1, "high": loss + 0.1, "n": 64, "tokens": 900}
                row = {"metric": "nll", "value": loss, "status": "ok"}
                yield identity | where | bounds | row
        readings = {"padded": 0.2, "padded-first": 0.4, "padded-other": 0.2}
        for row in grid("sinks", readings, (1, 2), scheme, 0):
            yield identity | row | {"status": "ok"}
        for params in (10_000, 40_000):
            wider = {"run": f"{identity['run']}-{params}", "params": params, "status": "ok"}
            for pairs, m in ((2, 1), (2, 4), (8, 1), (8, 4)):
                where = {"task": "mqar", "protocol": f"pairs-{pairs}", "length": m * L}
                accuracy = {"metric": "accuracy"} | rate(1 - 500 * pairs * m / params)
                yield identity | where | accuracy | wider
            chance = {"task": "mqar", "metric": "chance", "value": 1 / 64}
            yield identity | chance | wider
