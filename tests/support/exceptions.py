"""Contract checks a component is excused from: {(name, check): reason}. Strict: an excuse that is
not needed fails.
"""

from extrap.audit import contracts, extension_contracts
from tests.support.discover import calls, names, node

SHIFT, PREFIX = "shift_invariance_is_what_the_card_says", "prefix_consistency"
CHECKS = {"shifted": SHIFT, "prefix": PREFIX}
"""By contract: its check."""
EXCUSED: dict[tuple[str, str], str] = {}
"""Of extrap.audit.contracts, by choice: every one that has the part is excused."""
for name in names("scheme"):
    classes = {call["_target_"] for _, call in calls(node("scheme", name))}
    for (part, contract), reason in contracts.EXCUSED.items():
        if f"{part.__module__}.{part.__name__}" in classes:
            EXCUSED[name, CHECKS[contract]] = reason

WITHOUT_SOURCE: dict[str, str] = {
    "raw-index": "the naive baseline of every survey; no paper of its own",
    "raw-index-channel": "as raw-index",
    "raw-index-random": "as raw-index",
    "crop": "the baseline of every method that claims to use more",
    "direct": "changes nothing",
    "pi-pair": "a probe of our own",
}
"""Schemes and extensions of conf that name no source."""

MEASURED_BEFORE: dict[str, str] = {
    "nth": "committed rows are of even places, where mark and slot give the answer away"
}
"""Tasks whose committed rows are about other questions than the task asks now."""

NOT_DRAWN: dict[str, str] = {
    "diagnostics": "asks for more than logits; its inputs have a line",
    "heads": "reads inputs of diagnostics",
    "rotary": "reads inputs of diagnostics",
    "needle": "asks for more than logits; its forms have a line",
    "parity": "reads what an engine reads; no rows of it are committed",
    "speed": "measures time, on tokens without a meaning",
}
"""Tasks that have no line of their own in tests/support/draws.json."""

FETCHED: dict[str, str] = {
    "gemma": "its checkpoint is 253 MB to fetch",
    "pretrained": "its checkpoint is 98 MB to fetch",
    "grid-text": "its text is given on the command line",
    "within": "its checkpoint is 98 MB to fetch",
    "within-control": "its checkpoint is 98 MB to fetch",
    "prose": "its text takes a minute to gather: tests/data/test_prose.py",
}
"""Experiments of which no job can be made in a test."""

RUNNING: dict[str, str] = {
    "reference-gpu-short": "declared, waits for a GPU",
}
"""Studies with jobs that are not measured yet."""

EXCUSED_EXTENSIONS = extension_contracts.EXCUSED
"""{(extension, check): reason} of tests/contracts/test_extensions.py: by design, on some or all
schemes that it takes.
"""

EXCUSED_PAIRS: dict[tuple[str, str, str], str] = {
    ("crop", "chunked-nope", "outside"): (
        "3 L are whole chunks, and so are its crops; other lengths differ: test_crop_window.py"
    )
}
"""{(extension, scheme, check): reason}: on this scheme alone."""
