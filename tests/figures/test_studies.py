"""Code of studies: loaded from the repository alone, never from a folder of results."""

from pathlib import Path
from shutil import copytree

import pytest

from extrap import figures, studies
from extrap.cli import plot, report
from extrap.results.rows import write
from tests.support.plausible import run_rows
from tests.support.program import python

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
    assert Path(known["density"].__file__) == ROOT / "results" / "extension" / "figures/density.py"
    assert "kv_depth" in known and list(known) == sorted(known)


def test_every_study_with_code_is_named():
    with_code = {
        path.relative_to(ROOT / "results").parts[0] for path in ROOT.glob("results/**/*.py")
    }
    assert with_code == set(studies.WITH_CODE)


@pytest.mark.parametrize("study", ["theirs", "extension"])
def test_a_folder_of_results_runs_no_code(study, tmp_path, monkeypatch):
    results(tmp_path)
    monkeypatch.chdir(tmp_path)
    for main in (plot.main, report.main):
        main([study])
        main([study, "--results", str(tmp_path / "results")])
    assert not Path("ran").exists() and "evil" not in figures.available()


def test_a_study_put_into_the_repository_runs_no_code(tmp_path):
    """Beside the studies of the repository, in a checkout that extrap is imported from."""
    for part in ("extrap", "conf"):
        copytree(ROOT / part, tmp_path / part)
    results(tmp_path)
    (tmp_path / "results" / "extension" / "figures" / "evil.py").rename(
        tmp_path / "results" / "extension" / "figures" / "tilt.py"
    )
    code = (
        "import importlib.util as u; from extrap import studies\n"
        "found = u.find_spec('extrap.studies.extension.figures.tilt')\n"
        "print(found is not None)\n"
        "try: u.find_spec('extrap.studies.theirs.evil')\n"
        "except ModuleNotFoundError: print('none')\n"
    )
    done = python("-P", "-c", code, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.stdout.split() == ["True", "none"], done.stderr
    assert not (tmp_path / "ran").exists()
