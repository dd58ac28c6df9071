"""Every number in the texts about results is written from rows, or is said to be none of theirs."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from extrap.cli.experiments import experiments
from extrap.results.findings import markdown_pages, numbers
from extrap.results.findings.verdict import Finding, table
from extrap.results.places import has_rows
from extrap.results.rows import frame, read
from extrap.utils.errors import UserError
from tests.results.test_verdict import row
from tests.support.exceptions import RUNNING

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "results"
WITHOUT_ROWS = {"LOG.md", "REPEAT.md", "FINDINGS.md"}
"""Numbers of runs that left no rows, as their first lines say; a page that is all generated."""
TEXTS = [ROOT / "README.md", *RESULTS.glob("*.md"), *RESULTS.glob("**/README.md")]
CHECKED = sorted(path for path in TEXTS if path.name not in WITHOUT_ROWS)
PACKAGES = ("results", "findings", "stats", "comparison")
PAGES = (
    "README",
    "README.md",
    "FINDINGS.md",
    *PACKAGES,
    *(path.name for path in RESULTS.iterdir()),
)
"""What pages are written of, as `sample.changed` names it."""

MEASURED = re.compile(
    r"(?<![\w.])[+-]?\d*\.\d+|\b\d+ of \d+\b|\b\d+ ?%|\bhalf (?:of|as)\b"
    r"|\ba (?:third|quarter|tenth) (?:of|as)\b|\b(?:two|three|nine) (?:third|quarter|tenth)s\b"
)
NO_PROSE = re.compile(
    r"```.*?```|`[^`]*`|\]\([^)]*\)|https?://\S+|\b\d{4}\.\d{5}\b|<!-- (\w+) -->.*?<!-- /\1 -->",
    re.DOTALL,
)
"""Code, addresses, papers, generated parts."""


def folder_of(path: Path) -> Path:
    return RESULTS if path.parent == ROOT else path.parent


def unheld(text: str, folder: Path) -> list[str]:
    """Returns measured numbers of a page that no row holds, each with the words before it."""
    path = folder / numbers.FILE
    given = yaml.safe_load(path.read_text()) if path.is_file() else {}
    for allowed in given.get("not_measured", []):
        text = text.replace(allowed, "")
    text = NO_PROSE.sub(" ", text)
    return [text[max(0, m.start() - 40) : m.end()] for m in MEASURED.finditer(text)]


def faults(entry: dict) -> list[str]:
    """Returns numbers outside the braces of a sentence, and what it reads and does not name."""
    says, own = entry["says"], {n: v for n, v in entry.items() if n not in ("says", "each")}
    found = MEASURED.findall(re.sub(r"\{[^{}]*\}", "", says))
    terms = [term for one in entry["each"] for term in one.get("terms", [])]
    for one in [own, *entry["each"], *terms]:
        for name in (one.get(column, "direct") for column in ("scheme", "extension")):
            known = isinstance(name, list) or name == "direct"
            if not known and plain(name.partition(",")[0])[:8] not in plain(says):
                found.append(f"does not name {name}")
    return found


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


@pytest.mark.parametrize(
    "path", sorted(RESULTS.rglob(numbers.FILE)), ids=lambda path: str(path.relative_to(RESULTS))
)
def test_a_sentence_names_what_it_reads_and_holds_no_other_number(path):
    given = yaml.safe_load(path.read_text())
    lists = [entries for name, entries in given.items() if name not in numbers.SHAPE]
    for entry in (one for entries in lists for one in entries):
        if "says" in entry:
            assert not faults(entry), entry["says"]


@pytest.mark.parametrize("path", CHECKED, ids=[str(path.relative_to(ROOT)) for path in CHECKED])
def test_a_page_holds_no_measured_number_outside_its_generated_parts(path):
    assert not unheld(path.read_text(), folder_of(path))


@pytest.mark.turns(*PAGES)
def test_pages_are_those_of_the_rows():
    """Written by `make tables`."""
    for path, text in markdown_pages.written(RESULTS).items():
        assert text == path.read_text(), path


ROWS = table(frame([
    row(scheme, seed, 4, value) for scheme, value in (("rope", 0.34), ("alibi", 0.8))
    for seed in range(3)
]))  # fmt: skip
PAGE = "<!-- found -->\n<!-- /found -->\n"


def sentence(tmp_path: Path, says: str, *each: dict, **own) -> str:
    entry = {"says": says, "each": list(each), "multiple": 4} | own
    given = {"common": {"task": "kv", "metric": "accuracy"}, "found": [entry]}
    (tmp_path / numbers.FILE).write_text(yaml.safe_dump(given))
    lines = numbers.filled(PAGE, tmp_path, lambda study: ROWS, lambda *place: None).splitlines()
    return lines[1].removeprefix("- ")


ROPE, ALIBI = {"scheme": "rope"}, {"scheme": "alibi"}


@pytest.mark.parametrize(
    "says, each, written",
    [
        ("RoPE {}, ALiBi {}", (ROPE, ALIBI), "RoPE .34, ALiBi .80"),
        ("RoPE finds {:%}", (ROPE,), "RoPE finds 34 %"),
        ("RoPE finds {:+.1f}", (ROPE,), "RoPE finds +.3"),
        ("RoPE {:.1f}", (ROPE | {"take": "exp"},), "RoPE 1.4"),
        ("RoPE has {:,.0f}", (ROPE | {"take": "params"},), "RoPE has 170,000"),
        (
            "RoPE {} to {}, {three} beyond",
            tuple(ROPE | {"take": take} for take in ("least", "greatest", "beyond")),
            "RoPE .34 to .34, three beyond",
        ),
        (
            "{} [{}, {}]",
            (
                {"count": "scheme", "above": 0.5, "take": "share"},
                {"count": "scheme", "above": 0.5, "take": "share_low"},
                {"count": "scheme", "above": 0.5, "take": "share_high"},
            ),
            ".50 [.01, .99]",
        ),
        ("{one} of {two}", ({"count": "scheme", "above": 0.5}, {"count": "scheme"}), "one of two"),
        ("ALiBi - RoPE {}", ({"terms": [ALIBI, ROPE | {"times": -1}]},), "ALiBi - RoPE .46"),
    ],
)
def test_a_sentence_is_written_with_its_numbers(tmp_path, says, each, written):
    assert sentence(tmp_path, says, *each) == written


def test_a_sentence_may_name_the_effect_that_its_rows_detect(tmp_path):
    """With two degrees of freedom, t of .975 and of .8, over the standard error of three seeds."""
    values = {("alibi", 0.8): 0.0, ("rope", 0.34): 0.04}
    rows = [
        row(scheme, seed, 4, value + apart * (seed - 1))
        for (scheme, value), apart in values.items()
        for seed in range(3)
    ]
    entry = {"says": "{:.2f}", "multiple": 4, "take": "mde"}
    entry["each"] = [{"terms": [ALIBI, ROPE | {"times": -1}]}]
    given = {"common": {"task": "kv", "metric": "accuracy"}, "found": [entry]}
    (tmp_path / numbers.FILE).write_text(yaml.safe_dump(given))
    told = table(frame(rows))
    page = numbers.filled(PAGE, tmp_path, lambda study: told, lambda *place: None)
    assert page.splitlines()[1] == f"- {0.04 / 3**0.5 * (4.303 + 1.061):.2f}".replace("0.", ".")


@pytest.mark.parametrize(
    "says, each, said",
    [
        ("RoPE finds {none}", (ROPE,), "none is 0.340"),
        ("RoPE finds {", (ROPE,), "expected '}'|Single '{'"),
        ("RoPE finds {many}", (ROPE,), "many: no format"),
        ("{two} schemes", ({"count": "scheme", "above": 0.5},), "two is 1.000"),
        ("RoPE {} and {}", (ROPE,), "2 places for 1"),
        ("RoPE {}", (ROPE | {"multiple": 8},), "no rows of"),
        ("RoPE {}", (ROPE | {"multiples": 4},), "multiples"),
        ("RoPE {}", (ROPE | {"take": "log"},), "take=log"),
    ],
)
def test_a_sentence_that_does_not_fit_is_one_line_with_file_and_sentence(
    tmp_path, says, each, said
):
    with pytest.raises(UserError, match=f"{numbers.FILE}.*{said}") as error:
        sentence(tmp_path, says, *each)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("running", [True, False])
def test_a_sentence_without_rows_is_left_out_while_a_study_runs(tmp_path, running):
    entries = [
        {"says": "RoPE {}, {:,.0f}", "multiple": m, "each": [ROPE, ROPE | {"take": "params"}]}
        for m in (4, 8)
    ]
    given = {"common": {"task": "kv"}, "found": entries, "answer": entries[1:], "running": running}
    (tmp_path / numbers.FILE).write_text(yaml.safe_dump(given))
    page, rows = PAGE + PAGE.replace("found", "answer"), lambda study: ROWS
    if running:
        text = numbers.filled(page, tmp_path, rows, lambda *place: None)
        assert "- RoPE .34, 170,000\n- Not measured yet: 1 of 2 findings.\n" in text
        assert "**Answer:** Not measured yet.\n" in text
        return
    with pytest.raises(UserError, match="no rows of"):
        numbers.filled(page, tmp_path, rows, lambda *place: None)


def test_a_study_that_is_measured_is_not_marked_as_running():
    marked = {path.parent.name: path.parent for path in RESULTS.rglob(numbers.FILE)
              if yaml.safe_load(path.read_text()).get("running")}  # fmt: skip
    assert marked.keys() <= set(RUNNING)
    for study, folder in marked.items():
        runs = read(folder)["run"].nunique() if has_rows(folder) else 0
        assert runs < jobs(study), f"{study}: every job has rows"


def jobs(study: str) -> int:
    """Returns how many runs the grids of a study list, each with one evaluation."""
    count = 0
    for name in experiments(study):
        node = yaml.safe_load((ROOT / "conf" / "experiment" / f"{name}.yaml").read_text())
        for grid in node["sweep"]["grid"]:
            count += math.prod(len(v) if isinstance(v, list) else 1 for v in grid.values())
    return count


def test_the_verdict_of_today_is_written(tmp_path):
    each = [{"finding": "a", "study": "s"}] * 2
    entry = {"says": "declared: {verdict}, it {fails}", "each": each}
    (tmp_path / numbers.FILE).write_text(yaml.safe_dump({"found": [entry]}))
    (one,) = (
        one
        for one in markdown_pages.judged(RESULTS, "mqar")
        if one.statement.id == "attention-at-any-width"
    )
    text = numbers.filled(PAGE, tmp_path, lambda study: ROWS, lambda study, name: one)
    assert "- declared: fails, it fails\n" in text
    other = replace(one, verdict="holds")
    with pytest.raises(UserError, match="a: holds, not fails"):
        numbers.filled(PAGE, tmp_path, lambda study: ROWS, lambda study, name: other)
    none = Finding(one.statement, "not measured", "no rows yet")
    with pytest.raises(UserError, match="no rows yet"):
        numbers.filled(PAGE, tmp_path, lambda study: ROWS, lambda study, name: none)


def test_what_is_measured_is_found_outside_generated_parts(tmp_path):
    text = "T5 finds .97, 3 of 4, 85 %, half of them, two thirds; 5.7x, but 40 tokens, seed 3"
    assert len(unheld(text, tmp_path)) == 6
    plain = "`x=.5` of 2305.19466, [a](b/.5.md) and <!-- t -->\n.3 <!-- /t --> in 40 tokens"
    assert unheld(plain, tmp_path) == []
    (tmp_path / numbers.FILE).write_text("not_measured: [a rate of .001]")
    assert unheld("at a rate of .001", tmp_path) == []


@pytest.mark.parametrize("entry", [3, {"says": "a"}, {"each": []}])
def test_an_entry_that_is_no_sentence_is_one_line(entry, tmp_path):
    (tmp_path / numbers.FILE).write_text(yaml.safe_dump({"found": [entry]}))
    missing = "a sentence needs says and each"
    said = missing if isinstance(entry, dict) else "found: expected a list of mappings"
    with pytest.raises(UserError, match=said):
        numbers.filled(PAGE, tmp_path, lambda study: ROWS, lambda *place: None)
