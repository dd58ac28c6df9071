"""Extensions on the command line: refusals, names of files and rows, and the factor of a row."""

import pytest

from extrap.results import rows
from extrap.runs import validate
from extrap.runs.choices import changed
from extrap.runs.evaluate import entry, evaluate
from extrap.runs.train import train
from extrap.utils.errors import NotApplicable, UserError
from tests.support.jobs import job


@pytest.fixture
def trained(elsewhere):
    train(job("scheme=rope"))

    def measured(*overrides: str):
        j = job("scheme=rope", "stage=evaluate", *overrides)
        evaluate(j)
        assert not entry(j).missing()
        return j

    return measured


def test_rows_are_added_to_a_trained_run(trained):
    direct, ntk, four = (
        trained(),
        trained("extension=ntk"),
        trained("extension=ntk", "extension.factor=4"),
    )
    frame = rows.read(direct.results)
    assert {p.name.split("__", 1)[1] for p in (direct.results / "rows").iterdir()} == {
        *("direct__train.csv", "direct__nll.csv", "direct__kv.csv"),
        *("ntk__used.csv", "ntk__nll.csv", "ntk__kv.csv"),
        *("ntk,factor=4__used.csv", "ntk,factor=4__nll.csv", "ntk,factor=4__kv.csv"),
    }
    assert set(frame[frame.task == "train"].extension) == {"direct"}
    assert {(r.extension, r.factor) for r in frame.itertuples()} == {
        ("direct", 1.0),
        ("ntk", 8.0),
        ("ntk", 4.0),
    }
    assert direct.run.name == ntk.run.name == four.run.name


def test_an_adaptive_factor_is_that_of_each_length(trained):
    frame = rows.read(trained("extension=ntk-dynamic").results)
    nll = frame[frame.task == "nll"]
    assert {(n, factor) for n, factor in zip(nll.length, nll.factor, strict=True)} == {
        (64, 1.0),
        (128, 2.0),
    }
    used = frame[(frame.task == "used") & (frame.metric == "theta")]
    assert set(used[used.protocol == "used"].length) == {64, 128, 256, 512, 1024} and set(
        used[used.protocol == "trained"].length
    ) == {64}
    assert set(used.axis) == {"pair"} and set(used["at"]) == set(range(8))


def test_options_tell_variants_apart(elsewhere):
    assert job("extension=ntk-su-mixed", "extension.factor=4").extension_name == "ntk-su-mixed"
    j = job("extension=ntk-su-mixed", "extension.b=0.75", "extension.factor=4")
    assert (j.extension_name, j.extension_stem) == (
        "ntk-su-mixed,b=0.75",
        "ntk-su-mixed,factor=4,b=0.75",
    )
    j = job("extension=ntk-su-mixed-log-n", "extension.first.b=0", "extension.first.factor=2")
    assert (j.extension_name, j.extension_stem) == (
        "ntk-su-mixed-log-n,first.b=0",
        "ntk-su-mixed-log-n,first.factor=2,first.b=0",
    )
    assert job("extension=pi", "extension.factor=null").extension_stem == "pi,factor=null"


def test_a_choice_without_a_file_differs_from_the_defaults_of_its_class():
    node = {
        "_target_": "extrap.extensions.longrope.LongRoPE",
        "factor": 8.0,
        "long": [1.0, 2.0],
        "short": None,
    }
    assert list(changed(node, None)) == ["long"] and len(changed(node, None)["long"]) == 8


def test_another_class_is_another_method(elsewhere):
    """Its rows do not replace the rows of the file that it was put into."""
    plain, other = (job("extension=direct", *words) for words in ([], [NTK]))
    assert plain.extension_name == "direct" and other.extension_name == "direct,_target_=NTK"
    assert other.extension_stem == "direct,_target_=NTK"
    chained = job("extension=ntk-log-n", "extension.then._target_=extrap.extensions.ntk.NTK")
    assert chained.extension_name.startswith("ntk-log-n,then._target_=NTK")


NTK = "extension._target_=extrap.extensions.ntk.NTK"


def test_numbers_that_agree_to_six_digits_are_told_apart(elsewhere):
    stems = [
        job("extension=yarn", f"extension.factor={factor}").extension_stem
        for factor in ("3.3333333", "3.33333", "1e6", "999999.5")
    ]
    assert stems == [f"yarn,factor={s}" for s in ("3.3333333", "3.33333", "1e+06", "999999.5")]


def test_a_value_that_the_method_cannot_take_is_a_mistake_and_no_pair(elsewhere):
    """A sweep leaves out pairs that make no sense; a mistake ends it before it starts."""
    with pytest.raises(UserError, match=r"^extension.first.width=65: must lie") as mistake:
        validate.check(job("extension=rerope-log-n", "extension.first.width=65"))
    assert not isinstance(mistake.value, NotApplicable)
    with pytest.raises(NotApplicable, match=r"window=\d+: no divisor of it groups"):
        validate.check(job("extension=self-extend", "extension.factor=64"))
