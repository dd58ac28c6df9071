"""Generated records in the published format: what is written is what the task would generate, and a
mistake is one line.
"""

import gzip
import json

import pytest

from extrap.cli.records import main, write
from extrap.data.trials.json_prompt import generate
from extrap.data.trials.published import read


@pytest.mark.parametrize("name", ["some.jsonl", "some.jsonl.gz"])
def test_what_is_written_is_read_back_as_it_is_generated(tmp_path, name):
    path = tmp_path / "new" / name
    main(["--pairs", "5", "--examples", "7", "--seed", "3", "--characters", "8", str(path)])
    assert read("task.x.path", str(path), 100) == [generate(5, 8, 3, i) for i in range(7)]
    assert path.read_bytes().startswith(b"\x1f\x8b") == name.endswith(".gz")
    assert [p.name for p in path.parent.iterdir()] == [name]


def test_a_line_is_of_the_published_form_and_no_place_is_preferred(tmp_path):
    path = tmp_path / "some.jsonl"
    main(["--pairs", "3", "--examples", "6", str(path)])
    for i, line in enumerate(map(json.loads, path.read_text().splitlines())):
        made = generate(3, 36, 0, i)
        assert list(line) == ["ordered_kv_records", "key", "value"]
        assert (
            line["ordered_kv_records"][i % 3]
            == [line["key"], line["value"]]
            == [made.key, made.value]
        )
        assert [tuple(r) for r in line["ordered_kv_records"] if r[0] != line["key"]] == list(
            made.distractors
        )


def test_the_same_examples_are_the_same_bytes_and_an_error_leaves_the_old_file(tmp_path):
    one, two = tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl.gz"
    for path in (one, two):
        main(["--pairs", "2", "--examples", "2", str(path)])
    assert one.read_bytes() == two.read_bytes() and one.read_bytes()[4:8] == bytes(
        4
    )  # when it was packed: not said
    assert len(gzip.decompress(one.read_bytes()).splitlines()) == 2

    def broken():
        yield generate(2, 36, 1, 0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(one, broken())
    assert one.read_bytes() == two.read_bytes() and sorted(tmp_path.iterdir()) == [one, two]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--pairs 0 FILE", "--pairs=0: expected a whole number of at least 1"),
        ("--pairs many FILE", "--pairs=many: expected a whole number of at least 1"),
        ("--examples 0 FILE", "--examples=0: expected a whole number of at least 1"),
        ("--seed -1 FILE", "--seed=-1: expected a whole number of at least 0"),
        ("--characters 37 FILE", "--characters=37: expected 1 to 36 characters"),
        (
            "--characters 1 --pairs 5 FILE",
            "--pairs=5: with --characters=1 a line holds at most 4 records",
        ),
        (
            "--pairs 900000 FILE",
            "--pairs=900000: with --characters=36 a line holds at most 818399 records",
        ),
        ("", "FILE: missing; "),
        (".", "FILE=.: not a file"),
        ("FILE/in-a-file", "FILE="),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(tmp_path, capsys, words, message):
    path = tmp_path / "some.jsonl"
    if "in-a-file" in words:
        path.write_text("a file")
    with pytest.raises(SystemExit) as end:
        main(words.replace("FILE", str(path)).split())
    said = capsys.readouterr().err
    assert (
        end.value.code == 2
        and said.startswith(f"extrap.cli.records: {message}")
        and said.count("\n") == 1
    )
    assert not path.exists() or path.read_text() == "a file"
