"""`extrap publish` makes a bundle; `extrap verify` finds every way in which one was changed."""

import csv
import hashlib
import json
import re
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from shutil import copytree
from types import SimpleNamespace

import pandas as pd
import pytest
import torch
import yaml

from extrap.cli import listed, publish, verify
from extrap.cli.compared import compared
from extrap.results import baselines
from extrap.results.card import cards
from extrap.results.rows import open_study, read, write
from extrap.runs import evaluate
from extrap.runs.cost import Cost
from extrap.runs.experiment import Experiment
from extrap.utils.errors import UserError
from tests.support.jobs import TINY, job
from tests.support.plausible import run_rows

WORDS = [*TINY, "study=mine", "scheme=rope", "task=[nll,kv]"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """A bundle of one tiny run, with its weights."""
    return bundled(tmp_path_factory.mktemp("study"))


def bundled(folder: Path, words: Sequence[str] = WORDS) -> Path:
    """Makes a tiny run in a folder; returns its bundle."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Experiment(job(*words, tiny=()), "extrap " + " ".join(words), says=False).run()
        patch.setattr(listed, "jobs", lambda study: [tuple(words)])
        publish.main(["mine", "--weights"])
    return folder / "results" / "mine" / "bundle"


@pytest.fixture
def copy(bundle: Path, elsewhere: Path) -> Path:
    return Path(copytree(bundle, elsewhere / "bundle"))


def summed(folder: Path) -> None:
    """Writes the sums anew, as whoever changed a file would."""
    names = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    sums = {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest()
        for name in names
        if name != publish.SUMS
    }
    (folder / publish.SUMS).write_text(json.dumps(sums))


def told(folder: Path, capsys, *more: str) -> str:
    """Returns what verify says, the exit code first."""
    try:
        verify.main([str(folder), "--cells", "9", "--draw", "0", *more])
    except SystemExit as end:
        said = capsys.readouterr()
        return f"{end.code} {said.out}{said.err}"
    return f"0 {capsys.readouterr().out}"


def test_an_honest_bundle_is_the_same_bits_from_its_weights(copy: Path, capsys) -> None:
    said = told(copy, capsys)
    assert said.startswith("0 sums, jobs, hashes, text and cards agree: ")
    same = re.findall(r"same bits \(\d+ rows\)  rope-\w+-s0 direct (\w+)", said)
    assert sorted(same) == ["kv", "nll", "train"]
    left = [path.name for path in Path("runs").iterdir()]
    assert not [name for name in left if name.startswith((".verify", "rope"))], "nothing is left"


def remade(folder: Path, rows: list[dict[str, str]], rules: Sequence[dict] = ()) -> None:
    """Writes these rows, and all that follows from them. rules: of rows that are left out."""
    from extrap.results.rows import read_file

    path = folder / publish.ROWS
    with path.open("w", newline="") as file:
        sheet = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
        sheet.writeheader()
        sheet.writerows(rows)
    about = json.loads((folder / publish.JOBS).read_text())
    given = [about[name] for name in ("jobs", "licence", "text")]
    for name, content in publish.made(read_file(path), *given, rules).items():
        (folder / name).write_bytes(content)


def published(folder: Path) -> list[dict[str, str]]:
    return [*csv.DictReader((folder / publish.ROWS).read_text().splitlines())]


def raised(row: dict[str, str], by: float) -> None:
    value = float(row["value"]) + by
    row |= {"value": repr(value), "high": repr(max(float(row["high"]), value))}


def number(folder: Path) -> None:
    """One accuracy, by a hundredth."""
    rows = published(folder)
    raised(next(r for r in rows if (r["protocol"], r["metric"]) == ("padded", "accuracy")), 0.01)
    remade(folder, rows)


def noise(folder: Path) -> None:
    """Every number by less than rounding, as on another machine, and one accuracy by 0.6."""
    rows = published(folder)
    for row in rows:
        for name in ("value", "low", "high"):
            row[name] = row[name] and repr(float(row[name]) * (1 + 1e-7) + 1e-10)
    raised(next(r for r in rows if (r["task"], r["metric"]) == ("kv", "accuracy")), 0.6)
    remade(folder, rows)


def intervals(folder: Path) -> None:
    """Every interval by half, beside noise."""
    rows = published(folder)
    for row in rows:
        value = float(row["value"]) * (1 + 1e-7)
        for name in ("low", "high"):
            row[name] = row[name] and repr((float(row[name]) + value) / 2)
        row["value"] = repr(value)
    remade(folder, rows)


def trials(folder: Path) -> None:
    rows = published(folder)
    remade(folder, [row | {"n": row["n"] and row["n"] + "0"} for row in rows])


def text(folder: Path) -> None:
    remade(folder, [row | {"corpus": ""} for row in published(folder)])


def size(folder: Path) -> None:
    first, *others = published(folder)
    remade(folder, [first | {"params": ""}, *others])


def study(folder: Path) -> None:
    remade(folder, [row | {"study": "reference"} for row in published(folder)])


def depth(folder: Path) -> None:
    """The rows of one depth are dropped."""
    remade(folder, [row for row in published(folder) if row["depth"] != "0.5"])


def seed(folder: Path) -> None:
    path = folder / publish.ROWS
    path.write_text(path.read_text().replace(",direct,1.0,0,64,", ",direct,1.0,1,64,"))


def configuration(folder: Path) -> None:
    path = folder / publish.JOBS
    path.write_text(path.read_text().replace("train.steps=8", "train.steps=9"))


def weights(folder: Path) -> None:
    (path,) = folder.glob("runs/*/weights.pt")
    held = torch.load(path, weights_only=True)
    name = next(name for name, one in held.items() if one.dim() == 2)
    held[name] = held[name] + 0.5
    torch.save(held, path)
    state = path.with_name("state.json")
    kept = json.loads(state.read_text())
    kept["files"]["weights.pt"] = hashlib.sha256(path.read_bytes()).hexdigest()
    state.write_text(json.dumps(kept))


def corpus(folder: Path) -> None:
    path = folder / publish.ROWS
    (known,) = {line.split(",")[-3] for line in path.read_text().splitlines()[1:]}
    path.write_text(path.read_text().replace(known, "abcdef012345"))


def nameless(folder: Path) -> None:
    """A list of words in place of a job."""
    path = folder / publish.JOBS
    about = json.loads(path.read_text())
    about["jobs"] = [one["words"] for one in about["jobs"]]
    path.write_text(json.dumps(about))


def said(folder: Path) -> None:
    path = folder / publish.CARD
    path.write_text(path.read_text().replace("seeds:", "seeds: # of five"))


def praise(folder: Path) -> None:
    (folder / "card-9.svg").write_text("<svg/>")


def hidden(folder: Path) -> None:
    (folder / "card-1.svg").unlink()


CHANGES = {
    praise: "card-9.svg: is no part of a bundle",
    hidden: "card-1.svg: is not what the rows make",
    number: "computed",
    noise: " accuracy 0.6, computed 0",
    intervals: " low ",
    trials: " n 10",
    text: " corpus none, computed ",
    size: " params <NA>, computed ",
    study: " study reference, computed mine",
    depth: "of its rows are missing",
    seed: "its rows say seed 1",
    configuration: "is not what its words make",
    weights: "not: ",
    corpus: "it read the text abcdef012345",
    nameless: "no option that a file may set",
    said: "is not what the rows make",
}


def test_trained_again_the_weights_of_a_bundle_do_not_count(copy: Path, capsys) -> None:
    weights(copy)
    summed(copy)
    assert told(copy, capsys, "--train").count("same bits") == 3
    assert "not: " in told(copy, capsys)


@pytest.mark.parametrize("name", [publish.JOBS, publish.ROWS, publish.SUMS])
def test_a_file_that_was_not_copied_is_named(copy: Path, capsys, name: str) -> None:
    (copy / name).unlink()
    assert f"{copy}/{name}: is missing" in told(copy, capsys)


def test_a_bundle_holds_no_link(copy: Path, capsys) -> None:
    """Weights behind a link are files of this machine."""
    (copy / "runs").rename(copy.parent / "elsewhere")
    (copy / "runs").symlink_to(copy.parent / "elsewhere")
    sums = json.loads((copy / publish.SUMS).read_text())
    kept = {name: one for name, one in sums.items() if not name.startswith("runs/")}
    (copy / publish.SUMS).write_text(json.dumps(kept))
    assert f"{copy}/runs: is not among its sums" in told(copy, capsys)


def test_an_evaluation_without_rows_is_named(copy: Path, capsys) -> None:
    remade(copy, [row for row in published(copy) if row["task"] != "kv"])
    summed(copy)
    found, (run,) = told(copy, capsys), copy.glob("runs/*")
    assert f"no rows  {run.name} direct kv" in found
    assert f"evaluation without rows: {run.name} direct kv" in (copy / "README.md").read_text()


def test_rounding_and_rows_that_are_left_out_are_honest(copy: Path, capsys) -> None:
    """Another machine rounds otherwise; the rules of `left_out.yaml` travel with a bundle."""
    rows = published(copy)
    for row in rows:
        for name in ("value", "low", "high"):
            row[name] = row[name] and repr(float(row[name]) * (1 + 1e-7))
    path, rule = copy / publish.JOBS, {"depth": 0.5}
    path.write_text(json.dumps(json.loads(path.read_text()) | {"left_out": [rule]}))
    remade(copy, [row for row in rows if row["depth"] != "0.5"], [rule])
    summed(copy)
    assert told(copy, capsys).count("within rounding") == 3
    assert 'rows left out: `{"depth": 0.5}`' in (copy / "README.md").read_text()


def test_two_jobs_of_one_run_and_extension_are_published_with_the_tasks_of_both(
    bundle: Path, elsewhere: Path, monkeypatch, capsys
) -> None:
    for name in ("runs", "results"):
        copytree(bundle.parents[2] / name, elsewhere / name, dirs_exist_ok=True)
    shared = [word for word in WORDS if not word.startswith("task")]
    both = [
        (*shared, f"task=[{task}]", *filter(re.compile(rf"task\.{task}\.").match, TINY))
        for task in ("nll", "kv")
    ]
    monkeypatch.setattr(listed, "jobs", lambda study: both)
    publish.main(["mine"])
    own = elsewhere / "results/mine/bundle"
    assert len(json.loads((own / publish.JOBS).read_text())["jobs"]) == 2
    said = told(own, capsys, "--cells", "0")
    assert said.startswith("0 ") and "no rows" not in said
    drawn = verify.drawn(verify.opened(own), 9, 0)
    assert sorted(task for _, task in drawn) == ["kv", "nll", "train"]


def test_a_study_with_code_of_ones_own_is_refused_by_name(bundle, mine, monkeypatch, capsys):
    copytree(bundle.parents[2] / "results", mine / "results")
    words = ("--config-dir", "my_conf", *WORDS, "plugins=[my_package]")
    monkeypatch.setattr(listed, "jobs", lambda study: [words])
    with pytest.raises(SystemExit, match="2"):
        publish.main(["mine"])
    line = "STUDY=mine: its jobs need --config-dir my_conf 'plugins=[my_package]', which a bundle"
    assert line in capsys.readouterr().err


def test_a_run_that_diverges_when_it_is_trained_again_does_not_hold(copy, monkeypatch, capsys):
    monkeypatch.setattr(evaluate, "evaluations", lambda job: {})
    assert told(copy, capsys).count("not: its training diverged") == 3


def test_a_job_of_an_experiment_is_read_without_its_grid(elsewhere: Path) -> None:
    found = listed.listed(("scheme=rope", "experiment=demo"))
    assert found.run.startswith("rope-") and {"kv", "nll", "train"} == {*found.tasks}


@pytest.mark.sample(5)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_changed_bundle_is_found_with_its_sums_and_without(copy, capsys, change) -> None:
    change(copy)
    assert "2 " in (found := told(copy, capsys))[:2], found
    sums = ("is another file than the one that was published", "among its sums", "is missing")
    assert any(line in found for line in sums)
    summed(copy)
    found = told(copy, capsys)
    assert found.startswith("2 ") and CHANGES[change] in found


WORDS_OF_OTHERS = [
    "plugins=[os]",
    "hydra.run.dir=/x",
    "logger.mode=online",
    "--config-dir=/x",
    "rope",
]
WORDS_OF_OTHERS += [
    "++logger={_target_: extrap.runs.dashboard.Curves, kind: csv, folder: /x}",
    "logger={mode: online}",
    "++model={url: 'http://127.0.0.1:9/v1'}",
    "model=${label}",
]


@pytest.mark.parametrize("word", WORDS_OF_OTHERS)
def test_words_of_others_name_no_code_no_server_and_no_folder(word: str) -> None:
    with pytest.raises(UserError, match="no option that a file may set"):
        listed.checked(["scheme=rope", word])
    chosen = ["scheme=rope", "model=smollm2-135m", "logger=none"]
    assert listed.checked(chosen) == tuple(chosen)


def test_a_card_says_what_the_rows_say(bundle: Path, monkeypatch) -> None:
    monkeypatch.chdir(bundle.parents[2])
    rows = open_study(Path("results"), "mine")
    (card,) = yaml.safe_load((bundle / publish.CARD).read_text())
    assert card == cards(rows)["rope"] and card["length_card"] == 1
    kv = rows[(rows["task"] == "kv") & (rows["metric"] == "accuracy")]
    far = kv[(kv["protocol"] == "records") & (kv["multiple"] == 2)].set_index("depth")["value"]
    assert card["worst_depth"]["kv records"]["2 L"][0] == pytest.approx(far.min())
    assert card["found"]["kv records"]["2 L"][0] == pytest.approx(far.mean(), abs=1e-4)
    (drawing,) = bundle.glob("card-*.svg")
    assert "rope: L = 64 tokens" in drawing.read_text()
    scores = yaml.safe_load((bundle / ".eval_results/extrap.yaml").read_text())
    assert {"id": "extrap", "task_id": "kv records 2 L"} in [one["dataset"] for one in scores]


@pytest.mark.parametrize("study", ["pretrained", "pretrained/gemma"])
def test_committed_cards_are_those_of_committed_rows(study: str, tmp_path) -> None:
    folder = Path(__file__).parents[2] / "results" / study
    publish.write_cards(tmp_path, read(folder), {})
    made = {path.relative_to(tmp_path): path.read_bytes() for path in files_of(tmp_path)}
    kept = {path.relative_to(folder / "cards"): path for path in files_of(folder / "cards")}
    assert {name: path.read_bytes() for name, path in kept.items()} == made
    (own,) = (yaml.safe_load(text) for name, text in made.items() if name.match("*m*.yaml"))
    for three in chain.from_iterable(by.values() for by in own["loss"].values()):
        assert min(number for number in three if number is not None) >= 0
    if study == "pretrained":
        assert own["loss"]["nll sliding"]["1 L"][1:] == [None, None], "of two documents"
    else:
        assert own["layers"]["number"] == 18 and own["layers"]["window"] == {"512": 15}


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_card_tells_the_cost_of_the_runs_whose_folders_are_here(tmp_path, frame) -> None:
    rows = frame(run_rows("rope", 0) + run_rows("rope", 1) + run_rows("alibi"))
    runs = sorted({*rows.loc[rows["scheme"] == "rope", "run"]})
    training, reading = Cost(60.0, 100.0, memory=2e9), Cost(5.0, 9.0, memory=1e9)
    publish.write_cards(
        tmp_path, rows, dict.fromkeys(runs, training) | {f"{runs[0]} + direct": reading}
    )
    card = yaml.safe_load((tmp_path / "rope.yaml").read_text())
    assert card["cost"]["seconds"] == 125 and card["cost"]["memory"] == 2e9
    assert (
        "cost of training and evaluation: 2:05, 3:29 of processors"
        in (tmp_path / "rope.svg").read_text()
    )
    assert "cost" not in yaml.safe_load((tmp_path / "alibi.yaml").read_text())


def test_a_metric_that_other_rows_of_the_version_have_may_not_lack(tmp_path) -> None:
    """The one row of the gate, say: it is not the news of a later version."""
    rows = read(Path(__file__).parents[2] / "results" / "demo")
    found = rows[(rows["task"] == "kv") & (rows["run"] == rows["run"].iloc[0])]
    own = found[found["metric"] != "gate"]
    assert len(own) == len(found) - 1
    job = SimpleNamespace(run=own["run"].iloc[0], tasks={"kv": own["config"].iloc[0]})
    others = rows[rows["run"] != job.run]
    for more, said in ((others, "1 of its rows are missing"), (others[:0], "1 more computed")):
        bundle = SimpleNamespace(rows=pd.concat([own, more]), rules=[])
        assert said in verify._beside(bundle, job, "kv", found, True)[0]


def test_a_number_of_another_processor_without_an_interval_is_neither_right_nor_wrong() -> None:
    rows = read(Path(__file__).parents[2] / "results" / "demo")
    of_run = rows[rows["run"] == rows["run"].iloc[0]]
    curve, text = (of_run[of_run["task"] == task] for task in ("train", "nll"))
    moved = curve.assign(value=curve["value"] * 1.02)

    def said(own: pd.DataFrame, found: pd.DataFrame, kept: bool = False) -> tuple[str, bool]:
        return compared(own, found, None, kept, set())

    assert said(curve, moved) == (f"no interval ({len(curve)} rows)", True)
    assert said(curve, moved, kept=True)[1] is False
    width = text["high"] - text["low"]
    near = text.assign(**{name: text[name] + 0.2 * width for name in ("value", "low", "high")})
    both = pd.concat([text, curve])
    known = f"({len(text)} of {len(both)} rows, {len(curve)} without an interval)"
    assert said(both, pd.concat([near, moved])) == (f"within its interval {known}", True)
    far = text.assign(**{name: text[name] + 2 * width for name in ("value", "low", "high")})
    assert said(both, pd.concat([far, moved]))[0].startswith("not: ")
    kv = of_run[of_run["task"] == "kv"]  # a quarter of its accuracies are others
    turned = kv["metric"].eq("accuracy") & (kv.index % 4 == 0) & (kv["low"] < kv["high"])
    by = (0.2 * (kv["high"] - kv["low"])).where(turned, 0)
    again = kv.assign(**{name: kv[name] + by for name in ("value", "low", "high")})
    assert turned.any() and said(kv, again)[0].startswith("within its interval")
    bare = text.assign(low=float("nan"), high=float("nan"))
    assert said(bare, near)[1] is False, "an interval that somebody took out"


@pytest.fixture
def other_machine(bundle: Path, elsewhere: Path, monkeypatch) -> Path:
    """Rows of the run of the bundle as another processor would measure them; no run folder."""
    folder = Path(copytree(bundle.parents[2] / "results" / "mine" / "rows", "results/mine/rows"))
    for path in (*folder.glob("*__nll.csv"), *folder.glob("*__train.csv")):
        rows = [*csv.DictReader(path.read_text().splitlines())]
        for row in rows:
            value, low, high = (float(row[name] or "nan") for name in ("value", "low", "high"))
            by = 0.2 * (high - low) if low < high else 0.02 * value
            for name in ("value", "low", "high"):
                row[name] = row[name] and repr(float(row[name]) + by)
        with path.open("w", newline="") as file:
            sheet = csv.DictWriter(file, [*rows[0]], lineterminator="\n")
            sheet.writeheader()
            sheet.writerows(rows)
    monkeypatch.setattr(listed, "jobs", lambda study: [tuple(WORDS)])
    return folder


@pytest.mark.usefixtures("other_machine")
def test_the_second_cell_of_a_run_that_verify_trained_is_held_to_its_interval(capsys) -> None:
    """The weights that the first cell trained are not those of the rows."""
    said = told(Path("mine"), capsys)
    assert said.startswith("0 ") and "rounding" not in said
    assert re.search(r"within its interval \(\d+ of \d+ rows.*direct nll", said)
    assert re.search(r"no interval \(\d+ rows\).*direct train", said)
    assert told(Path("mine"), capsys).startswith("0 "), "again, with the weights that are here now"


def test_rows_that_no_job_makes_any_more_are_named_and_not_drawn(
    other_machine, monkeypatch, capsys
) -> None:
    (curve,) = other_machine.glob("*__train.csv")
    run = curve.name.partition("__")[0]
    stale = curve.with_name(curve.name.replace(run, "rope-0123abcd-s0"))
    stale.write_text(curve.read_text().replace(run, "rope-0123abcd-s0"))
    said = told(Path("mine"), capsys)
    assert "not drawn  rope-0123abcd-s0 direct train: no job of this study makes this run" in said
    assert said.startswith("0 ") and f"  {run} direct nll" in said
    publish.main(["mine"])
    own = Path(capsys.readouterr().out.strip())
    line = f"- rows that no command makes, left out: {stale.stem}"
    assert line in (own / "README.md").read_text().splitlines()
    assert "0123abcd" not in (own / publish.ROWS).read_text()
    said = told(own, capsys)
    assert said.startswith("0 ") and f"left out  {stale.stem}: no command makes it" in said
    changed = [*WORDS, "task.nll.documents=5"]
    monkeypatch.setattr(listed, "jobs", lambda study: [tuple(changed)])
    assert f"{run} direct nll: its rows are of other options" in told(Path("mine"), capsys)
    monkeypatch.setattr(listed, "jobs", lambda study: [("scheme=nope", *TINY, "study=mine")])
    for main in (publish.main, verify.main):
        with pytest.raises(SystemExit):
            main(["mine"])
        assert "STUDY=mine: no command" in capsys.readouterr().err


@pytest.mark.parametrize("others", [True, False])
def test_a_run_that_diverged_is_published_with_its_curve_alone(
    bundle: Path, elsewhere: Path, monkeypatch, capsys, others: bool
) -> None:
    folder = Path(copytree(bundle.parents[2] / "results/mine/rows", "results/mine/rows"))
    words = [WORDS, [*WORDS, "scheme=alibi"]][:: 1 if others else -1]
    words = [tuple(one) for one in words[: 1 + others]]
    lost = listed.listed([*WORDS, "scheme=alibi"])
    (curve,) = folder.glob("*__train.csv")
    (run,) = {row["run"] for row in csv.DictReader(curve.read_text().splitlines())}
    row = read(folder.parent).query("task == 'train'").iloc[0].to_dict()
    known = ("study", "seed", "data", "train_length", "task", "corpus", "commit", "factor")
    own = {name: row[name] for name in known} | {"run": lost.run, "scheme": "alibi"}
    own |= {"extension": "direct", "config": lost.tasks["train"], "params": lost.job.source.params}
    own |= {"metric": "diverged_at", "value": 4.0, "status": "diverged"}
    for path in [] if others else folder.glob(f"{run}__*"):
        path.unlink()
    write(folder / f"{lost.run}__direct__train.csv", [own])
    monkeypatch.setattr(listed, "jobs", lambda study: words)
    publish.main(["mine"])
    made = Path(capsys.readouterr().out.strip())
    assert lost.run in (made / publish.ROWS).read_text()
    assert "no command makes" not in (made / "README.md").read_text()
    assert told(made, capsys, "--cells", "0").startswith("0 sums, jobs, hashes, ")
    monkeypatch.setattr(listed, "jobs", lambda study: [(*WORDS, "scheme=t5")])
    with pytest.raises(SystemExit, match="2"):
        publish.main(["mine"])
    line = f"STUDY=mine: no command makes {f'{run}__direct' if others else 'mine'}; start"
    assert line in capsys.readouterr().err


def test_a_file_of_a_task_that_is_not_here_is_named(copy: Path, monkeypatch, capsys) -> None:
    more = ["task=[nll,kv,multidoc-qa]", "task.multidoc-qa.path=asked.jsonl"]
    path = copy / publish.JOBS
    about = json.loads(path.read_text())
    about["jobs"][0]["words"] += more
    path.write_text(json.dumps(about))
    summed(copy)
    line = "task.multidoc-qa.path=asked.jsonl: there is no such file here"
    said = told(copy, capsys)
    assert line in said
    assert f"in {copy.parent};" in said, "where it looked"
    copytree(copy.parent / "bundle", "results/mine/bundle")
    write(Path("results/mine/rows/a.csv"), run_rows("rope"))
    monkeypatch.setattr(listed, "jobs", lambda study: [(*WORDS, *more)])
    for main in (publish.main, verify.main):
        with pytest.raises(SystemExit, match="2"):
            main(["mine"])
        assert line in capsys.readouterr().err


def test_a_relative_file_of_a_task_is_read_from_where_the_command_starts(
    elsewhere: Path, capsys
) -> None:
    told_by = [{"title": "a", "text": "b", "isgold": True}, {"title": "c", "text": "d"}]
    asked = {"question": "a?", "answers": ["b"], "ctxs": told_by}
    (elsewhere / "own").mkdir()
    (elsewhere / "own" / "asked.jsonl").write_text(json.dumps(asked))
    own = ["path=own/asked.jsonl", "documents=[2]", "trials=1", "generate=2", "depths=[0,1]"]
    options = [f"task.multidoc-qa.{one}" for one in own]
    tiny = [word for word in TINY if not word.startswith("task.")]
    made = bundled(elsewhere, [*tiny, "study=mine", "task=multidoc-qa", *options])
    said = told(made, capsys)
    assert said.startswith("0 ") and re.search(r"same bits .* multidoc-qa", said), said


def test_a_second_bundle_has_no_file_of_the_first(tmp_path):
    (tmp_path / "mine.txt").write_text("beside it")
    publish.write(tmp_path, {"a.svg": b"1", "runs/r/weights.pt": b"2"})
    publish.write(tmp_path, {"a.svg": b"3"})
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert left == {"a.svg", "mine.txt", publish.SUMS}


def test_cards_alone_are_of_plain_series_and_need_no_job(tmp_path, capsys) -> None:
    extended = [row | {"extension": "yarn", "factor": 2.0} for row in run_rows("rope")]
    write(tmp_path / "demo" / "rows" / "a.csv", run_rows("rope") + run_rows("alibi") + extended)
    publish.main(["demo", "--cards", "--results", str(tmp_path)])
    folder = Path(capsys.readouterr().out.strip())
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.*") if path.is_file()}
    of_series = {f"{name}.{form}" for name in ("rope", "alibi") for form in ("yaml", "svg")}
    assert names == of_series | {".eval_results/extrap.yaml"}


@pytest.mark.skipif(not torch.__version__.startswith(baselines.TORCH), reason="another text")
def test_the_rows_of_the_demo_are_of_the_jobs_of_its_command(monkeypatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    found = verify.study(Path("results"), "demo")
    assert {job.run for job in found.jobs} == {*found.rows["run"]}
    assert verify.without(found) == []
