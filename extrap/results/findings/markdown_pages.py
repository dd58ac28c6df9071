"""The pages of findings in Markdown: results/FINDINGS.md and the generated parts of READMEs."""

from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from extrap.results.findings import gallery, numbers
from extrap.results.findings.numbers import Missing
from extrap.results.findings.statement import FILE
from extrap.results.findings.verdict import VERDICTS, Finding, findings
from extrap.results.findings.verdict import table as prepared
from extrap.results.leaderboard import leaderboard, tuned
from extrap.results.places import has_rows, having, place
from extrap.results.rows import open_study, read, studies
from extrap.results.stats.intervals import LEVEL
from extrap.results.stats.paired import benjamini_hochberg, holm
from extrap.utils import markdown
from extrap.utils.errors import UserError
from extrap.utils.untrusted import PAGE, read_text

TABLE = ("statement", "source", "verdict", "effect", "bound")
TABLE = (*TABLE, "seeds or units (runs below the gate)")
README, ALL = "README.md", "FINDINGS.md"
INTRODUCTION = """# Findings

Every statement that was declared of a study, with the verdict of its rows, sorted by study. We
declared a statement before its rows existed, unless its note or the page of its study says
otherwise. Within a study the statements stand in the order in which they were declared, as some go
on from the one before. `make tables` writes this page.

A statement **holds** where all of the 95 % interval lies on the declared side of the bound,
**fails** where all of it lies on the other side, and is **undecided** otherwise. MDE, the minimum
detectable effect, is the distance from the bound that a study with this spread detects in four
cases of five. **By design**: these seeds, or so few schemes, could not have decided it. **Premise
not met**: half or more of the runs had not learned the task, a premise that was added after the
rows, or any had not where the statement asks for all. **Badly put**: the statement does not say
what was meant; its note names the one that follows it.

Intervals cover seeds; for a single quantity (no difference) also documents or trials. A statement
about gates, that seeds learn a task, has the exact interval of the share of seeds that do: three
seeds out of three leave .29 to 1. A rank correlation has an interval over the schemes that it
orders and over the seeds. With one seed intervals cover documents or trials, and two readings count
as independent, because the scores of single documents are not committed. A unit is a recipe, a
training length or a scheme. PROTOCOLS, AUDIT-results and issue 17, which some sources name, are
notes older than this repository.
"""


def declared(results: Path) -> list[str]:
    """Returns the names of the studies that have statements."""
    return [folder.name for folder in having(results, FILE)]


def judged(results: Path, study: str) -> list[Finding]:
    """Judges a study by name; without rows nothing is measured. Raises UserError if unknown."""
    if study not in declared(results):
        listed = f"studies with one: {', '.join(declared(results)) or 'none yet'}"
        raise UserError("STUDY", study, f"no {FILE} of it in {results}", listed)
    folder = place(results, study)
    rows = read(folder) if study in studies(results) else None
    return findings(folder, rows)


def _published(results: Path, study: str) -> list[Finding]:
    """Returns the findings of a study; while its numbers.yaml says that it runs, no verdicts: a
    part of the rows may decide a statement that all of them do not.
    """
    found = judged(results, study)
    given = numbers.read(place(results, study) / numbers.FILE)
    if not given.get("running"):
        return found
    return [Finding(one.statement, "not measured", "the study still runs") for one in found]


def summary(found: list[Finding]) -> str:
    """Counts statements by verdict, a statement and its twin once."""
    many = {"holds": "hold", "fails": "fail"}
    own = [one for one in found if not one.statement.twin]
    counts = []
    for verdict in VERDICTS:
        part = [one for one in own if one.verdict == verdict]
        n = len(part)
        if not n:
            continue
        word = many.get(verdict, verdict) if n > 1 else verdict
        counts.append(f"{n} {word}" + _of_them(part))
    twins = len(found) - len(own)
    said = f", {twins} of them counted with {'its twin' if twins == 1 else 'their twins'}"
    return f"{len(found)} statements{said * bool(twins)}: {', '.join(counts)}."


def _of_them(found: list[Finding]) -> str:
    """Returns how many of the findings of one verdict are badly put, or undecided by design."""
    parts = []
    badly = [one for one in found if one.statement.badly_put]
    design = [one for one in found if one.verdict == "undecided" and one.design]
    if badly:
        parts.append(f"{len(badly)} badly put")
    if design:
        parts.append(f"{len(design)} by design")
    return f" ({', '.join(parts)})" if parts else ""


def survive(found: list[Finding]) -> str:
    """Returns how many verdicts stay if intervals are adjusted for the number of statements.

    Each statement that has an interval counts by the p of its bound, a statement and its twin once.
    """
    own = [one for one in found if not one.statement.twin and np.isfinite(one.p)]
    if not own:
        return ""
    p = np.array([one.p for one in own])
    by_holm = holm(p) <= 1 - LEVEL
    by_rate = benjamini_hochberg(p) <= 1 - LEVEL
    parts = []
    for verdict in ("holds", "fails"):
        of = np.array([one.verdict == verdict for one in own])
        strict = int(by_holm[of].sum())
        loose = int(by_rate[of].sum())
        parts.append(f"of {of.sum()} that {verdict[:-1]}, {strict} survive Holm and {loose}")
    words = " and ".join(f"{part} Benjamini and Hochberg" for part in parts)
    return (
        f"The intervals are not adjusted for the number of statements. Adjusted for all {len(own)} "
        f"statements that have an interval, {words}."
    )


def written(results: Path) -> dict[Path, str]:
    """Returns FINDINGS.md and every page with generated parts, as rows have them today.

    Raises UserError for sentences that do not fit, and where results/README.md is missing.
    """
    if not (results / README).is_file():
        raise UserError(results / README, problem="missing", remedy="write it")
    found = {study: _published(results, study) for study in declared(results)}

    @cache
    def rows(study: str) -> pd.DataFrame:
        if study in found and not has_rows(place(results, study)):
            raise Missing(place(results, study) / FILE, problem="no rows yet")
        return prepared(open_study(results, study))

    def finding(study: str, name: str) -> Finding:
        known = {one.statement.id: one for one in found.get(study, [])}
        if name not in known:
            problem = f"no statement {name}, which a sentence reads"
            raise UserError(place(results, study) / FILE, problem=problem)
        return known[name]

    every = [*chain.from_iterable(found.values())]
    adjusted = survive(every)
    parts = {
        "verdicts": f"{summary(every)} {adjusted}".strip(),
        "leaderboard": _board(results, rows),
        "tuned": _tuned(results, rows),
    }
    sections = [part(study, own) for study, own in found.items()]
    text = "\n".join([INTRODUCTION, f"{adjusted}\n", *sections])
    out = {results / ALL: text}
    for folder in [results.parent, results, *having(results, README)]:
        path = folder / README
        old = read_text(path, PAGE) if path.is_file() else ""
        source = results if folder == results.parent else folder
        new = numbers.filled(old, source, rows, finding)
        own = parts if folder == results else {}
        if folder not in (results, results.parent):
            own = {"declared": _declared(results, folder, found)}
        for name in own:
            if f"<!-- /{name} -->" in new:
                new = markdown.between(new, name, own[name])
        if new != old or "<!-- /" in old:
            out[path] = new
    home = results / gallery.HOME
    if (home / gallery.FILE).is_file():
        out[home / README] = gallery.page(results, rows)
    return out


def part(study: str, found: list[Finding]) -> str:
    """Returns the statements of a study with their verdicts, in Markdown."""
    out = [f"## {study}\n\n{summary(found)}\n"]
    if any(one.verdict != "not measured" for one in found):
        lines = []
        for one in found:
            said = one.statement
            effect = number(one.effect)
            if not np.isnan(one.low):
                effect += f" [{number(one.low)}, {number(one.high)}]"
            verdict = f"**{one.verdict}**"
            extra = "; ".join(filter(None, (reason(one), said.note)))
            if extra:
                verdict += f" ({extra})"
            runs = f"{one.seeds} ({one.below} of {one.runs})" if one.runs else "-"
            lines.append((said.says, said.source, verdict, effect, said.claim, runs))
        out.append(markdown.table([TABLE, *lines]) + "\n")
    return "\n".join(out)


def _declared(results: Path, folder: Path, found: dict[str, list[Finding]]) -> str:
    """What a page says of the declared statements of its study, and of parts without a page."""
    depth = len(folder.relative_to(results).parts)
    up = "/".join([".."] * depth)
    inner = [one for one in having(results, FILE) if one.parent == folder]
    without_page = [one for one in inner if not (one / README).is_file()]
    words = []
    for one in (folder, *without_page):
        if one.name in found:
            link = f"[{one.name}]({up}/{ALL}#{one.name})"
            words.append(f"{link}: {summary(found[one.name])}")
    return "**Declared.** " + " ".join(words)


def _board(results: Path, rows: Callable[[str], pd.DataFrame]) -> str:
    """The leaderboard of the models that results/numbers.yaml names; empty without any."""
    path = results / numbers.FILE
    parts = []
    given = numbers.read(path)
    recipes = rows(given["recipes"]) if "recipes" in given else None
    for one in given.get("models", []):
        of_study = rows(one["study"])
        named = of_study["scheme"].isin(one["scheme"])
        parts.append((of_study[named], one["layers"]))
    if not parts:
        return ""
    return markdown.table(leaderboard(parts, recipes))


def _tuned(results: Path, rows: Callable[[str], pd.DataFrame]) -> str:
    """The leaderboard of schemes under their own recipes; empty where no study is named."""
    given = numbers.read(results / numbers.FILE)
    if "tuned" not in given:
        return ""
    lines = tuned(rows(given["tuned"]))
    return markdown.table(lines)


def number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def reason(one: Finding) -> str:
    said = one.statement
    parts = [one.reason]
    if one.verdict == "undecided" and one.design:
        parts.append(f"by design: {one.design}")
    if said.badly_put:
        parts.append(f"badly put: {said.badly_put}")
    if said.twin:
        parts.append(f"counted with its twin {said.twin}")
    return "; ".join(filter(None, parts))
