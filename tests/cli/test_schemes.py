"""The tables of conf are those that the files give."""

from pathlib import Path

import pytest

from extrap.audit import catalogue
from extrap.cli import schemes
from extrap.utils import markdown
from extrap.utils.paths import conf_dir
from tests.support.discover import names


@pytest.mark.parametrize("group", catalogue.ROWS)
def test_the_readmes_have_not_drifted(group):
    text = (Path(conf_dir()) / group / "README.md").read_text()
    table = catalogue.page(catalogue.table(group))
    assert markdown.between(text, group, table) == text, "run `make tables`"


@pytest.mark.parametrize("group", catalogue.ROWS)
def test_everything_is_listed(group):
    frame = catalogue.table(group)
    assert sorted(frame[group]) == sorted(p.stem for p in (Path(conf_dir()) / group).glob("*.yaml"))
    assert (frame.map(len) > 0).all(axis=None) and not frame.map(lambda cell: "\n" in cell).any(
        axis=None
    )


def test_the_command_prints_the_schemes(capsys):
    schemes.main([])
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 1 + len(names("scheme")) and printed[0].split()[0] == "scheme"


def test_a_folder_without_groups_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        schemes.main(["--write", "--config-dir", str(tmp_path)])
    assert f"--config-dir={tmp_path}: no YAML in its folders" in capsys.readouterr().err
