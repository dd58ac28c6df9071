"""The embedded corpus: which files of the installed torch it is."""

from types import SimpleNamespace

from extrap.data.corpora import torch as corpora_torch
from extrap.data.corpora.base import split_of
from extrap.data.corpora.torch import Torch


def test_python_files_but_tests_and_small_ones(tmp_path, monkeypatch):
    sizes = {
        "nn/b.py": 2000,
        "a.py": 1024,
        "version.py": 1023,
        "testing/c.py": 5000,
        "_numpy/testing/d.py": 5000,
        "nn/e.pyi": 5000,
    }
    for name, size in sizes.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes("é".encode() * (size // 2) + b"x" * (size % 2))
    monkeypatch.setattr(
        corpora_torch,
        "find_spec",
        lambda name: SimpleNamespace(submodule_search_locations=[str(tmp_path)]),
    )
    assert [(name, len(text)) for name, text in Torch().documents()] == [
        ("a.py", 1024),
        ("nn/b.py", 2000),
    ]
    assert [name for name, _ in Torch(smallest=2000).documents()] == ["nn/b.py"]


def test_the_name_tells_the_version_without_the_build():
    assert Torch().title.startswith("torch-")
    assert "+" not in Torch().title


def test_installed_torch_has_enough_long_documents_for_validation():
    """64 documents of 32 x 64 tokens, as evaluation reads; from file sizes alone."""
    root, paths = Torch()._files()
    sizes = {path.relative_to(root).as_posix(): path.stat().st_size for path in paths}
    assert (
        sum(size >= 2048 and split_of(name, 0.1) == "validation" for name, size in sizes.items())
        >= 64
    )
    assert sum(size for name, size in sizes.items() if split_of(name, 0.1) == "train") > 20e6
