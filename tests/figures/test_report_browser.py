"""The page in a real browser: it loads without an error, chooses, switches, sorts, answers to
pointer and keys, and fits a telephone.

Skipped where this machine has no Chromium: `apt-get install chromium chromium-driver`.
"""

import pytest

from extrap.figures.report.html_page import page
from extrap.results import rows
from tests.support import browser as chromium
from tests.support.plausible import study_rows

LACKING = chromium.missing()
pytestmark = [
    pytest.mark.subprocess,
    pytest.mark.skipif(bool(LACKING), reason=f"no {LACKING}: apt-get install chromium "
                       "chromium-driver"),
]  # fmt: skip
PADDED = "retrieval accuracy (fixed records, more filler)"
RIGHT, DOWN = "\ue014", "\ue015"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """The page of three schemes and three seeds, with the figures left out."""
    folder = tmp_path_factory.mktemp("page")
    rows.write(folder / "rows" / "a.csv", study_rows(("rope", "alibi", "t5"), (0, 1, 2)))
    (folder / "report.html").write_text(page(rows.read(folder), images=False))
    return folder / "report.html"


@pytest.fixture(scope="module")
def window():
    with chromium.browser() as opened:
        yield opened


SHOWN = "return [...document.querySelectorAll('.view:not(.off)')].map(v => v.dataset)"
CHOOSE = """
const select = document.getElementById(arguments[0]);
select.value = arguments[1];
select.dispatchEvent(new Event('change'));
return select.value
"""


def test_it_loads_without_an_error_and_shows_one_view(window, file):
    window.open(file)
    assert window.errors() == []
    assert window.script(SHOWN) == [
        {"kind": "length", "score": "retrieval accuracy (records)", "length": ""}
    ]


def test_a_score_a_kind_and_a_length_are_chosen(window, file):
    window.open(file)
    assert window.script(CHOOSE, "score", "text perplexity (sliding window)")
    assert [view["score"] for view in window.script(SHOWN)] == ["text perplexity (sliding window)"]
    assert window.script(CHOOSE, "kind", "depth") == "depth"
    assert window.script(CHOOSE, "length", "256") == "256"
    (shown,) = window.script(SHOWN)
    assert (shown["kind"], shown["score"], shown["length"]) == (
        "depth",
        "retrieval accuracy (records)",
        "256",
    )
    assert window.script(CHOOSE, "score", PADDED)
    assert [view["score"] for view in window.script(SHOWN)] == [PADDED]
    assert window.errors() == []


def test_series_are_switched_off_and_on_everywhere(window, file):
    window.open(file)
    seen = "return document.querySelectorAll('.s[data-s=\"1\"]:not(.off)').length"
    every = window.script(seen)
    box = "document.querySelector('.switches input[data-s=\"1\"]').click();"
    assert every > 10
    assert window.script(box + seen) == 0
    assert window.script(box + seen) == every
    others = "return document.querySelectorAll('.s:not(.off)').length"
    assert window.script("document.getElementById('none').click();" + others) == 0
    assert window.script("document.getElementById('all').click();" + others) > every


def test_a_filter_leaves_the_series_of_a_scheme(window, file):
    window.open(file)
    choose = CHOOSE.replace("document.getElementById(arguments[0])",
                            "document.querySelector(`[data-filter=${arguments[0]}]`)")  # fmt: skip
    rows = "[...document.querySelectorAll('#board tr.s:not(.off)')]"
    shown = f"return {rows}.map(row => row.cells[0].textContent)"
    count = "return document.getElementById('count').textContent"
    assert sorted(window.script(shown)) == ["alibi", "rope", "t5"]
    assert window.script(count) == "3 of 3 series"
    assert window.script(choose, "scheme", "rope") == "rope"
    assert (window.script(shown), window.script(count)) == (["rope"], "1 of 3 series")
    lines = "return document.querySelectorAll('.view:not(.off) .s:not(.off) .line').length"
    assert window.script(lines) == 1
    window.script("document.getElementById('all').click()")
    assert window.script(count) == "3 of 3 series"
    assert window.script("return document.querySelector('[data-filter]').value") == ""
    assert window.errors() == []


def test_tables_sort_by_every_column_up_and_down(window, file):
    window.open(file)
    column = """
    const table = document.querySelector('table.sorts');
    table.tHead.querySelectorAll('button')[arguments[0]].click();
    return [...table.tBodies[0].rows].map(row => row.cells[arguments[0]].textContent)
    """
    assert window.script(column, 0) == ["alibi", "rope", "t5"]
    assert window.script(column, 0) == ["t5", "rope", "alibi"]
    up = [float(words.split()[0]) for words in window.script(column, 1)]
    assert up == sorted(up)
    down = [float(words.split()[0]) for words in window.script(column, 1)]
    assert down == up[::-1]


TIP = "const tip = document.getElementById('tip'); return tip.hidden ? '' : tip.textContent"
BOX = """
const chart = document.querySelector('.view:not(.off) .chart');
chart.scrollIntoView({block: 'center'});
const point = chart.querySelectorAll('.s use')[arguments[0]];
const box = point.getBoundingClientRect();
return [box.x + box.width / 2, box.y + box.height / 2]
"""


def test_a_point_answers_to_the_pointer(window, file):
    window.open(file)
    x, y = window.script(BOX, 3)
    window.move(x, y)
    said = window.script(TIP)
    assert said.startswith("alibi · 128 tokens · 0.") and "[" in said and "3 seeds" in said
    window.move(5, 5)
    assert window.script(TIP) == ""


def test_arrow_keys_walk_along_a_curve_and_to_the_next(window, file):
    window.open(file)
    window.script("document.querySelector('.view:not(.off) .chart').focus()")
    window.press(RIGHT)
    assert window.script(TIP).startswith("alibi · 64 tokens")
    window.press(RIGHT)
    assert window.script(TIP).startswith("alibi · 80 tokens")
    window.press(DOWN)
    assert window.script(TIP).startswith("rope · 80 tokens")


@pytest.mark.parametrize("width", [390, 1400])
def test_it_fits_a_telephone_and_a_desk(window, file, width):
    window.open(file, width)
    assert window.script("return document.documentElement.scrollWidth") <= width


def test_without_a_script_every_view_is_there(window, file):
    bare = file.with_name("bare.html")
    bare.write_text(file.read_text().replace("script-src 'unsafe-inline'", "script-src 'none'"))
    window.open(bare)
    count = "return [...document.querySelectorAll('.view')].filter(v => v.clientHeight > 50).length"
    assert window.script(count) == file.read_text().count('class="view"')
    assert (
        window.script("return document.querySelectorAll('[data-script]:not([hidden])').length") == 0
    )
