"""How much a file of configuration may hold."""

from pathlib import Path

import pytest
import yaml

from extrap.cli import yaml_guard
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir

DOUBLED = "\n".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40))
REFUSED = {
    "- &a0 [x, x]\n" + DOUBLED: "more than 100,000 values when what it refers to is written out",
    "- &a0 x\n" + DOUBLED: "more than 100,000 values",
    "a: &a {b: 1}\nc: &c {<<: *a, d: *c}": "more than 100,000 values",
    "[" * 101 + "]" * 101: "nested deeper than 100 levels",
    "- " * 101 + "a": "nested deeper than 100 levels",
    "#" * (2**20 + 1): "larger than 1 MiB",
}


@pytest.mark.parametrize("text", REFUSED, ids=REFUSED.values())
def test_too_much_for_a_configuration(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=REFUSED[text]):
        yaml_guard.check(tmp_path / "a.yaml")


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"label: \xff\xfe")
    with pytest.raises(UserError, match=r"a\.yaml: not UTF-8 \(invalid start byte at byte 7\)"):
        yaml_guard.check(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    "text", ["a: &a [1, 2]\nb: [*a, *a]", "a: *none", "[", "# *a", "a: [" + "b, " * 9000 + "]"]
)
def test_honest_files_are_left_to_whoever_reads_them(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    yaml_guard.check(tmp_path / "a.yaml")


def test_every_file_of_ours_is_read() -> None:
    for path in Path(conf_dir()).rglob("*.yaml"):
        yaml_guard.check(path)
        yaml.safe_load(path.read_text())
