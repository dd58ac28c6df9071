"""Files from anybody: none hangs, fills the memory or ends the process."""

import os
from pathlib import Path

import pytest

from extrap.results import left_out
from extrap.results.findings import numbers, statement
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from extrap.utils.untrusted import check_yaml, read_json, read_yaml

DOUBLED = "\n".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))
REFUSED = {
    "- &a0 [x, x]\n" + DOUBLED: "more than 100,000 values when its references are written out",
    "a: &a {b: 1}\nc: &c {<<: *a, d: *c}": "more than 100,000 values",
    "[" * 101 + "]" * 101: "nested deeper than 100 levels",
    "#" * (2**20 + 1): "larger than 1 MiB",
}


@pytest.mark.parametrize("text", REFUSED, ids=REFUSED.values())
def test_too_much_for_a_configuration(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=REFUSED[text]):
        check_yaml(tmp_path / "a.yaml")


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"label: \xff\xfe")
    with pytest.raises(UserError, match=r"a\.yaml: not UTF-8 \(invalid start byte at byte 7\)"):
        check_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    "text", ["a: &a [1, 2]\nb: [*a, *a]", "a: *none", "[", "a: [" + "b, " * 9000 + "]"]
)
def test_honest_files_are_left_to_whoever_reads_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    check_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\ntrials 50\n", 3),
        ("a: 1\ntrials 50\nb: 2\n", 2),
        ("a: [1, 2\nb: 3\n", 1),
        ("a: 1\nb:\n  - 1\n 2\nc: 3\n", 4),
    ],
)
def test_the_line_of_a_syntax_error_is_the_one_to_mend(
    text: str, line: int, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=rf"a\.yaml: line {line} is not YAML: \w.*; mend the file"):
        read_yaml(tmp_path / "a.yaml")


def test_every_file_of_ours_is_read() -> None:
    found = {path: read_yaml(path) for path in Path(conf_dir()).rglob("*.yaml")}
    assert len(found) > 200 and all(isinstance(read, dict | None) for read in found.values())


READERS = {
    left_out.FILE: left_out.rules,
    statement.FILE: statement.read,
    numbers.FILE: lambda folder: statement.parsed(folder / numbers.FILE),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", [*REFUSED, "a: 2026-99-99", "a: [", "? {}\n: 1"])
def test_the_files_of_a_study_are_read_safely(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError) as error:
        READERS[name](tmp_path)
    assert error.value.option == str(tmp_path / name)


@pytest.mark.parametrize("read", [read_yaml, read_json])
def test_what_is_no_file(read, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "pipe", tmp_path / "folder", Path("/dev/zero")):
        with pytest.raises(UserError, match="not a file"):
            read(place)


@pytest.mark.parametrize("text", ["", "[]", "[" * 99_999, "1" * 5000])
def test_what_is_no_object_of_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UserError, match="JSON"):
        read_json(tmp_path / "a.json")
