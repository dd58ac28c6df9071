"""`extrap compare` pairs scores of single items if both runs answered the same questions."""

import numpy as np
import pytest

from extrap.cli import compare
from extrap.results import rows
from extrap.results.stats.paired import by_items
from extrap.utils.errors import UserError
from tests.cli.test_compare import RECORDS, curve, items_of, lines, shown, study
from tests.support.plausible import DEPTHS, run_rows


def test_one_seed_is_compared_trial_by_trial(tmp_path):
    results = study(tmp_path, [run_rows("rope"), run_rows("alibi")])
    (table,) = lines(results, "rope", "alibi")
    curves = {}
    for name in ("rope", "alibi"):
        values = curve(run_rows(name))
        in_file = sorted(range(200), key=str)
        curves[name] = np.array(
            [[i < round(200 * values[d]) for d in DEPTHS] for i in in_file], float
        )
    expected = by_items([curves["rope"].mean(1)], [curves["alibi"].mean(1)])
    a, b, *difference, seeds, items, p = table[RECORDS]
    assert (a, b) == (f"{curves['rope'].mean():.4f}", f"{curves['alibi'].mean():.4f}")
    assert difference == shown(expected)
    assert (seeds, items, p) == ("1", "200", f"{expected.p:.3f}")
    ends = curves["rope"][:, [0, 6]].mean(1) - curves["rope"][:, 2:5].mean(1)
    theirs = curves["alibi"][:, [0, 6]].mean(1) - curves["alibi"][:, 2:5].mean(1)
    assert table["kv", "records", 256, "u_depth"][2:5] == shown(by_items([ends], [theirs]))


def test_losses_are_compared_document_by_document_where_both_have_a_value(tmp_path):
    (table,) = lines(study(tmp_path, [run_rows("rope"), run_rows("learned")]), "rope", "learned")
    _, _, difference, low, high, seeds, items, _ = table["nll", "sliding", 64, "nll"]
    # The zigzag is the same in both, so pairing leaves no spread at all.
    assert low == difference == high == f"{np.log(7.3 * 0.93) - np.log(11 * 0.93):.4f}"
    assert (seeds, items) == ("1", "64")
    assert ("nll", "sliding", 256, "nll") not in table


ASKED = {"kv": 4e9, "nll": 7}


@pytest.mark.parametrize(
    ("others", "unlike"),
    [
        (ASKED, []),
        (None, []),
        (ASKED | {"nll": 8}, ["nll"]),
        (ASKED | {"kv": 5}, ["kv"]),
    ],
)
def test_what_was_asked_other_questions_is_not_paired_by_item_and_said_so(
    tmp_path, capsys, others, unlike
):
    results = study(tmp_path, [run_rows("rope"), run_rows("alibi")], asked=[ASKED, others])
    (table,) = lines(results, "rope", "alibi")
    by_item = {cell[0] for cell, columns in table.items() if columns[6] != "-"}
    assert by_item == {"kv", "nll"} - {*unlike}
    assert all((columns[3] == "-") == (cell[0] in unlike) for cell, columns in table.items())
    said = capsys.readouterr().err
    start = (
        f"extrap compare: not paired by item: {', '.join(unlike)}; the runs were asked different "
        "questions"
    )
    assert said.count("\n") == bool(unlike) and said.startswith(start if unlike else "")


def test_seeds_that_were_asked_different_questions_are_not_paired_by_item(tmp_path, capsys):
    runs = [run_rows(name, seed) for name in ("t5", "alibi") for seed in range(2)]
    (table,) = lines(study(tmp_path, runs, asked=[ASKED, ASKED | {"kv": 5}] * 2), "t5", "alibi")
    assert table[RECORDS][5:7] == ["2", "-"] and table["nll", "sliding", 64, "nll"][6] == "64"
    assert "not paired by item: kv; " in capsys.readouterr().err


def test_one_seed_without_items_has_no_interval(tmp_path, capsys):
    (table,) = lines(
        study(tmp_path, [run_rows("rope"), run_rows("alibi")], items=False), "rope", "alibi"
    )
    assert table[RECORDS][3:] == ["-", "-", "1", "-", "-"]
    assert capsys.readouterr().err.startswith(
        "extrap compare: scores of single items (kv, nll) are not committed and not here"
    )


def test_the_command_that_makes_items_does_not_accept_rows():
    """It would find them all there, and measure nothing."""
    said = compare._missing("reference", ["kv"])
    assert "`extrap experiment=reference/headline accept_rows=false`" in said


def test_other_scores_of_the_same_questions_and_curves_along_an_index_are_cells(tmp_path):
    """A trial with all its places is one item; a curve along positions of the text is no cell."""
    trials = []
    for name, hits in (("rope", 20), ("alibi", 10)):
        right = np.array([[i < hits + index for i in range(40)] for index in range(3)], float)
        trials.append([right[:, i].mean() for i in sorted(range(40), key=str)])
        run = run_rows(name)[0] | {"task": "kv-serial", "length": 64}
        place = {"protocol": "records", "axis": "index"}
        found = [
            run | place | {"at": index, "metric": metric, "value": right[index].mean()}
            for index in range(3)
            for metric in ("accuracy", "restricted")
        ]
        place = {"protocol": "positions", "axis": "position", "metric": "nll"}
        found += [run | place | {"at": at, "value": at} for at in (1, 2)]
        where = {"protocol": "records", "length": 64}
        items = [where | {"metric": "drawn", "item": "all", "value": 1}]
        items += [
            where | {"metric": "accuracy", "item": f"{index}:{i}", "value": value}
            for (index, i), value in np.ndenumerate(right)
        ]
        stem = f"{run['run']}__direct__kv-serial"
        rows.write(tmp_path / "demo" / "rows" / f"{stem}.csv", found)
        rows.write_items(tmp_path / "demo" / "items" / f"{stem}.csv", items)
    text = compare.text(tmp_path, "demo", ["rope", "alibi"], []).splitlines()
    cells = {line.split()[3]: line.split()[4:] for line in text if line.startswith("kv-serial")}
    assert cells["accuracy"][2:7] == [*shown(by_items(trials[:1], trials[1:])), "1", "40"]
    assert cells["restricted"] == ["0.5250", "0.2750", "0.2500", "-", "-", "1", *"-----"]
    assert set(cells) == {"accuracy", "restricted"}


def test_items_of_other_rows_are_refused(tmp_path):
    results = study(tmp_path, [run_rows("rope"), run_rows("alibi")])
    stem = f"{run_rows('rope')[0]['run']}__direct__kv"
    other = [row for row in run_rows("t5") if row["task"] == "kv"]
    rows.write_items(
        results / "demo" / "items" / f"{stem}.csv",
        items_of([r for r in other if r.get("length") == 256]),
    )
    with pytest.raises(UserError, match=r"rope-cafe0123-s0__direct__kv\.csv: does not belong to"):
        compare.text(results, "demo", ["rope", "alibi"], [])
