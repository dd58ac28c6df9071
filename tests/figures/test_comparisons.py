"""Figures that compare: costs, sizes, ranks of a toy, studies."""

import py_compile
import sys
from pathlib import Path
from shutil import copytree

import pandas as pd
import pytest

from extrap import figures
from extrap.cli import plot, report
from extrap.figures import served, speed
from extrap.results.rows import write
from extrap.studies.pretrained.figures import toy_rank
from extrap.studies.reference.figures import scale_axis
from tests.support.invented import speed_rows
from tests.support.plausible import L, run_rows, sized_rows
from tests.support.plausible_extension import extension_rows, jumps
from tests.support.program import python


def test_bars_are_thousand_tokens_a_second(frame):
    rows = frame(speed_rows(("rope", "learned")))
    figure = speed.draw(rows)
    assert [panel.get_title(loc="left") for panel in figure.axes[::3]] == [
        f"windows of {L} tokens",
        f"windows of {4 * L} tokens",
    ]
    training, reading, memory = (
        {p.get_label(): p[0].get_width() for p in panel.containers} for panel in figure.axes[:3]
    )
    assert training == pytest.approx({"rope": 1e3 / L, "learned": 5e2 / L})
    assert reading == pytest.approx({"rope": 4e3 / L, "learned": 2e3 / L}) and memory == {
        "rope": 13,
        "learned": 26,
    }
    repeats = sorted(list(line.get_xdata()) for line in figure.axes[0].lines)
    assert repeats == [
        pytest.approx([0.9 * value, 1.2 * value]) for value in sorted(training.values())
    ]
    assert len(figure.axes[3].containers) == 1, "a length past a table has no bar"


def test_bars_of_several_seeds_are_their_means(frame):
    panel = speed.draw(frame(speed_rows(("rope",), (0, 2)))).axes[0]
    assert (
        panel.containers[0][0].get_width() == pytest.approx((1e6 / L + 1) / 1000)
        and not panel.lines
    )


@pytest.fixture(scope="module")
def study(frame):
    return frame(sized_rows())


def test_one_size_is_no_axis(frame, study):
    assert served(scale_axis, study)
    assert not served(scale_axis, frame(run_rows("rope") + run_rows("alibi")))


def test_a_scheme_without_the_larger_models_is_named_as_it_is(study):
    """Not "(to 172864)", as a line that ends at a length is."""
    short = study[(study["scheme"] != "rope") | (study["params"] < 500_000)]
    said = [text.get_text() for panel in scale_axis.draw(short).axes for text in panel.texts]
    assert "rope" in said and not any(words.startswith("rope (") for words in said)


def test_a_control_is_no_second_run_of_its_scheme(frame, study):
    control = [
        row | {"data": "retrieval", "run": f"{row['run']}-c", "value": row["value"] + 3}
        for row in sized_rows()
    ]
    both = frame(sized_rows() + control)
    for needs in (scale_axis.NEEDS, scale_axis.LOSS):
        pd.testing.assert_frame_equal(
            scale_axis.points(both, needs), scale_axis.points(study, needs)
        )


def test_two_settings_of_a_size_are_two_schemes(frame, study):
    other = study.assign(run=study["run"].str.replace("cafe", "f00d"), value=study["value"] / 2)
    found = scale_axis.points(pd.concat([study, other]), scale_axis.NEEDS)
    own = scale_axis.points(study, scale_axis.NEEDS)
    assert len(found) == 2 * len(own)
    assert all(name.endswith("]") for name in found["scheme"])


def test_seeds_below_the_gate_count(frame):
    lost = [
        row | ({"status": "not trained"} if row["task"] == "kv" and row["seed"] == 1 else {})
        for row in sized_rows()
    ]
    found = scale_axis.points(frame(lost), scale_axis.NEEDS)
    assert set(found["seed"]) == {0, 1, 2}


@pytest.fixture
def toy(frame):
    return frame([row | {"study": "extension"} for row in extension_rows()])


def test_another_scheme_of_the_small_models_is_not_averaged_in(frame, toy):
    other = [
        row | {"scheme": "alibi", "run": f"alibi-{i}", "value": 9.0}
        for i, row in enumerate(toy.to_dict("records"))
        if row["extension"] in ("direct", "pi")
    ]
    small = {"alone": toy, "mixed": pd.concat([toy, frame(other)], ignore_index=True)}
    alone, mixed = (
        toy_rank.draw(figures.with_beside(toy_rank, frame(jumps()), lambda study, of=of: small[of]))
        for of in small
    )
    for one, two in zip(alone.axes[0].lines, mixed.axes[0].lines, strict=True):
        assert one.get_xdata().tolist() == two.get_xdata().tolist()


def test_without_the_other_study_there_is_no_figure(frame):
    rows = frame(jumps())
    assert not figures.served(toy_rank, figures.with_beside(toy_rank, rows, lambda study: None))
    few = [row for row in jumps() if row["extension"] in ("direct", "pi")]
    both = frame(few + [row | {"study": "extension"} for row in extension_rows()])
    assert not figures.served(toy_rank, both)


ROOT = Path(__file__).parents[2]
EVIL = '"""E."""\nopen("ran", "w").close()\nNEEDS = {"task": "nll"}\n\ndef draw(rows): ...\n'


def results(folder: Path) -> None:
    """Writes results with figure code: a study of their own, and one with the name of ours. Few
    rows: each command draws what they serve.
    """
    few = [row for row in run_rows("rope") if row["task"] == "nll"]
    for study in ("theirs", "extension"):
        write(folder / "results" / study / "rows" / "a.csv", few)
        (folder / "results" / study / "figures").mkdir()
        (folder / "results" / study / "figures" / "evil.py").write_text(EVIL)
        (folder / "results" / study / "evil.py").write_text(EVIL)


def test_figures_of_studies_are_figures_like_any_other():
    known = figures.available()
    assert {"density", "scale_axis", "who_learns", "mqar_size", "toy_rank"} <= set(known)
    folder = ROOT / "extrap" / "studies" / "extension" / "figures"
    assert Path(known["density"].__file__) == folder / "density.py"
    assert "kv_depth" in known and list(known) == sorted(known)


def test_results_hold_no_code():
    assert list(ROOT.glob("results/**/*.py")) == []


@pytest.mark.turns
@pytest.mark.parametrize("study", ["theirs", "extension"])
def test_a_folder_of_results_runs_no_code(study, tmp_path, monkeypatch):
    results(tmp_path)
    monkeypatch.chdir(tmp_path)
    for main in (plot.main, report.main):
        main([study])
        main([study, "--results", str(tmp_path / "results")])
    assert not Path("ran").exists() and "evil" not in figures.available()


@pytest.mark.turns
def test_a_folder_put_over_the_results_of_a_checkout_runs_no_code(tmp_path):
    """Modules, a lone compiled one, and packages with the names of ours."""
    for part in ("extrap", "conf"):
        copytree(ROOT / part, tmp_path / part)
    results(tmp_path)
    planted = tmp_path / "results" / "extension"
    (planted / "figures" / "density.py").write_text(EVIL)
    compiled = planted / "figures" / "__pycache__" / f"tilt.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(planted / "evil.py"), str(compiled))
    (tmp_path / "results" / "zoo").symlink_to(planted)
    for folder in (planted, planted / "figures"):
        (folder / "__init__.py").write_text(EVIL)
    words = ["-m", "extrap", "plot", "extension"]
    done = python("-P", *words, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0 and "results/extension/figures/" in done.stdout, done.stderr
    assert not (tmp_path / "ran").exists()
