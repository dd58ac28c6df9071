"""Contract checks a component is excused from: {(name, check): reason}. Strict: an excuse that is
not needed fails.
"""

from extrap.audit import contracts
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

EXCUSED_EXTENSIONS: dict[tuple[str, str], str] = {
    ("direct", "outside"): "changes nothing: the baseline",
    ("rerope", "inside"): "distances past w = L / 2 are others than in training",
    ("rerope-log-n", "inside"): "distances past w = L / 2 are others than in training",
    ("leaky-rerope", "inside"): "distances past w = L / 4 are others than in training",
    ("self-extend", "inside"): "distances past W = L / 2 are others than in training",
    ("string", "inside"): "made for texts within L: distances past S = L / 3 are others",
    ("dual-chunk", "inside"): "pairs of different chunks meet at other distances",
    ("drope", "inside"): "positions are dropped; tuning at L follows",
    ("clipped-rope", "inside"): "slow pairs stand still in short texts as well",
    ("clipped-rope-hard", "inside"): "slow pairs stand still in short texts as well",
    ("layer-factors", "inside"): "made for texts within L: distances are divided there",
    ("jet-long", "prefix"): "far keys lie in groups of T / L",
    ("wave-prune", "inside"): "fast pairs turn more than once within L",
    ("ms-poe", "inside"): "made for texts within L: heads are interpolated there",
    ("ms-poe", "prefix"): "heads are ranked by what the last query reads",
    ("randomised-stride", "inside"): "another choice among the trained positions",
    ("randomised-sampled", "inside"): "another choice among the trained positions",
    ("bias-interpolation", "prefix"): "distances are divided by T / L",
    ("learned-interpolate", "prefix"): "a longer text is squeezed more",
    ("crop", "prefix"): "windows are laid from the end of the text",
    ("nbce", "prefix"): "contexts are laid from the end of the text",
    ("parallel-windows", "prefix"): "windows are laid from the end of the text",
    ("pi-adaptive", "prefix"): "coordinates are divided by T / L",
    ("ntk-dynamic", "prefix"): "frequencies follow T / L; mode=row follows each query",
    ("yarn-dynamic", "prefix"): "frequencies and temperature follow T / L",
}
SLOWED = ["pi", "pi-pair", "pose", "pose-yarn", "end-prompt", "randomised-yarn", "ntk", "llama3"]
SLOWED += ["ntk-by-parts"]
SLOWED += ["yarn", "yarn-all-layers", "yarn-turns", "ntk-su-old", "ntk-su-fixed", "ntk-su-mixed"]
SLOWED += ["ntk-log-n", "ntk-su-old-log-n", "ntk-su-fixed-log-n", "ntk-su-mixed-log-n"]
EXCUSED_EXTENSIONS |= {
    (name, "inside"): "a fixed factor slows the pairs in short texts as well" for name in SLOWED
}
"""{(extension, check): reason} of tests/contracts/test_extensions.py: by design, on some or all
schemes that it takes.
"""

EXCUSED_PAIRS: dict[tuple[str, str, str], str] = {
    ("crop", "chunked-nope", "outside"): (
        "3 L are whole chunks, and so are its crops; other lengths differ: test_crop_window.py"
    )
}
"""{(extension, scheme, check): reason}: on this scheme alone."""
