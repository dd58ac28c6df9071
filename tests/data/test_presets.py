"""The presets of data/corpus that name a set of the hub, on replicas of their layouts: the README
that lists the files of each configuration, its folders, its columns.
"""

import gzip
import json
from pathlib import Path

import huggingface_hub
import pytest
import yaml

from extrap.data.corpora.base import Source
from extrap.data.corpora.hub import Hub
from extrap.data.corpora.pieces import pieces
from extrap.data.encoder import BYTES
from extrap.runs.build import build
from extrap.utils.paths import conf_dir

WEB = {"id": "<urn>", "dump": "CC-MAIN-2024-10", "url": "https://a.example", "int_score": 3}
LAYOUTS = {
    "fineweb-edu": (
        [{"config_name": "default", "data_files": [{"split": "train", "path": "data/*/*"}]},
         {"config_name": "sample-10BT",
          "data_files": [{"split": "train", "path": "sample/10BT/*"}]}],
        ["sample/10BT/000_00000.parquet", "sample/10BT/001_00000.parquet"],
        ["data/CC-MAIN-2024-10/train-00000-of-00020.parquet"], WEB),
    "wikitext-103": (
        [{"config_name": "wikitext-103-raw-v1", "data_files": [
            {"split": "test", "path": "wikitext-103-raw-v1/test-*"},
            {"split": "train", "path": "wikitext-103-raw-v1/train-*"}]}],
        ["wikitext-103-raw-v1/train-00000-of-00002.parquet",
         "wikitext-103-raw-v1/train-00001-of-00002.parquet"],
        ["wikitext-103-raw-v1/test-00000-of-00001.parquet"], {}),
    "pg19": (
        [{"config_name": "default", "data_files": [
            {"split": "train", "path": "data/train-*"}, {"split": "test", "path": "data/test-*"}]}],
        ["data/train-00000-of-00023.parquet", "data/train-00001-of-00023.parquet"],
        ["data/test-00000-of-00001.parquet"],
        {"short_book_title": "a", "publication_date": 1850, "url": "https://a.example"}),
    "c4": (
        [{"config_name": "en", "data_files": [
            {"split": "train", "path": "en/c4-train.*.json.gz"},
            {"split": "validation", "path": "en/c4-validation.*.json.gz"}]}],
        ["en/c4-train.00000-of-01024.json.gz", "en/c4-train.00001-of-01024.json.gz"],
        ["en/c4-validation.00000-of-00008.json.gz"],
        {"timestamp": "2019-04-25T12:57:54Z", "url": "https://a.example"}),
}  # fmt: skip


def replica(folder, preset):
    """Writes two files of three rows and a README; returns the texts."""
    import pandas as pd

    configs, files, others, more = LAYOUTS[preset]
    texts = [[f"text {n}.{i} of {preset}\n" for i in range(3)] for n in range(2)]
    tables = dict(zip(files, texts, strict=True)) | {name: ["not asked for"] for name in others}
    for name, rows in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table = [{"text": text} | more for text in rows]
        if name.endswith(".parquet"):
            pd.DataFrame(table).to_parquet(folder / name)
        else:
            (folder / name).write_bytes(gzip.compress("\n".join(map(json.dumps, table)).encode()))
    (folder / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': configs})}---\n")
    return [text for rows in texts for text in rows]


@pytest.mark.parametrize("preset", LAYOUTS)
def test_a_preset_reads_its_layout(preset, tmp_path, monkeypatch):
    import datasets

    options = yaml.safe_load(Path(conf_dir(), f"data/corpus/{preset}.yaml").read_text())
    assert options.pop("_target_") == "extrap.data.corpora.hub.Hub"
    texts, load = replica(tmp_path, preset), datasets.load_dataset

    def local(path, revision, **given):
        assert path == options["name"] and revision == "1"
        return load(str(tmp_path), **given)

    def info(self, name, **options):
        return huggingface_hub.hf_api.DatasetInfo(id=name, sha="1", downloads=0, likes=0, tags=[])

    monkeypatch.setattr(datasets, "load_dataset", local)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    source = Hub(**options)
    found = [piece.text.decode() for piece in pieces(source.documents(), BYTES)]
    assert found == (["".join(texts)] if source.join is not None else texts)
    second = Hub(**options | {"files": LAYOUTS[preset][1][1]})
    found = [piece.text.decode() for piece in pieces(second.documents(), BYTES)]
    assert "".join(found) == "".join(texts[3:])
    node = options | {"_target_": "extrap.data.corpora.hub.Hub", "files": [*LAYOUTS[preset][1]]}
    both = build(node, "data.corpus", kind=Source)
    assert b"".join(piece.text for piece in pieces(both.documents(), BYTES)).decode() == (
        "".join(texts)
    )
