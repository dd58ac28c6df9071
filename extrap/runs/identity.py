"""The hash of a configuration, by which runs and evaluations are named: the same whatever module a
class lies in, and whatever options came later.
"""

import hashlib
import json
from typing import Any


def fingerprint(value: Any) -> str:
    """First 12 hex digits of the SHA-256 of a plain value in canonical JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


LATER = {"temperature": None}
"""Options of extensions that are younger than committed rows, and their values in these rows."""


AGAIN = {
    "ASEntmax": 2,
    "FoPE": 2,
    "GatedDeltaRule": 2,
    "PassedState": 2,
    "SelectiveRoPE": 2,
    "LMInfinite": 2,
}
"""Classes that compute something else than before under the same options, and the version: runs and
evaluations of before keep their names and do not mix with new ones.
"""


def as_before(options: Any) -> Any:
    """Returns the configuration of an extension without the options of LATER at these values, so
    that runs keep their names, and evaluations their hashes.
    """
    if isinstance(options, list):
        return [as_before(one) for one in options]
    if not isinstance(options, dict):
        return options
    kept = {name: x for name, x in options.items() if name not in LATER or x != LATER[name]}
    return {name: as_before(x) for name, x in kept.items()}


def identity_hash(value: Any) -> str:
    """Returns the `fingerprint` of a configuration with classes without their module, so that code
    may move: `extrap.schemes.rope.RoPE` counts as `RoPE`, a class of a plug-in as
    `my_package.RoPE`; one of AGAIN has its version behind it. Class names of extrap are unique
    (tests/contracts/test_class_names.py).
    """
    return fingerprint(_without_modules(value))


def _without_modules(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _without_modules(inner, name) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_without_modules(inner) for inner in value]
    if key != "_target_":
        return value
    package, _, rest = str(value).partition(".")
    name = rest.rpartition(".")[2]
    if package != "extrap":
        return f"{package}.{name}"
    return f"{name} {AGAIN[name]}" if name in AGAIN else name
