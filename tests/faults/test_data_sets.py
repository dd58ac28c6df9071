"""Data sets from strangers: no name leads into the working folder, no set and no row to a file or
an address outside it.
"""

import json
from pathlib import Path

import huggingface_hub
import pytest

from extrap.data.corpora.files import Files
from extrap.data.corpora.hub import Hub
from extrap.data.corpora.reader import _own_files
from extrap.utils.errors import UserError

pytestmark = pytest.mark.usefixtures("elsewhere")


def told(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Returns the line about a set whose name the hub knows as given."""

    def info(self, name, **options):
        found = {"a/link": "own/set", "folder-less": "json"}.get(name, name)
        return huggingface_hub.hf_api.DatasetInfo(id=found, sha="1", downloads=0, likes=0, tags=[])

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    with pytest.raises(UserError) as error:
        list(Hub(name=name, config=None).documents())
    assert error.value.option == "data.corpus.name"
    return str(error.value)


@pytest.mark.parametrize("name", ["own/set", "own", "./own/set", "own/set/", "a/link", "other"])
def test_a_name_of_the_working_folder_is_refused(name, tmp_path, monkeypatch):
    """The README of such a folder names the files that are read, anywhere."""
    Path("own/set").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret\n" * 999)
    listed = f"---\nconfigs: [{{config_name: a, data_files: {tmp_path}/secret.txt}}]\n---\n"
    Path("own/set/README.md").write_text(listed)
    Path("other").symlink_to("own/set")
    said = told(name, monkeypatch)
    assert "in the working folder, and would be read in place of the hub; rename it" in said
    assert "data/corpus=files data.corpus.path=" in said


def test_a_name_is_no_reader_of_files(monkeypatch):
    """`json` is a reader of `datasets`, of whatever lies in the working folder."""
    Path("a.json").write_text('{"text": "a"}\n')
    assert "without an owner" in told("folder-less", monkeypatch)


FOREIGN = [
    *("/etc/passwd", "../other", "a/../../b", "http://a.example/x", "file:///etc/passwd"),
    *("a.txt::/etc/passwd", "zip://a.txt::b.zip", "hf://datasets/own/other@1/a.txt"),
    "hf://datasets/own/set@1/../x",
]


@pytest.mark.parametrize("pattern", FOREIGN)
def test_a_set_lists_its_own_files(pattern, monkeypatch):
    from datasets import data_files

    monkeypatch.setattr(data_files, "resolve_pattern", lambda pattern, base: [pattern])
    with _own_files("own/set"):
        copy = "https://huggingface.co/datasets/own/set/resolve/1/a.parquet"
        for own in ("a.txt", "data/*.txt", "hf://datasets/own/set@1/a.txt", copy):
            assert data_files.resolve_pattern(own, "hf://datasets/own/set@1") == [own]
        with pytest.raises(ValueError, match="a file that is not its own"):
            data_files.resolve_pattern(pattern, "hf://datasets/own/set@1")


def test_a_row_leads_nowhere(listener):
    """A column of images holds addresses, which a reader of images fetches."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    address, heard = listener
    features = {"text": {"dtype": "string", "_type": "Value"}, "image": {"_type": "Image"}}
    known = json.dumps({"info": {"features": features}})
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("text", pa.string()), ("image", image)], {"huggingface": known})
    rows = [{"text": "some text", "image": {"bytes": None, "path": f"{address}/a.png"}}]
    pq.write_table(pa.Table.from_pylist(rows, schema), "a.parquet")
    assert [text for _, text in Files(path="a.parquet").documents()] == [b"some text"]
    assert heard == []
