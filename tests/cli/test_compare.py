"""`extrap compare`: differences of rows and items, by pair, by seed; one line for a mistake."""

import json
from itertools import zip_longest
from types import SimpleNamespace

import numpy as np
import pytest

from extrap.cli import compare
from extrap.results import rows
from extrap.results.comparison import pairs
from extrap.results.comparison.cells import SUMMARIES, Cell, opened
from extrap.results.stats.paired import holm
from extrap.utils.errors import UserError
from tests.support.plausible import run_rows

FEW = (("kv", 256), ("nll", 64), ("nll", 256))
RECORDS = Cell("kv", "records", 256, "accuracy")


def items_of(run, asked=None):
    """Items that the rows of a run are means of: the first trials are right, documents differ by a
    zigzag that adds up to nothing.

    asked: {task: digest of its questions}, those of depths a number each.
    """
    for row in run:
        if row["task"] in (asked or {}) and (row["metric"] == "nll" or "depth" in row):
            where = {k: row[k] for k in ("protocol", "length", "depth") if k in row}
            yield where | {
                "metric": "drawn",
                "item": "all",
                "value": asked[row["task"]] + row.get("depth", 0),
            }
        if row["metric"] == "accuracy" and "depth" in row:
            where = {k: row[k] for k in ("protocol", "length", "depth")}
            hits = round(row["value"] * row["n"])
            yield from (
                where | {"metric": "accuracy", "item": i, "value": float(i < hits)}
                for i in range(row["n"])
            )
            yield where | {"metric": "index", "item": "all", "value": 3}
        if row["metric"] == "nll" and row["task"] == "nll":
            where = {k: row[k] for k in ("protocol", "length")}
            zigzag = (-1) ** np.arange(row["n"]) * (0.1 + 0.05 * row["seed"])
            for i, z in enumerate(zigzag):
                yield where | {"metric": "nll_sum", "item": i, "value": 512 * (row["value"] + z)}
                yield where | {"metric": "tokens", "item": i, "value": 512}


def study(tmp_path, runs, items=True, asked=(), protocols=("sliding", "records")):
    """The runs at one or two lengths and in two protocols, which is enough and quick to write.
    asked: what each of the runs was asked, as in `items_of`.
    """
    for whole, questions in zip_longest(runs, asked):
        run = [
            row
            for row in whole
            if ((row["task"], row.get("length")) in FEW or "length" not in row)
            and row.get("protocol", "sliding") in protocols
        ]
        for task in ("train", "nll", "kv"):
            part = [row for row in run if row["task"] == task]
            stem = f"{run[0]['run']}__{run[0]['extension']}__{task}"
            rows.write(tmp_path / "demo" / "rows" / f"{stem}.csv", part)
            if items and task != "train":
                rows.write_items(
                    tmp_path / "demo" / "items" / f"{stem}.csv", items_of(part, questions)
                )
    return tmp_path


def lines(results, *words):
    """{(task, protocol, length, metric): the other columns} of the tables, one dict per pair."""
    found = []
    for line in compare.text(results, "demo", list(words), []).splitlines():
        cells = line.split()
        if line.startswith("A = "):
            found.append({})
        elif len(cells) == 15 and cells[0] in ("nll", "kv"):
            found[-1][cells[0], cells[1], int(cells[2]), cells[3]] = cells[4:12]
    return found


def curve(run):
    """{depth: accuracy} of RECORDS."""
    here = [
        r
        for r in run
        if r["task"] == "kv" and r.get("protocol") == "records" and r.get("length") == 256
    ]
    return {r["depth"]: r["value"] for r in here if r["metric"] == "accuracy"}


def shown(difference):
    return [f"{x:.4f}" for x in (difference.value, difference.low, difference.high)]


def test_no_difference_is_said_with_what_would_have_shown(tmp_path):
    runs = [run_rows(name, seed) for name in ("t5", "rope") for seed in range(3)]
    for seed, shift in enumerate((0.05, -0.05, 0.0)):
        moved = [row for row in run_rows("t5", seed) if row["metric"] not in SUMMARIES]
        runs.append(
            [row | {"scheme": "t6", "run": row["run"].replace("t5", "t6")} for row in moved]
        )
        for row in runs[-1]:
            if row["metric"] == "accuracy" and row.get("depth") == 0.9:
                row["value"] += shift
    results = study(tmp_path, runs)
    for other, same in (("t6", True), ("rope", False)):
        words = ("demo", ["t5", other])
        declared = ["kv records 256 accuracy"]
        (pair,) = compare.values(results, *words, declared)["pairs"]
        (cell,) = pair["cells"]
        assert pair["no_difference"] is same is (cell["low"] <= 0 <= cell["high"])
        *_, line, last = compare.text(results, *words, declared).splitlines()
        sentence = "no difference in these cells: all intervals include 0; differences of "
        assert last.startswith(sentence) is same
        shown = [f"{cell[name]:.4f}" for name in ("detectable", "fixed_low", "fixed_high")]
        if same:
            assert f"of {cell['detectable']:.3f} would show in 80 %" in last
            assert line.split()[-3:] == shown
        else:
            assert last.split()[-3:] == shown


def test_json_is_the_table(tmp_path, capsys):
    results = study(tmp_path, [run_rows("rope"), run_rows("learned")])
    compare.main(["demo", "rope", "learned", "--json", "--results", str(results)])
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    (table,) = lines(results, "rope", "learned")
    assert len(pair["cells"]) == len(table)
    for cell in pair["cells"]:
        line = table[cell["task"], cell["protocol"], cell["length"], cell["metric"]]
        assert line[:3] == [f"{cell[name]:.4f}" for name in ("a", "b", "difference")]


def test_only_seeds_that_both_have_are_paired(tmp_path):
    runs = [run_rows("rope", seed) for seed in (0, 1, 2)] + [
        run_rows("alibi", seed) for seed in (1, 2, 3)
    ]
    (table,) = lines(study(tmp_path, runs), "rope", "alibi")
    assert {line[5] for line in table.values()} == {"2"}
    runs = [run_rows("rope", 0), run_rows("alibi", 1)]
    with pytest.raises(UserError, match="share no seed"):
        lines(study(tmp_path / "other", runs), "rope", "alibi")


def test_several_contrasts_are_adjusted_by_holm(tmp_path):
    runs = [run_rows(name, seed) for name in ("t5", "alibi", "rope") for seed in range(3)]
    results = study(tmp_path, runs)
    alone = [lines(results, "t5", other)[0][RECORDS][-1] for other in ("alibi", "rope")]
    both = [table[RECORDS][-1] for table in lines(results, "t5", "alibi", "rope")]
    assert [float(p) for p in both] == pytest.approx(
        holm([float(p) for p in alone]).tolist(), abs=0.002
    )
    text = compare.text(
        results, "demo", ["t5", "alibi", "rope"], ["kv records 256 accuracy", "nll sliding 64"]
    )
    assert "Holm over 4 contrasts" in text
    assert sum(line.startswith(("kv ", "nll ")) for line in text.splitlines()) == 4


def test_a_declared_cell_that_one_pair_has_is_enough(tmp_path):
    results = study(tmp_path, [run_rows(name) for name in ("rope", "alibi", "learned")])
    text = compare.text(results, "demo", ["rope", "alibi", "learned"], ["nll sliding 256"])
    assert text.splitlines()[-1] == "no declared cell has values for both series"
    assert sum(line.startswith("nll ") for line in text.splitlines()) == 1


def test_a_reader_that_lost_what_the_run_learned_is_not_called_untrained(tmp_path):
    lost = run_rows("rope", extension="pi", factor=8, status="not trained")
    text = compare.text(study(tmp_path, [run_rows("rope"), lost]), "demo", ["rope", "rope+pi"], [])
    assert "A = rope, B = rope + pi x8" in text and "below the gate" not in text


def test_extensions_and_untrained_runs_are_named(tmp_path):
    extended = [run_rows("rope", extension="ntk", factor=factor) for factor in (2, 4)]
    results = study(tmp_path, [run_rows("rope", status="not trained"), extended[0]])
    text = compare.text(results, "demo", ["rope", "rope+ntk"], [])
    assert "A = rope, B = rope + ntk x2" in text
    assert "rope: kv seed 0 below the gate, no statement about length rests on these" in text
    rows.write(
        tmp_path / "demo" / "rows" / "x4.csv", [row | {"config": "beef"} for row in extended[1]]
    )
    with pytest.raises(
        UserError, match=r"SERIES=rope\+ntk: several series fit this name; choose one"
    ):
        compare.text(results, "demo", ["rope", "rope+ntk"], [])
    assert "B = rope + ntk x4" in compare.text(results, "demo", ["rope", "rope+ntk x4"], [])


def test_it_says_how_many_seeds_count(tmp_path):
    runs = [run_rows(name, seed) for name in ("rope", "alibi") for seed in range(3)]
    runs[1] = run_rows("rope", 1, status="not trained")
    text = compare.text(study(tmp_path, runs), "demo", ["rope", "alibi"], [])
    assert "rope: kv seed 1 below the gate, 2 of 3 seeds count" in text
    (table,) = lines(tmp_path, "rope", "alibi")
    assert {place[0]: line[5] for place, line in table.items()} == {"kv": "2", "nll": "3"}


def test_seeds_that_diverged_at_one_length_count_at_the_others(tmp_path):
    """And a count is said once for all reasons."""
    runs = [run_rows(name, seed) for name in ("rope", "alibi") for seed in range(3)]
    lost = {"status": "diverged", "value": float("nan"), "low": None, "high": None}
    for run in runs[:3]:
        at = [n for n, row in enumerate(run) if (row["task"], row.get("length")) == ("nll", 256)]
        for n in at:
            run[n] = run[n] | lost
    runs[1] = [row | ({"status": "not trained"} if row["task"] == "kv" else {}) for row in runs[1]]
    runs[2] = [row | (lost if row["task"] == "kv" else {}) for row in runs[2]]
    text = compare.text(study(tmp_path, runs, items=False), "demo", ["rope", "alibi"], [])
    (line,) = [line for line in text.splitlines() if line.startswith("rope: ")]
    kv = "kv seed 2 diverged at 256, seed 1 below the gate, 1 of 3 seeds count"
    assert line == f"rope: {kv}; nll seed 0, 1, 2 diverged at 256"


def test_two_series_of_one_name_are_told_apart_by_nobody(tmp_path):
    known = opened(study(tmp_path, [run_rows("rope"), run_rows("alibi")]) / "demo")
    with pytest.raises(UserError, match="SERIES=rope: 2 series have this name; give each"):
        pairs.choose([*known, *known], ["rope", "alibi"])


def test_a_protocol_that_was_not_learned_is_named(tmp_path):
    runs = [run_rows(scheme, seed) for seed in (0, 1) for scheme in ("rope", "alibi")]
    lost = {"status": "not trained"}
    runs = [
        [
            row | (lost if (row["scheme"], row.get("protocol")) == ("rope", "padded") else {})
            for row in run
        ]
        for run in runs
    ]
    results = study(tmp_path, runs, protocols=("sliding", "records", "padded"))
    text = compare.text(results, "demo", ["rope", "alibi"], [])
    assert "rope: kv padded seed 0, 1 below the gate, no statement" in text and "alibi:" not in text


def test_a_series_without_a_factor_is_named_beside_one_with_a_factor():
    labels = ("rope", "rope + pi", "rope + pi x4", "rope + ntk x8")
    known = [SimpleNamespace(label=label, extension=label[7:9]) for label in labels]
    chosen = pairs.choose(known, ["rope + pi", "rope+ntk", "rope"])
    assert [s.label for s in chosen] == ["rope + pi", "rope + ntk x8", "rope"]
