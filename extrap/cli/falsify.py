"""`extrap-falsify STUDY`: which expectations of a study of extensions its rows meet, and which they
contradict.

Every expectation is a sentence with a condition that would contradict it, both written down before
the study was run; a verdict is `met`, `contradicted` or `not measured`, with the numbers that
decide. Sources: https://kexue.fm/archives/9708, arXiv 2306.15595, arXiv 2309.00071. A finding that
does not come again is a result.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from extrap.results.extension_study import density
from extrap.results.extension_study.methods import methods, target, title
from extrap.results.rows import open_study
from extrap.results.series import select
from extrap.utils.errors import UserError

LOSS = ("nll", "nll", "last_segment")
COPIES = ("repeat", "accuracy", "later")
RUNNING = ("repeat", "accuracy", "nonrepeated")
GAIN = ("repeat", "gain", "within")
PLACE = ["task", "metric", "protocol", "method", "options", "multiple", "tuned", "set_for"]
UNTUNED = 0.0


class Finding(NamedTuple):
    """What was expected, whether it came so (None: not measured), and the numbers."""

    expected: str
    met: bool | None
    numbers: str


class Study:
    """Means over seeds by method, of the first scheme in the alphabet; numbers that are not there
    are None.
    """

    def __init__(self, rows: pd.DataFrame):
        rows = methods(rows)
        self.target = target(rows)
        rows = select(rows[(rows["parent"] == min(rows["parent"])) & ~rows["log_n"]]).fillna(
            {"tuned": UNTUNED}
        )
        means = rows.groupby([*PLACE, "seed"])["value"].mean()
        self.found = {place: part.droplevel(PLACE) for place, part in means.groupby(PLACE)}

    def runs(
        self,
        asked: tuple,
        method: str,
        multiple: float,
        tuned=UNTUNED,
        factor: float | None = None,
        options: str = "",
    ) -> pd.Series:
        """Value by seed."""
        factors = (self.target if factor is None else factor, 1.0)
        places = ((*asked, method, options, multiple, tuned, factor) for factor in factors)
        return next(
            (self.found[place] for place in places if place in self.found), pd.Series(dtype=float)
        )

    def one(self, *asked, **more) -> float | None:
        found = self.runs(*asked, **more)
        return float(found.mean()) if len(found) else None

    def compare(self, expected: str, test: Callable[..., bool], **values: float | None) -> Finding:
        numbers = ", ".join(
            f"{name.replace('_', ' ')} {'-' if value is None else f'{value:.3f}'}"
            for name, value in values.items()
        )
        return Finding(
            expected, None if None in values.values() else test(*values.values()), numbers
        )


def findings(rows: pd.DataFrame) -> Iterator[Finding]:
    """In the order of the sources."""
    s = Study(rows)
    far = s.target
    text, copies = (lambda m: s.one(RUNNING, m, far)), (lambda m: s.one(COPIES, m, far))
    within = s.one(RUNNING, "direct", 1.0)
    yield s.compare(
        "the plain model copies text within L, or repeated columns say nothing",
        lambda g: g > 0,
        gain=s.one(GAIN, "direct", 1.0),
    )
    ladder = ("direct", "ntk", "rerope")
    for name, of in (("running text", text), ("later copies", copies)):
        values = {title(m): of(m) for m in ladder}
        yield s.compare(
            f"{name} at {far:g}x: plain < NTK < ReRoPE in accuracy",
            lambda a, b, c: a < b < c,
            **values,
        )
        yield s.compare(
            f"{name} at {far:g}x: untuned PI is no better than NTK",
            lambda a, b: a <= b,
            PI=of("pi"),
            NTK=of("ntk"),
        )
        yield s.compare(
            f"{name} at {far:g}x: ReRoPE at L/2 is no worse than NTK",
            lambda a, b: a >= b,
            ReRoPE=of("rerope"),
            NTK=of("ntk"),
        )
    yield s.compare(
        "ReRoPE loses at most 3 points on running text against 1x",
        lambda a, b: a >= b - 0.03,
        ReRoPE=text("rerope"),
        within=within,
    )
    L = int(rows["train_length"].min())
    collapse = s.one(RUNNING, "rerope", far, options=f"width={L}")
    yield s.compare(
        "ReRoPE collapses at w = L", lambda a, b: a < b - 0.1, w_L=collapse, w_half=text("rerope")
    )
    yield s.compare(
        "later copies under NTK beat running text within L",
        lambda a, b: a > b,
        NTK=copies("ntk"),
        within=within,
    )
    loss = {m: s.one(LOSS, "direct", m) for m in (1.0, 2.0)}
    yield s.compare(
        "plain RoPE fails between 1x and 2x (by over 0.2 nats)",
        lambda a, b: b > a + 0.2,
        at_1x=loss[1.0],
        at_2x=loss[2.0],
    )
    inside = {f"x{f:g}": s.one(LOSS, "pi", 1.0, factor=f) for f in (2.0, 4.0, 8.0)}
    yield s.compare(
        "untuned PI is worse inside L, and the worse the greater its factor",
        lambda p, a, b, c: p < a < b < c,
        plain=loss[1.0],
        **inside,
    )
    untuned = {title(m): s.one(LOSS, m, far) for m in ("pi", "ntk", "yarn", "direct")}
    yield s.compare(
        f"untuned NTK is first or second of these at {far:g}x",
        lambda *v: sorted(v).index(v[1]) < 2,
        **untuned,
    )
    tuned = {title(m): s.one(LOSS, m, far, tuned=far) for m in ("pi", "ntk", "yarn")}
    yield s.compare(
        "after tuning PI and YaRN are no worse than NTK", lambda p, n, y: max(p, y) <= n, **tuned
    )
    yield _reversed(s, far)
    ends = {
        f"at_{m:g}x": s.one(LOSS, "pi", m, tuned=far / 2, factor=far / 2) for m in (far / 2, far)
    }
    yield s.compare(
        "PI tuned for s fails past s L (by over 0.2 nats)", lambda a, b: b > a + 0.2, **ends
    )


def _reversed(s: Study, far: float) -> Finding:
    """The falsifier of arXiv 2306.15595 as it stands: over single seeds."""
    after = [s.runs(LOSS, m, far, tuned=far) for m in ("pi", "ntk")]
    both = after[0].index.intersection(after[1].index)
    if both.empty:
        return Finding("tuned PI beats tuned NTK in most seeds", None, "-")
    won = int((after[0][both] < after[1][both]).sum())
    return Finding(
        "tuned PI beats tuned NTK in most seeds", 2 * won > len(both), f"{won} of {len(both)} seeds"
    )


def text(rows: pd.DataFrame) -> str:
    """One line per expectation, then the density limits."""
    said = {True: "met", False: "CONTRADICTED", None: "not measured"}
    lines = [f"{said[f.met]:13} {f.expected}: {f.numbers}" for f in findings(rows)]
    if rows["extension"].str.startswith("pi-pair").any():
        lines += [
            "",
            (
                f"Greatest k within L that costs less than {density.ALLOWED['nll']} nats, "
                f"{density.ALLOWED['accuracy']:.0%} of answers"
            ),
        ]
        lines += [f"{name:13} {limit}" for name, limit in density.least(rows).items()]
    return "\n".join(lines)


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser(
        "extrap-falsify", description="Compare a study of extensions with what was expected of it."
    )
    parser.add_argument("study", metavar="STUDY", help="name of a folder in results")
    parser.add_argument(
        "--results",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder of the studies (default: results)",
    )
    asked = parser.parse_args(argv)
    try:
        print(text(open_study(asked.results, asked.study)))
    except UserError as error:
        print(f"extrap-falsify: {error}", file=sys.stderr)
        raise SystemExit(2) from None


if __name__ == "__main__":
    main()
