"""Styles and labels: a colour and marker a scheme, a line a condition, names side by side."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from extrap import figures
from extrap.figures.drawing import palette
from extrap.figures.drawing.axes import note
from extrap.figures.drawing.ends import BELOW, End, label_ends, spaced
from extrap.figures.drawing.layout import panels
from extrap.figures.drawing.naming import Naming
from extrap.figures.drawing.palette import (
    BELOW_GATE,
    COLOURS,
    MARKERS,
    chosen,
    colour_and_marker,
    registered,
)
from extrap.figures.drawing.style import (
    CONDITIONS,
    EXTENDED,
    SOLID,
    Style,
    scheme_style,
    style_of,
    styled,
)
from extrap.figures.drawing.titles import NOTE_LINE, entitle
from extrap.results.rows import read
from extrap.results.series import select, series
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from tests.support.plausible import run_rows

# Machado, Oliveira, Fernandes 2009, doi.org/10.1109/TVCG.2009.113, severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def linear(colour):
    c = np.array(to_rgb(colour))
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x, y, z = (np.array(XYZ) @ np.clip(rgb, 0, 1)) / (0.95047, 1, 1.08883)
    f = [np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISIONS)
def test_colours_are_told_apart_by_every_eye_and_grey_is_nobodys(vision):
    """Distances of CIE 1976; about 2 is just noticeable, the palette before came down to 2.6."""
    seen = {name: lab(VISIONS[vision] @ linear(c)) for name, c in COLOURS.items()}
    for a, b in combinations(seen, 2):
        assert np.linalg.norm(seen[a] - seen[b]) > 13, (a, b)
    grey = lab(VISIONS[vision] @ linear(BELOW_GATE))
    assert min(np.linalg.norm(grey - other) for other in seen.values()) > 20


@pytest.mark.parametrize("group", ["scheme", "extension"])
def test_every_file_has_a_style_and_relatives_of_one_colour_differ_in_marker(group):
    found = registered(group)  # KeyError for a colour that the palette lacks
    assert {marker for _, marker in found.values()} <= set(MARKERS)
    assert set(found) == {path.stem for path in (Path(conf_dir()) / group).glob("*.yaml")}
    for colour in {colour for colour, _ in found.values()}:
        markers = [marker for other, marker in found.values() if other == colour]
        times = [markers.count(marker) for marker in MARKERS]
        assert max(times) - min(times) <= 1
    assert found["rope" if group == "scheme" else "ntk"][0] == COLOURS["blue"]


def test_a_new_scheme_needs_no_edit_here(tmp_path, monkeypatch):
    """A YAML that names a colour has this colour, in one's own folder, too. In a figure any other
    name has a colour and a shape that its rows use least.
    """
    (tmp_path / "hydra").mkdir()
    (tmp_path / "scheme").mkdir()
    for name, line in (("mine", "# Drawn: plum s\n"), ("yours", "")):
        (tmp_path / "scheme" / f"{name}.yaml").write_text(f"{line}_target_: module.Scheme\n")
    monkeypatch.setattr(palette, "conf_dir", lambda: str(tmp_path))
    assert scheme_style("mine") == Style(COLOURS["plum"], SOLID, "s")
    assert scheme_style("mine-full-x8").colour == COLOURS["plum"]
    assert scheme_style("yours").colour in COLOURS.values()
    monkeypatch.undo()
    naming = Naming(folders=(tmp_path,))
    with naming.in_force():
        assert scheme_style("mine") == Style(COLOURS["plum"], SOLID, "s")
    (tmp_path / "scheme" / "odd.yaml").write_text("# Drawn: pink s\n")
    palette._registered.cache_clear()
    with naming.in_force(), pytest.raises(UserError, match="pink"):
        scheme_style("mine")


def test_a_name_without_a_colour_takes_what_a_study_uses_least():
    twelve = [*PUBLISHED, "learned"]
    rows = pd.DataFrame({"scheme": [*twelve, "ours", "yours"], "extension": "direct"})
    with chosen(rows):
        mine = [colour_and_marker(name) for name in ("ours", "yours")]
        others = [colour_and_marker(name) for name in twelve]
    assert len({*mine, *others}) == len(mine) + len(others)
    used = [colour for colour, _ in others]
    assert all(used.count(colour) <= min(map(used.count, COLOURS.values())) for colour, _ in mine)
    with Naming({"ours": "Ours"}).in_force(), chosen(rows):
        assert colour_and_marker("Ours") == mine[0]


PUBLISHED = (
    "sinusoidal", "rope", "p-rope", "alibi", "kerple-log", "t5", "fire", "transformer-xl",
    "deberta", "forgetting", "nope", "rnope-swa",
)  # fmt: skip
"""Schemes that studies draw side by side."""


@pytest.mark.parametrize("group", ["scheme", "extension"])
def test_no_two_names_share_colour_and_marker(group):
    styles = [*registered(group).values()]
    assert len({*styles}) == len(styles)


@pytest.mark.parametrize("vision", ["deutan", "protan"])
def test_schemes_of_one_figure_that_look_alike_in_colour_differ_in_shape(vision):
    """Such as ALiBi and KERPLE-log under a red-green deficiency."""
    styles = {name: colour_and_marker(name) for name in (*PUBLISHED, "learned")}
    seen = {name: lab(VISIONS[vision] @ linear(colour)) for name, (colour, _) in styles.items()}
    for a, b in combinations(styles, 2):
        if np.linalg.norm(seen[a] - seen[b]) < 23:
            assert palette.shape(styles[a][1]) != palette.shape(styles[b][1]), (a, b)


def test_a_control_has_the_colour_of_its_scheme_and_another_line(demo):
    found = {s.label: style_of(s) for s in series(select(demo, task="nll", seen="text"))}
    plain, control = found["rope"], found["rope (text only)"]
    assert (plain.colour, plain.marker) == (control.colour, control.marker)
    assert (plain.line, control.line) == CONDITIONS[:2]


def test_a_condition_is_a_line_of_all_schemes_below_the_gate_too(frame):
    rows = [
        row
        for scheme in ("rope", "nope")
        for data in ("mixture", "ends", "recency")
        for row in run_rows(scheme, data=data)
    ]
    found = series(select(frame(rows), task="kv", metric="accuracy"))
    lines = {(s.scheme, s.data): style_of(s) for s in found}
    for data in ("mixture", "ends", "recency"):
        assert lines["rope", data].line == lines["nope", data].line
        assert lines["nope", data].colour == BELOW_GATE and not lines["nope", data].filled
    assert len({style.line for style in lines.values()}) == 3
    (extended,) = series(frame(run_rows("rope", extension="ntk", factor=4)))[:1]
    assert style_of(extended).line == EXTENDED


def test_extensions_of_one_scheme_have_the_colours_of_their_files(frame):
    names = ("ntk", "yarn", "rerope")
    rows = frame([one for name in names for one in run_rows("rope", extension=name, factor=4)])
    plain = frame(run_rows("rope") + run_rows("alibi"))
    with styled(rows, plain):
        for s in series(select(rows, task="nll", metric="nll")):
            own = style_of(s)
            assert (own.colour, own.marker) == colour_and_marker(s.extension, "extension")
            assert own.line == EXTENDED
        for s in series(select(plain, task="nll", metric="nll")):
            assert style_of(s) == scheme_style(s.scheme)


def looks(rows: pd.DataFrame) -> list[tuple]:
    """Returns colour, line and marker of the series above the gate that each figure draws."""
    found = []
    needs = {tuple(sorted(figure.NEEDS.items())) for figure in figures.available().values()}
    with styled(rows):
        for one in needs:
            if len(own := select(rows, **dict(one))):
                styles = [style_of(s) for s in series(own) if s.ok]
                found.append([(look.colour, look.line, look.marker) for look in styles])
    return found


def test_no_two_series_of_a_figure_share_colour_line_and_marker(frame, demo):
    """Such as RoPE of two sizes, of two lengths, under one extension set for two lengths."""
    every = [
        *run_rows("rope"),
        *run_rows("rope", data="text"),
        *run_rows("rope", extension="ntk", factor=4),
        *run_rows("rope", extension="ntk", factor=8),
        *run_rows("rope", extension="yarn", factor=4),
        *run_rows("alibi", extension="yarn", factor=4),
        *run_rows("t5", extension="yarn", factor=4),
    ]
    rows = frame(every)
    wider = rows.assign(run=rows["run"].str.replace(r"-\w+-s", "-0123abcd-s", regex=True))
    longer = rows.assign(run=rows["run"].str.replace(r"-\w+-s", "-4567abcd-s", regex=True))
    longer["train_length"] *= 2
    several = pd.concat([rows, wider, longer], ignore_index=True)
    drawn = [*looks(several), *looks(demo)]
    assert max(map(len, drawn)) >= 15
    for one in drawn:
        assert len({*one}) == len(one)


@pytest.mark.parametrize("study", ["extension/extension-biases", "base"])
def test_no_two_series_of_a_committed_study_look_alike(study):
    for one in looks(read(Path(conf_dir()).parent / "results" / study)):
        assert len({*one}) == len(one)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.01, 0.08))
def test_labels_are_spaced_in_order_and_within_the_panel(wanted, gap):
    wanted = sorted(wanted)
    places = spaced(wanted, gap)
    assert (np.diff(places) >= gap - 1e-12).all()
    assert places[0] >= -1e-12
    assert places[-1] <= 1 + 1e-12


def test_labels_that_have_room_stay_where_lines_end():
    np.testing.assert_allclose(spaced([0.1, 0.5, 0.52, 0.9], 0.1), [0.1, 0.46, 0.56, 0.9])


def test_more_labels_than_room_keep_their_distance():
    np.testing.assert_allclose(np.diff(spaced([0.5] * 30, 0.1)), 0.1)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_labels_stand_at_the_height_where_lines_end(scale):
    axes = Figure(figsize=(4, 4)).add_axes((0, 0, 0.5, 1))
    axes.set(xlim=(1, 10), ylim=(1, 100), yscale=scale)
    ends = [
        End("a", scheme_style("rope"), 10, 10),
        End("b", scheme_style("t5"), 5, 50),
        End("c", scheme_style("t5"), 8, np.nan),
        End("d", scheme_style("t5"), 10, np.nan, elsewhere=True),
    ]
    label_ends(axes, ends)
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights["a"] == pytest.approx(0.5 if scale == "log" else 9 / 99)
    assert heights["c (to 8)"] < heights["b (to 5)"] < 0  # no height says how well they do
    assert 0 <= heights["d"] < heights["a"]  # its line does not end here, nor early
    assert not axes.lines


def test_many_early_ends_stand_at_their_heights():
    axes = Figure(figsize=(4, 4)).add_axes((0, 0, 0.5, 1))
    axes.set(xlim=(1, 10), ylim=(0, 1))
    label_ends(axes, [End(f"{k}", scheme_style("t5"), 10 - k, k / 10) for k in range(BELOW + 2)])
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights[f"{BELOW + 1} (to {9 - BELOW})"] == pytest.approx((BELOW + 1) / 10)


@pytest.mark.parametrize(("words", "grows"), [(3, False), (60, True)])
def test_a_note_of_many_lines_gets_room_of_its_own(words, grows):
    """Two lines fit under the panels; more of them once covered the name of the axis."""
    figure, _ = panels((1, 1), (3.0, 2.0), right=0.5, gap=0)
    before = figure.get_size_inches()[1]
    entitle(figure, "Title", " ".join(["several"] * words))
    shown = figure.texts[-1].get_text().count("\n") + 1
    grown = (figure.get_size_inches()[1] - before) / NOTE_LINE
    assert grown == pytest.approx(max(0, shown - 2)) and (shown > 2) == grows


def test_a_note_names_the_schemes_with_larger_models(frame):
    rows = frame([row for name in ("rope", "t5", "nope") for row in run_rows(name)])
    assert "parameters" not in note(rows)
    sizes = {"rope": 172_864, "t5": 195_520, "nope": 222_336}
    larger = note(rows.assign(params=rows["scheme"].map(sizes).astype("Int64")))
    assert larger.endswith(" · nope: 222,336 parameters, others 172,864 to 195,520")
    unknown = {"rope": 172_864, "t5": 195_520, "nope": 0}  # a function, an engine
    told = note(rows.assign(params=rows["scheme"].map(unknown).astype("Int64")))
    assert "parameters" not in told
