"""Figures for a page: as wide as asked, text as large as ever, nothing cut off; and what
extrap plot makes of `--series`, `--width` and `--pdf`.
"""

import re
from functools import partial

import matplotlib.style
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.textpath import TextPath

from extrap import figures
from extrap.cli import plot
from extrap.figures import context_gain
from extrap.figures.drawing import depth_panels
from extrap.figures.drawing.dimensions import HIGH, _width, fitted
from extrap.figures.drawing.fitting import made_for
from extrap.figures.drawing.formats import latex, pgf
from extrap.figures.drawing.paper import HOUSE, PAPERS
from extrap.figures.drawing.part import Chosen
from extrap.figures.drawing.style import RC
from extrap.results import rows
from extrap.results.rows import with_multiple
from extrap.results.series import select, series
from extrap.utils.errors import UserError
from tests.support.invented import suite_rows
from tests.support.plausible import L, identity, row, run_rows

ALL = figures.available()
COLUMN = 3.3
LEAST_TEXT = 6.0
"""Points below which no text of a figure is, in print."""


@pytest.mark.parametrize("font", ["DejaVu Sans", "DejaVu Serif"])
def test_a_text_is_as_wide_as_matplotlib_has_it(font):
    """Bit for bit: rows of panels and folded titles follow from it."""
    with matplotlib.rc_context({"font.family": font}):
        _width.cache_clear()
        for text in ("rope + yarn x8", "o", "Wj", "fj_f", "−1", "(3 of 5 seeds)", "é 0.25", "$x$"):
            expected = TextPath((0, 0), text, 6.8).get_extents().width
            assert _width(text, 6.8) == expected, text
    _width.cache_clear()


def shown(figure):
    """Every text that is drawn."""
    return [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip()]


def drawn(name, serving, width):
    with matplotlib.style.context(RC, after_reset=True), fitted(width):
        figure = ALL[name].draw(serving(name))
        figure.draw_without_rendering()
        return figure


@pytest.mark.sample(14)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("width", [None, COLUMN])
def test_no_text_is_below_six_points_and_a_figure_fits_its_page(name, width, serving):
    try:
        figure = drawn(name, serving, width)
    except UserError as error:
        # A table of many columns says how wide a page it needs.
        assert width is not None
        least = float(re.search(r"needs at least ([\d.]+)in", str(error)).group(1))
        assert least > width
        figure = drawn(name, serving, least + 0.1)
        width = least + 0.1
    assert min(text.get_fontsize() for text in shown(figure)) >= LEAST_TEXT
    if width:
        assert figure.get_figwidth() <= width + 1e-9


@pytest.mark.parametrize("name", ["kv_depth", "loss_length", "kv_length", "training_curves"])
def test_a_fitted_figure_names_its_lines_in_a_legend_and_draws_the_same(name, serving):
    wide = drawn(name, serving, None)
    narrow = drawn(name, serving, COLUMN)
    data = [[line.get_xydata().tolist() for line in panel.lines] for panel in wide.axes]
    assert [[line.get_xydata().tolist() for line in panel.lines] for panel in narrow.axes] == data
    named = {t.get_text() for panel in wide.axes for t in panel.texts} - {"L", "gate 90 %"}
    assert named and named <= {text.get_text() for text in narrow.texts}
    for panel in narrow.axes:
        box = panel.get_position()
        assert 0 < box.x0 < box.x1 <= 1 and 0 < box.y0 < box.y1 < 1
    wrapped = len({panel.get_position().y0 for panel in narrow.axes})
    assert wrapped > len({panel.get_position().y0 for panel in wide.axes}) or len(wide.axes) == 2


def test_columns_that_a_narrow_page_has_no_room_for_go_into_blocks(serving):
    wide, narrow = (drawn("effective_length", serving, width) for width in (None, 2.0))
    assert len(wide.axes) == 1 < len(narrow.axes)
    cells = [[t.get_text() for panel in figure.axes for t in panel.texts if "x" in t.get_text()]
             for figure in (wide, narrow)]  # fmt: skip
    assert sorted(cells[0]) == sorted(cells[1])


@pytest.fixture
def results(tmp_path):
    every = run_rows("rope") + run_rows("alibi") + run_rows("t5")
    rows.write(tmp_path / "demo" / "rows" / "a.csv", every)
    return tmp_path


@pytest.mark.turns
def test_a_figure_for_a_paper_lies_beside_the_whole_one(results, capsys):
    plot.main(["demo", "kv_length", "--results", str(results)])
    whole = {path: path.read_bytes() for path in (results / "demo" / "figures").glob("*.*")}
    words = ["--series", "rope,alibi", "--width", "8.4cm", "--pdf", "--results", str(results)]
    capsys.readouterr()
    plot.main(["demo", "kv_length", *words])
    files = [
        results / "demo" / "figures" / "paper" / f"kv_length.{kind}"
        for kind in ("svg", "png", "pdf")
    ]
    assert capsys.readouterr().out.split() == [str(file) for file in files]
    text = files[0].read_text()
    assert ">rope<" in text and ">alibi<" in text and ">t5<" not in text, "text is text, and chosen"
    inches = float(re.search(r'width="([\d.]+)pt"', text).group(1)) / 72
    assert inches <= 8.4 / 2.54 + 0.01
    assert files[2].read_bytes().startswith(b"%PDF")
    assert {path: path.read_bytes() for path in whole} == whole
    first = [file.read_bytes() for file in files]
    plot.main(["demo", "kv_length", *words])
    assert [file.read_bytes() for file in files] == first


def test_a_protocol_and_a_length_pick_one_panel(results, capsys):
    words = ["demo", "kv_depth", "--protocol", "records", "--lengths", "4", "--width", "3.3in"]
    plot.main([*words, "--results", str(results)])
    text = (results / "demo" / "figures" / "paper" / "kv_depth.svg").read_text()
    assert text.count("axes_") == 1 and ">records 4 L<" in text


def test_a_length_is_chosen_by_the_number_that_errors_and_tables_write(frame):
    rows = frame(run_rows("rope")).assign(train_length=96)
    part = Chosen(lengths=(1.33333,))
    known = with_multiple(rows)
    found = part.of_figure(ALL["kv_depth"], part.of_study(known))
    assert {*select(found, task="kv", metric="accuracy")["length"]} == {128}
    assert {*part.of_cells(known)["length"]} == {128}


def test_an_extension_with_an_option_is_chosen_named_and_ordered(tmp_path, capsys):
    """Its name has a comma and =, which also part names and labels."""
    option = {"extension": "rerope,width=16"}
    every = run_rows("rope") + [row | option for row in run_rows("rope")] + run_rows("alibi")
    rows.write(tmp_path / "demo" / "rows" / "a.csv", every)
    words = ["demo", "kv_length", "--series", "rope+rerope,width=16,alibi", "--format", "svg"]
    words += ["--label", "rerope,width=16=Near", "--order", "rerope,width=16,alibi"]
    plot.main([*words, "--legend", "n", "--results", str(tmp_path)])
    text = (tmp_path / "demo" / "figures" / "paper" / "kv_length.svg").read_text()
    assert ">rope<" not in text
    assert text.index(">rope + Near n = 1<") < text.index(">alibi n = 1<")


def test_lengths_far_beyond_the_trained_one_have_panels():
    assert depth_panels._lengths([0.5, 1, 3, 8, 12, 16, 64]) == [0.5, 1, 8, 16, 64]
    assert depth_panels._lengths([3, 12]) == [3, 12], "the rows have no others"
    with Chosen(lengths=(1.25, 2)).in_force():
        assert depth_panels._lengths([1.25, 2]) == [1.25, 2], "asked for"


@pytest.mark.parametrize("name", ["effective_length", "repeat_length", "speed"])
def test_lengths_choose_of_all_rows_that_a_figure_draws(frame, name):
    part, figure = Chosen(lengths=(1, 2)), ALL[name]
    every = frame([*run_rows("rope"), *suite_rows("rope"), *speed_rows()])
    every = every[every["task"] != "train"]
    left = part.of_figure(figure, every)
    for needs in (figure.NEEDS, *figure.ALSO):
        assert {*select(left, **needs)["multiple"]} <= {1, 2}
    assert figures.served(figure, left)


def speed_rows():
    """Tokens a second and memory at three lengths."""
    lengths, metrics = (64, 128, 256), ("tokens_per_second", "bytes_per_token")
    one = identity("rope")
    return [one | row("speed", "train", n, of, 9.0) for n in lengths for of in metrics]


def test_a_gain_without_its_crop_is_drawn(frame):
    every = frame(suite_rows("rope"))
    left = Chosen(protocols=("full",)).of_figure(ALL["context_gain"], every)
    (panel,) = ALL["context_gain"].draw(left).axes
    assert panel.get_title() == context_gain.PANELS["full"]


def test_a_length_takes_no_series_below_the_gate(frame):
    """The plain reading says that the run learned; it was read at the training length alone."""
    plain = [one for one in run_rows("rope") if one.get("length", L) == L]
    lost = [one | {"status": "not trained"} for one in run_rows("rope", extension="pi", factor=8)]
    for part in (Chosen(), Chosen(lengths=(4,)), Chosen(protocols=("records",))):
        found = part.of_cells(part.of_study(frame(plain + lost)))
        assert {s.status for s in series(found) if s.extension == "pi"} == {"ok"}


def test_a_figure_without_the_picked_panels_is_not_drawn(results, capsys):
    picks = ["--protocol", "sliding", "--results", str(results)]
    plot.main(["demo", *picks])
    drawn = {file.stem for file in (results / "demo" / "figures" / "paper").glob("*.svg")}
    assert "loss_length" in drawn and "kv_depth" not in drawn
    with pytest.raises(SystemExit, match="2"):
        plot.main(["demo", "kv_depth", *picks])
    assert "FIGURE=kv_depth: no panels of these" in capsys.readouterr().err


def test_reference_lines_stay_with_a_picked_panel(serving):
    figure, ordered = ALL["multidoc_depth"], Chosen(protocols=("ordered",))
    part = ordered.of_figure(figure, serving("multidoc_depth"))
    own = figures.select(part, **figure.NEEDS)
    assert {"ordered", "oracle", "closed_book"} <= {*own["protocol"]}
    assert "shuffled" not in {*own["protocol"]}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--protocol", "recods"], "--protocol=recods: not in this study; did you mean records?"),
        (["--lengths", "3"], "--lengths=3: not in this study; choose one of 1,"),
        (["--lengths", "far"], "--lengths=far: expected multiples of the training length; give"),
        (["--paper", "acm"], "--paper=acm: no such page; did you mean acl"),
        (["--font", "arial"], "--font=arial: no such font; give 5 to 20 points"),
        (["--format", "eps"], "--format=eps: unknown;"),
        (["--bare", "--format", "svg"], "--bare: its caption is for LaTeX, which reads no svg;"),
        (["--label", "mine=Ours"], "--label=mine: not in this study; choose one of"),
        (["--label", "rope=t5"], "--label=t5: is the name of another series"),
    ],
)
def test_a_mistake_is_one_line(results, capsys, words, line):
    with pytest.raises(SystemExit, match="2"):
        plot.main(["demo", *words, "--results", str(results)])
    said = capsys.readouterr().err
    assert said.startswith(f"extrap plot: {line}") and said.count("\n") == 1


def test_a_figure_for_a_paper_is_bare_and_its_caption_is_latex(results, capsys):
    words = ["demo", "kv_depth", "--paper", "acl", "--bare", "--format", "pdf,svg,pgf"]
    words += ["--label", "alibi=Ours_1", "--order", "alibi", "--legend", "n"]
    plot.main([*words, "--results", str(results)])
    said = capsys.readouterr().out
    folder = results / "demo" / "figures" / "paper"
    svg = (folder / "kv_depth.svg").read_text()
    width, height = (
        float(size) / 72 for size in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2]
    )
    assert width == pytest.approx(7.7 / 2.54, abs=0.01) and height < 24.7 / 2.54
    assert ">Ours_1 n = 1<" in svg and ">alibi" not in svg and "study demo" not in svg
    assert svg.index(">Ours_1 n = 1<") < svg.index(">rope n = 1<")
    assert "STIXGeneral" in svg
    pdf = (folder / "kv_depth.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", pdf)
    assert box and float(box[1]) / 72 == pytest.approx(width, abs=0.01)
    caption = (folder / "kv_depth.tex").read_text()
    assert caption in said
    assert "\\includegraphics{kv_depth.pdf}" in caption and "study demo" in caption
    assert "95 \\% Wilson" in caption
    assert "Ours\\_1" in (folder / "kv_depth.pgf").read_text()


def test_text_in_pgf_is_no_command():
    """Names come from rows of strangers: LaTeX prints them, and reads no file for them."""
    assert latex(r"\input{/etc/passwd}") == r"\textbackslash{}input\{/etc/passwd\}"
    figure = Figure(figsize=(2, 1))
    figure.text(0.5, 0.5, r"\write18{x} $a$ 5 % _^&#~")
    text = pgf(figure).decode()
    assert r"\write" not in text and "$" not in text.replace(r"\$", "")


@pytest.mark.turns
def test_a_file_for_each_panel_has_the_names_of_its_axes(results):
    words = ["demo", "kv_depth", "--panels", "--format", "svg", "--protocol", "padded"]
    plot.main([*words, "--results", str(results)])
    files = sorted((results / "demo" / "figures" / "paper").glob("kv_depth-*.svg"))
    assert len(files) > 3
    for file in files:
        text = file.read_text()
        assert "accuracy<" in text and "depth (0 = start" in text and text.count("axes_") == 1


def test_each_map_by_itself_has_the_bar_of_colours_beside_it(serving):
    draw = partial(figures.drawn, ALL["kv_heatmap"], serving("kv_heatmap"))
    whole = draw()
    alone = made_for(HOUSE._replace(panels=True), draw)
    assert len(alone) == len(whole.axes) - 1 > 2
    for figure in alone.values():
        shown, bar = figure.axes
        assert bar.get_ylabel() == "accuracy" and shown.get_title()
        wide = figure.get_figwidth()
        away = wide * (bar.get_position().x0 - shown.get_position().x1)
        assert 0.1 < away < 1 and bar.get_position().y0 == shown.get_position().y0
        assert bar.get_position().height == shown.get_position().height and wide < 5


@pytest.mark.turns
@pytest.mark.parametrize("name", ["kv_depth", "kv_heatmap", "loss_length", "training_curves"])
def test_a_figure_of_many_series_fits_the_height_of_a_page(name, frame):
    names = {f"s{k:02d}": run_rows("t5") for k in range(13)}
    own = [
        row | {"scheme": name, "run": f"{name}-cafe0123-s0"}
        for name, rows in names.items()
        for row in rows
    ]
    rows = frame(own)
    paper = PAPERS["single"]._replace(bare=True)
    made = made_for(paper, lambda: figures.drawn(ALL[name], rows))[""]
    assert made.get_figheight() <= paper.height + 1e-6
    assert made_for(HOUSE, lambda: figures.drawn(ALL[name], rows))[""].get_figheight() <= HIGH
    spare = [panel for panel in made.axes if not panel.has_data() and panel.get_label() == ""]
    assert not spare
