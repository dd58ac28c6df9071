"""`extrap-compare STUDY A B [C ...]`: paired differences A - B, A - C, ... on the same documents, trials and seeds, with 95 % intervals."""

import argparse
import re
import sys
from itertools import chain
from pathlib import Path

from extrap.results.comparison.cells import Cell, items, opened
from extrap.results.comparison.contrasts import Contrast, adjusted, contrasts
from extrap.utils.errors import UserError
from extrap.results.rows import open_study, studies
from extrap.results.series import Series

METHOD = "95 % intervals: one seed, bootstrap over items; 2 to 9, Student's t over seeds; from 10 on, bootstrap over seeds and items"
FACTOR = re.compile(r"(?<=\w)x[\d.]+$")
HEADER = ("task", "protocol", "length", "metric", "A", "B", "A - B", "low", "high", "seeds", "items", "p")


def main(argv: list[str] | None = None) -> None:
    """The command. A mistake is one line on stderr and exit code 2."""
    parser = argparse.ArgumentParser("extrap-compare", description="Paired differences between schemes of a study, with 95 % intervals.")
    parser.add_argument("study", metavar="STUDY", nargs="?", help="name of a folder in results")
    parser.add_argument(
        "names", metavar="SERIES", nargs="*", help="two or more, such as rope alibi rope+yarn; the first is compared to each"
    )
    parser.add_argument("--cell", action="append", default=[], metavar="WORDS", help='cells that are tested, such as "kv records 256" or '
                        '"nll sliding"; Holm then adjusts over all of them (may be given again)')  # fmt: skip
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="DIR", help="folder of the studies (default: results)")
    asked = parser.parse_args(argv)
    try:
        if asked.study is None:
            raise UserError(f"STUDY is missing; studies in {asked.results}: {', '.join(studies(asked.results)) or 'none yet'}")
        print(text(asked.results, asked.study, asked.names, asked.cell))
    except UserError as error:
        print(f"extrap-compare: {error}", file=sys.stderr)
        raise SystemExit(2) from None


def text(results: Path, study: str, names: list[str], declared: list[str]) -> str:
    """A table per pair. Items that are not on this disk are told in one line on stderr; differences then rest on seeds alone."""
    open_study(results, study)
    chosen = choose(opened(results / study), names)
    scores, lacking = zip(*(items(results / study, s) for s in chosen), strict=True)
    if tasks := sorted(set(chain(*lacking))):
        print(f"extrap-compare: {_missing(study, chosen, tasks)}", file=sys.stderr)
    pairs = [contrasts(chosen[0], other, scores[0], theirs) for other, theirs in zip(chosen[1:], scores[1:], strict=True)]
    if tasks := sorted({c.cell.task for c in chain(*pairs) if c.unlike}):
        print(f"extrap-compare: {_unlike(tasks)}", file=sys.stderr)
    pairs = adjusted(_declared(pairs, declared), together=bool(declared))
    lines = [f"Study {study}, paired by seed and by item. {METHOD}{_adjusting(pairs, bool(declared))}"]
    for other, pair in zip(chosen[1:], pairs, strict=True):
        lines += ["", f"A = {chosen[0].label}, B = {other.label}", *map(_untrained, (chosen[0], other)), *_table(pair)]
    return "\n".join(line for line in lines if line is not None)


def choose(known: list[Series], names: list[str]) -> list[Series]:
    """The series of these names: labels as tables have them, spaces left out; a factor may be left out where it is the only one.

    Raises UserError, listing the known names, for fewer than two, for one given twice, and for unknown and ambiguous ones.
    """
    spelled = {s.label.replace(" ", ""): s for s in known}
    listed = f"series of this study: {', '.join(spelled)}"
    if len(names) < 2 or len(set(names)) < len(names):
        raise UserError(f"SERIES={','.join(names)}: two or more different ones are compared; {listed}")
    found = []
    for name in names:
        short = name.replace(" ", "")
        fitting = [s for label, s in spelled.items() if short in (label, FACTOR.sub("", label))]
        if len(fitting) != 1:
            raise UserError(f"SERIES={name}: {'several factors have this name' if fitting else 'no such series'}; {listed}")
        found += fitting
    return found


def _declared(pairs: list[list[Contrast]], declared: list[str]) -> list[list[Contrast]]:
    """Raises UserError for a declared cell that is none: it would be missed from the family over which p is adjusted."""
    cells = dict.fromkeys(contrast.cell for contrast in chain(*pairs))
    for words in declared:
        if not words.split() or not any(_fits(words, cell) for cell in cells):
            raise UserError(f"--cell={words}: no such cell; cells are {', '.join(map(str, cells))}")
    return [[c for c in pair if not declared or any(_fits(words, c.cell) for words in declared)] for pair in pairs]


def _fits(words: str, cell: Cell) -> bool:
    return set(words.split()) <= {str(part) for part in cell}


def _adjusting(pairs: list[list[Contrast]], declared: bool) -> str:
    """What p is adjusted for, and that it is not where several cells are shown and none was declared."""
    count = sum(map(len, pairs)) if declared else len(pairs)
    if declared or max(map(len, pairs)) == 1:
        return f"; p adjusted by Holm over {count} contrasts" if count > 1 else ""
    said = f"adjusted by Holm over {count} contrasts in each cell, not over cells" if count > 1 else "of each cell by itself"
    return f"; p {said}: declare cells with --cell to adjust over them"


def _unlike(tasks: list[str]) -> str:
    return (
        f"not paired by item: {', '.join(tasks)}; the runs were asked different questions (other task options, vocabulary or text), so "
        "differences there rest on seeds alone"
    )


def _missing(study: str, chosen: list[Series], tasks: list[str]) -> str:
    schemes, extensions = (",".join(dict.fromkeys(names)) for names in zip(*((s.scheme, s.extension) for s in chosen), strict=True))
    words = f"study={study} scheme={schemes}" + (f" extension={extensions}" if extensions != "direct" else "")
    return (
        f"scores of single items ({', '.join(tasks)}) are not committed and not here, so one seed alone has no interval; "
        f"`extrap -m {words}` makes them, after `extrap-clean {study} --rows` where the runs are on this disk"
    )


def _untrained(s: Series) -> str | None:
    """Protocols are named where they are not all of the task."""
    failed, said = s.rows[s.rows["mark"] != "ok"], []
    for (task, mark), part in failed.groupby(["task", "mark"]):
        every, these = ({*rows["protocol"]} - {""} for rows in (s.rows[s.rows["task"] == task], part))
        which = f" {', '.join(sorted(these))}" if these < every else ""
        said.append(f"{task}{which} seed {', '.join(map(str, sorted(part['seed'].unique())))} {mark}")
    return f"{s.label}: {', '.join(said)}; no statement about length rests on these" if said else None


def _table(pair: list[Contrast]) -> list[str]:
    if not pair:
        return ["none of the cells that were declared is of both"]
    lines = [HEADER]
    for cell, a, b, d, p, _ in pair:
        numbers = ("-" if x is None else f"{x:.4f}" for x in (a, b, d.value, d.low, d.high))
        lines.append((cell.task, cell.protocol, str(cell.length or ""), cell.metric, *numbers, str(d.seeds), str(d.items or "-"),
                      "-" if p is None else f"{p:.3f}"))  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    justify = [str.ljust if name in ("task", "protocol", "metric") else str.rjust for name in HEADER]
    return ["  ".join(j(cell, w) for j, cell, w in zip(justify, line, widths, strict=True)).rstrip() for line in lines]


if __name__ == "__main__":
    main()
