"""The README's table of schemes is the one the files give."""

from pathlib import Path

from extrap.cli import schemes as catalogue
from extrap.utils.paths import conf_dir
from tests.discover import names

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_has_not_drifted():
    assert catalogue.inserted(README.read_text(), catalogue.table(conf_dir())) == README.read_text(), "run `make readme`"


def test_every_scheme_is_listed_with_what_it_does():
    frame = catalogue.table(conf_dir()).set_index("scheme")
    assert sorted(frame.index) == names("scheme")
    assert frame.loc["alibi", ["kind", "acts at", "parameters"]].tolist() == ["relative", "bias of distance", "0"]
    assert frame.loc["nope", "acts at"] == "nothing"
    assert frame.loc["t5", "parameters"] == "128"
    assert "temperature" in frame.loc["rope-logn-softmax1", "acts at"]
