"""`extrap plot` and `extrap table`: what they print and write, and one line for a mistake."""

import json
import re
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from extrap.cli import plot, table
from extrap.figures.report.text import number
from extrap.results import rows
from extrap.results.ranking import RETRIEVAL, places
from extrap.results.series import whole
from extrap.results.summary import summary
from tests.support import plausible
from tests.support.plausible import IDENTITY, run_rows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def results(tmp_path):
    rows.write(tmp_path / "demo" / "rows" / "a.csv", run_rows("rope"))
    return tmp_path


def test_the_table_says_what_the_rows_say(demo):
    found, own = summary(demo), demo[demo["data"] == "mixture"]
    losses = own[
        (own["scheme"] == "alibi") & (own["protocol"] == "nonoverlap") & (own["metric"] == "nll")
    ]
    assert found.loc["alibi", "nonoverlap 16x"] == pytest.approx(
        np.exp(losses.loc[losses["length"] == 1024, "value"].item())
    )
    cells = own[
        (own["scheme"] == "t5")
        & (own["protocol"] == "records")
        & (own["length"] == 256)
        & (own["metric"] == "accuracy")
    ]
    cells = cells.set_index("depth")["value"]
    assert found.loc["t5", "mean 4x"] == pytest.approx(cells.mean())
    assert found.loc["t5", "middle 4x"] == cells[0.5]
    assert found.loc["t5", "ends 4x"] == pytest.approx((cells[0] + cells[1]) / 2)
    assert found.loc["t5", "steps_to_90"] == 750
    assert np.isnan(found.loc["learned", "nonoverlap 2x"])
    assert np.isnan(found.loc["rope (retrieval only)", "nonoverlap 1x"])


def test_verdicts(demo, frame):
    verdicts = summary(demo)["verdict"]
    assert verdicts["nope"] == "below the gate"
    assert verdicts["t5"] == "below .5 at 4x"
    assert verdicts["kerple-log"] == "never below .5"
    assert verdicts["rope (text only)"] == ""
    mixed = frame(run_rows("kerple-log") + run_rows("kerple-log", 1, status="not trained"))
    assert summary(mixed)["verdict"].tolist() == ["1 of 2 seeds pass the gate; never below .5"]
    diverged = frame(
        [row | {"status": "diverged"} for row in run_rows("rope") if row["task"] == "train"]
    )
    assert summary(diverged)["verdict"].tolist() == ["diverged"]


def test_a_seed_whose_training_diverged_is_told(frame):
    curve = [row for row in run_rows("rope", 2) if row["task"] == "train"]
    lost = [row | {"status": "diverged"} for row in curve]
    lost.append(lost[0] | {"metric": "diverged_at", "axis": "", "at": None, "value": 40.0})
    sound = run_rows("rope") + run_rows("rope", 1)
    found, known = (summary(frame(rows)).iloc[0] for rows in (sound + lost, sound))
    assert found["verdict"] == f"1 of 3 seeds diverged; {known['verdict']}"
    assert found["trained text"] == known["trained text"] and found["seeds"] == 3
    _, (place,) = places(whole(frame(sound + lost)), RETRIEVAL)
    assert (place.below, place.diverged) == (0, 1)


def gated(scheme, seed, values):
    """Rows of a run that was asked algorithms alone, with the gates of its tasks."""
    identity = {name: run_rows(scheme, seed)[0][name] for name in IDENTITY}
    learned = {
        "task": "train",
        "protocol": "copy",
        "metric": "accuracy",
        "axis": "step",
        "value": 0.5,
        "status": "ok",
    }
    for name, value in values.items():
        gate = {"task": "algorithmic", "protocol": name, "metric": "gate", "value": value}
        yield identity | gate | {"status": "ok" if value >= 0.9 else "not trained"}
    yield from (identity | learned | {"at": step} for step in (0, 10))


def test_gates_are_means_and_how_many_seeds_pass(tmp_path, capsys):
    both = (
        gated("rope", 0, {"copy": 1.0, "reverse": 0.95}),
        gated("rope", 1, {"copy": 0.9, "reverse": 0.75}),
    )
    runs = [*both, gated("alibi", 0, {"copy": 0.1})]
    rows.write(tmp_path / "s" / "rows" / "a.csv", [row for run in runs for row in run])
    table.main(["s", "--results", str(tmp_path)])
    *_, title, head, copy, reverse = capsys.readouterr().out.splitlines()
    assert title.startswith("Gates of other tasks") and head.split() == ["task", "alibi", "rope"]
    assert copy.split()[2:] == [".10", "0/1", ".95"] and reverse.split()[2:] == ["-", ".85", "1/2"]


def test_a_table_says_nothing_of_what_a_study_never_asked(tmp_path, capsys):
    rows.write(tmp_path / "s" / "rows" / "a.csv", list(gated("rope", 0, {"copy": 1.0})))
    table.main(["s", "--results", str(tmp_path)])
    said = capsys.readouterr().out
    assert "perplexity" not in said and "Retrieval" not in said and len(said.splitlines()) == 5
    rows.write(tmp_path / "demo" / "rows" / "a.csv", plausible.study_rows())
    table.main(["demo", "--results", str(tmp_path)])
    said = capsys.readouterr().out
    assert "perplexity" in said and "Retrieval" in said and "Gates" not in said


def test_recipes_that_differ_between_schemes_are_marked_by_option(frame, elsewhere):
    """As far as run folders are here; the scheme itself is no recipe."""
    recipe = {"train": {"lr": 0.003, "steps": 1500}, "data": {"curriculum": None}}
    others = {"train": {"lr": 0.001, "steps": 1500}, "data": {"curriculum": [[0, 64]]}}
    given = {"rope": recipe, "alibi": recipe, "t5": others | {"precision": "bf16-mixed"}}
    rows = frame([row for name in given for row in run_rows(name)])
    assert table.differences(rows) == []
    for name, options in given.items():
        folder = Path("runs", rows.loc[rows["scheme"] == name, "run"].iloc[0])
        folder.mkdir(parents=True)
        own = {"scheme": {"_target_": name}, "precision": "32-true"} | options
        (folder / "config.json").write_text(json.dumps({"identity": own}))
    assert table.differences(rows) == [
        "recipes differ: data.curriculum None (alibi, rope), [[0, 64]] (t5)",
        "recipes differ: precision 32-true (alibi, rope), bf16-mixed (t5)",
        "recipes differ: train.lr 0.001 (t5), 0.003 (alibi, rope)",
    ]
    assert "recipes differ: train.lr 0.001 (t5)" in table.text(rows)


def test_many_gates_are_told_in_blocks_that_fit(tmp_path, capsys):
    names = [f"rope-with-a-long-name-{i}" for i in range(9)]
    one = list(gated("rope", 0, {"copy": 0.5}))
    rows.write(
        tmp_path / "s" / "rows" / "a.csv",
        [row | {"scheme": name, "run": f"{name}-cafe0123-s0"} for name in names for row in one],
    )
    table.main(["s", "--results", str(tmp_path)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 120
    headers = [line.rstrip("\\").split()[1:] for line in lines if line.startswith("task")]
    assert [*chain(*headers)] == names


def test_the_plain_table_and_json_take_labels_and_an_order(tmp_path, capsys):
    runs = [run_rows("alibi"), run_rows("rope")]
    rows.write(tmp_path / "s" / "rows" / "a.csv", [row for run in runs for row in run])
    asked = ["s", "--results", str(tmp_path), "--label", "rope=Ours", "--order", "rope"]
    table.main(asked)
    said = capsys.readouterr().out
    assert said.index("\nOurs ") < said.index("\nalibi ") and "rope" not in said
    table.main([*asked, "--json"])
    assert [*json.loads(capsys.readouterr().out)["series"]] == ["Ours", "alibi"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--lengths 4", "--lengths: chooses scores of --latex, "),
        ("--json --protocol records", "--protocol: chooses scores of --latex, "),
        ("--cost --latex", "--latex: not together with --cost"),
        ("--cost --series rope", "--series: not together with --cost"),
    ],
)
def test_what_a_table_would_ignore_is_refused(results, capsys, words, said):
    with pytest.raises(SystemExit, match="2"):
        table.main(["demo", "--results", str(results), *words.split()])
    out, err = capsys.readouterr()
    assert not out and said in err


def test_the_table_of_a_paper_has_intervals_the_best_and_the_gate(tmp_path, capsys):
    runs = [run_rows("alibi", seed) for seed in range(3)] + [run_rows("nope", 0)]
    rows.write(tmp_path / "s" / "rows" / "a.csv", [row for run in runs for row in run])
    asked = ["s", "--results", str(tmp_path), "--label", "alibi=Our_s", "--order", "nope"]
    table.main([*asked, "--csv"])
    lines = [line.split(",") for line in capsys.readouterr().out.splitlines()]
    scores = {(line[0], line[2], line[4]): line[5:] for line in lines[1:]}
    every = rows.read(tmp_path / "s")
    own = every[(every["scheme"] == "alibi") & (every["protocol"] == "records")]
    own = own[(own["metric"] == "accuracy") & (own["length"] == 256)]
    value, low, high, seeds, below = scores["Our_s", "records", "4.0"]
    assert float(value) == pytest.approx(own["value"].mean()) and (seeds, below) == ("3", "0")
    assert float(low) < float(value) < float(high)
    assert scores["nope", "records", "4.0"][1:] == ["", "", "1", "1"]
    losses = every[(every["scheme"] == "alibi") & (every["protocol"] == "sliding")]
    losses = losses.loc[(losses["metric"] == "nll") & (losses["length"] == 256), "value"]
    assert float(scores["Our_s", "sliding", "4.0"][0]) == pytest.approx(np.exp(losses.mean()))
    table.main([*asked, "--latex", "--lengths", "4"])
    said = capsys.readouterr().out
    assert "Our\\_s & \\textbf{" in said and "scriptsize[" in said and "$^\\dagger$" in said
    assert said.index("nope &") < said.index("Our\\_s &")
    assert "2\\,$L$" not in said and "\\toprule" in said
    short = [row for row in run_rows("alibi") if row["task"] == "nll" and row["length"] == 64]
    half = [row | {"length": 32} for row in short]
    rows.write(tmp_path / "t" / "rows" / "a.csv", short + half)
    table.main(["t", *asked[1:3], "--csv", "--lengths", "0.5"])
    assert {line.split(",")[4] for line in capsys.readouterr().out.splitlines()[1:]} == {"0.5"}
    table.main([*asked, "--markdown"])
    said = capsys.readouterr().out
    assert said.startswith("| series |") and " †" in said and "**" in said
    labels = ["--label", "alibi=Ours – steep", "--label", "nope=Ours – none"]
    table.main([*asked[:3], *labels, "--markdown"])
    said = capsys.readouterr().out
    assert "| Ours – steep |" in said and "| Ours – none |" in said


@pytest.mark.parametrize("form", ["--latex", "--worst"])
def test_a_table_without_the_usual_scores_names_those_that_are_there(tmp_path, capsys, form):
    other = [row for row in run_rows("rope") if row.get("protocol") in ("padded", "nonoverlap")]
    rows.write(tmp_path / "s" / "rows" / "a.csv", other)
    with pytest.raises(SystemExit, match="2"):
        table.main(["s", "--results", str(tmp_path), form])
    said = "--protocol: no scores of kv records and nll sliding; choose of nonoverlap, padded"
    assert said in capsys.readouterr().err
    table.main(["s", "--results", str(tmp_path), form, "--protocol", "padded"])
    assert "padded" in capsys.readouterr().out


def test_a_caption_has_the_labels_of_its_table(tmp_path, capsys):
    larger = [row | {"params": 346_000} for row in run_rows("alibi")]
    rows.write(tmp_path / "s" / "rows" / "a.csv", run_rows("rope") + larger)
    table.main(["s", "--results", str(tmp_path), "--latex", "--label", "alibi=Ours"])
    said = capsys.readouterr().out
    assert "Ours" in said.partition("caption")[2] and "alibi" not in said


def test_the_worst_seed_and_depth_of_each_score(tmp_path, capsys):
    runs = [run_rows("alibi", seed) for seed in range(3)] + [run_rows("rope", 0)]
    rows.write(tmp_path / "s" / "rows" / "a.csv", [row for run in runs for row in run])
    asked = ["s", "--results", str(tmp_path), "--label", "alibi=Ours", "--worst"]
    table.main(asked)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    found = {tuple(line[:4]): line[4:] for line in lines[1:]}
    every = rows.read(tmp_path / "s")
    own = every[(every["scheme"] == "alibi") & (every["length"] == 256)]
    kv = own[(own["protocol"] == "records") & (own["metric"] == "accuracy")]
    kv = kv.dropna(subset="depth")
    seeds, depths = (kv.groupby(by)["value"].mean() for by in ("seed", "depth"))
    mean, of_seed, _, seed, at_depth, _, depth = found["Ours", "kv", "records", "4x"]
    assert mean == number(seeds.mean())
    assert (of_seed, seed) == (number(seeds.min()), str(seeds.idxmin()))
    assert (at_depth, depth) == (number(depths.min()), f"{depths.idxmin():g}")
    assert seeds.min() < seeds.mean() and depths.min() < seeds.min()
    losses = own[(own["protocol"] == "sliding") & (own["metric"] == "nll")]
    losses = losses.set_index("seed")["value"]
    mean, of_seed, _, seed, at_depth = found["Ours", "nll", "sliding", "4x"]
    assert (of_seed, seed) == (number(np.exp(losses.max())), str(losses.idxmax()))
    assert at_depth == "-", "a loss has no depths"
    assert {place[3] for place in found} == {"1x", "2x", "4x"}
    table.main([*asked, "--protocol", "padded", "--lengths", "8"])
    _, *lines = capsys.readouterr().out.splitlines()
    assert {tuple(line.split()[:4]) for line in lines} == {
        ("Ours", "kv", "padded", "8x"),
        ("rope", "kv", "padded", "8x"),
    }


def test_a_series_alone_is_trained_if_its_plain_reading_is(tmp_path, capsys):
    """The extension lost what the run had learned: a low score, and no dagger."""
    lost = [row | {"status": "not trained"} for row in run_rows("rope", extension="pi", factor=8)]
    rows.write(tmp_path / "s" / "rows" / "a.csv", run_rows("rope") + lost)
    for series in ([], ["--series", "rope+pix8"]):
        table.main(["s", "--results", str(tmp_path), "--markdown", *series])
        lines = capsys.readouterr().out.splitlines()
        (own,) = [line for line in lines if line.startswith("| rope + pi x8 |")]
        assert "†" not in own


def test_a_figure_is_no_higher_than_was_asked(results, capsys):
    found = []
    for more in ([], ["--height", "2.2in"]):
        plot.main(["demo", "loss_length", "--results", str(results), "--format", "svg", *more])
        (file,) = capsys.readouterr().out.split()
        found.append(float(re.search(r'height="([\d.]+)pt"', Path(file).read_text())[1]))
    plain, low = found
    assert low <= 2.2 * 72 < plain
    with pytest.raises(SystemExit):
        plot.main(["demo", "--results", str(results), "--height", "2"])
    assert "--height=2: expected 2in to 40in" in capsys.readouterr().err


def test_a_figure_beside_another_study_finds_its_packed_rows():
    committed = plot._other(ROOT / "results", "demo")
    assert committed is not None and {*committed["study"]} == {"demo"}
    assert plot._other(ROOT / "results", "no-such-study") is None
