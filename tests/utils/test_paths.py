"""The configuration folder is found from the package, wherever that lies and wherever
one stands.
"""

from pathlib import Path

import pytest

from extrap.utils import paths


def test_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Path(paths.conf_dir()).is_absolute()
    assert (Path(paths.conf_dir()) / "scheme").is_dir()


def test_the_installed_copy_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "__file__", str(tmp_path / "extrap" / "utils" / "paths.py"))
    with pytest.raises(FileNotFoundError, match="no configuration files in"):
        paths.conf_dir()
    (tmp_path / "conf" / "hydra").mkdir(parents=True)
    assert paths.conf_dir() == str(tmp_path / "conf")
    (tmp_path / "extrap" / "conf" / "hydra").mkdir(parents=True)
    assert paths.conf_dir() == str(tmp_path / "extrap" / "conf")
