"""`extrap judge`: a candidate is trained, checked and set beside the schemes whose rows travel."""

import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import torch

import extrap
from extrap import figures
from extrap.audit import extension_contracts as contracts
from extrap.audit.subject import Subject
from extrap.cli import judge, judge_candidate, judge_files, judge_recipes, report
from extrap.figures.drawing.palette import COLOURS, colour_and_marker
from extrap.figures.report import html_page, verdict
from extrap.results import baselines, packing, packing_items
from extrap.results.rows import write, write_items
from extrap.runs import foreseen
from extrap.runs.evaluate import config_hash
from extrap.runs.job import Job
from extrap.runs.study import Entry
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir
from tests.cli.test_compare import items_of
from tests.support.jobs import TINY, job
from tests.support.plausible import run_rows, study_rows
from tests.support.program import python

SEEDS = (0, 1, 2)


@pytest.mark.parametrize(
    "words, study, label",
    [
        (["scheme=mine"], "judge", "mine"),
        (["scheme=mine", "seed=0", "task.kv.trials=9", "threads=2"], "judge", "mine"),
        (["scheme=mine", "scheme.slope=0.1", "model.layers=3"], "judge", "mine_layers3_slope0.1"),
        (["scheme=mine", "label=ours", "train.steps=9"], "judge", "ours"),
        (["extension=mine", "extension.factor=4"], "judge-extension", "rope"),
        (
            ["scheme=mine", "data/corpus=files", "data.corpus.path=my", "+train.x=1"],
            "judge",
            "mine_x1_pathmy_corpusfiles",
        ),
    ],
)
def test_other_options_are_another_candidate(words, study, label) -> None:
    asked = judge_candidate.candidate(words)
    assert (asked.study, asked.label) == (study, label)


@pytest.mark.parametrize("words", [["seed=1"], ["scheme=rope,alibi"], ["scheme=glob(*)"]])
def test_one_candidate_is_named(words) -> None:
    with pytest.raises(UserError, match="scheme="):
        judge_candidate.candidate(words)


@pytest.mark.skipif(not torch.__version__.startswith(baselines.TORCH), reason="another release")
def test_the_embedded_text_of_this_release_is_that_of_the_rows_that_travel() -> None:
    for study in ("reference", "extension", "grid", "zoo"):
        assert {*baselines.rows(study)["corpus"]} - {""} == {
            job("scheme=rope").source.corpus.sha256[:12]
        }


def test_what_cannot_be_compared_is_refused_before_training(elsewhere, monkeypatch, frame) -> None:
    others = frame(study_rows(("rope",), (0,))).assign(study="reference")
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "train", None)
    with pytest.raises(UserError, match=r"^data\.corpus: its text is \w+, that of reference "):
        judge.judged(judge_candidate.candidate(["scheme=rope"]))
    others["corpus"] = job("scheme=rope").source.corpus.sha256[:12]
    with pytest.raises(UserError, match=r"^data\.length=32: reference trains at 64 tokens"):
        judge.judged(judge_candidate.candidate(["scheme=rope", "data.length=32"]))
    with pytest.raises(UserError, match=r"^scheme=ours: no extensions of it travel"):
        judge.judged(judge_candidate.candidate(["extension=yarn", "label=ours", "seed=0,1"]))


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("study=mine", r"^study=mine: a judgement has the study judge; leave it out"),
        ("stage=train", r"^stage=train: without rows nothing is judged; leave it out"),
        ("task=[nll]", r"^task=\[nll\]: series are ranked by kv; keep kv among the tasks"),
        ("data=text", r"^data=text: series are ranked by retrieval, which such a run never saw"),
    ],
)
def test_what_leaves_no_rank_is_refused_before_training(
    elsewhere, monkeypatch, frame, word, said
) -> None:
    others = frame(study_rows(("rope",), (0,))).assign(study="reference")
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", None)
    with pytest.raises(UserError, match=said):
        judge.judged(judge_candidate.candidate(["scheme=rope", word]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("scheme=rope task.nll.documents=4", r"task\.nll\.documents=4: the rows of reference were"),
        ("scheme=rope task.nll.stride=0.5", r"task\.nll\.stride=0\.5: the rows of reference were"),
        (
            "scheme=rope task.kv.multiples=[1,2,4]",
            r"task\.kv\.multiples=\[1, 2, 4\]: .*leave it out",
        ),
        ("scheme=rope task.kv.trials=10", r"task\.kv\.trials=10: .* were asked with \d+; leave it"),
        ("scheme=rope task=quick", r"task\.\w+\.\w+=.* were asked with"),
        ("extension=yarn task.repeat.documents=9", r"task\.repeat\.documents=9: .*extension were"),
        ("scheme=rope task=[nll,kv,gap] task.gap.documents=4", "the same questions"),
        ("scheme=rope task.kv.batch_tokens=65536", "the same questions"),
    ],
)
def test_other_questions_than_those_of_the_rows_are_refused(elsewhere, monkeypatch, words, said):
    def trained(*_: object) -> None:
        raise UserError("", problem="the same questions, and one more task")

    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", trained)
    with pytest.raises(UserError, match=said):
        judge.judged(judge_candidate.candidate(words.split()))


def test_a_mistake_in_a_figure_of_ones_own_comes_before_training(
    elsewhere, monkeypatch, frame
) -> None:
    def available(plugins):
        raise UserError("plugins=mine: no caption; begin it with a docstring")

    others = frame(study_rows(("rope",), (0,))).assign(study="reference")
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", None)
    monkeypatch.setattr(figures, "available", available)
    with pytest.raises(UserError, match=r"^plugins=mine: no caption"):
        judge.judged(judge_candidate.candidate(["scheme=rope"]))


def test_only_what_is_left_is_foreseen(elsewhere, monkeypatch, capsys) -> None:
    """A run whose rows are done is not timed again."""
    ran: list[list[str]] = []
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(
        judge_candidate.subprocess, "run", lambda words, **_: ran.append(words) or done
    )
    monkeypatch.setattr(foreseen, "run_seconds", lambda job: 60.0)
    asked, this = judge_candidate.candidate(["scheme=rope"]), job("scheme=rope")
    judge_candidate.train(asked, "judge/scheme", this, ["0", "1"])
    assert "2 runs of 8 steps" in capsys.readouterr().err
    finished = {this.run.named(0)}
    monkeypatch.setattr(Entry, "missing", lambda one: [] if one.run in finished else ["kv"])
    judge_candidate.train(asked, "judge/scheme", this, ["0", "1"])
    assert "a run of 8 steps" in capsys.readouterr().err
    finished.add(this.run.named(1))
    judge_candidate.train(asked, "judge/scheme", this, ["0", "1"])
    assert not capsys.readouterr().err and len(ran) == 3


@pytest.mark.parametrize(
    "words, here, side",
    [
        ([], 8, 2),
        (["trainer=gpu"], 8, 8),
        (["trainer=gpu", "trainer.devices=3"], 8, 2),
        (["trainer=gpu", "hydra.launcher.per_device=4"], 1, 4),
        (["trainer=gpu"], 0, 1),
    ],
)
def test_runs_side_by_side_are_foreseen_by_gpus_where_they_train(
    words, here, side, monkeypatch
) -> None:
    monkeypatch.setattr(judge_candidate, "cores", lambda: 2)
    monkeypatch.setattr(judge_candidate.machine, "devices", lambda: [None] * here)
    this = job("scheme=rope", *[word for word in words if word.startswith("trainer")])
    asked = judge_candidate.candidate(["scheme=rope", *words])
    assert judge_candidate._side_by_side(asked, this) == side


@pytest.fixture
def invented(elsewhere: Path, frame, monkeypatch) -> None:
    """Rows of three schemes that travel, and a training that writes those of a fourth. Their pages
    have no pictures, which take most of the time.
    """
    monkeypatch.setattr(html_page, "pictures", lambda *_: "")
    others = frame(study_rows(("rope", "alibi", "nope"), SEEDS)).assign(study="reference")
    others["sheet"] = others["run"] + "__direct__" + others["task"]
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "_comparable", lambda *_: None)

    def train(asked: judge_candidate.Candidate, experiment: str, this: Job, *_: object) -> None:
        own = others[others["scheme"] == "alibi"].assign(scheme=asked.label, study=asked.study)
        own["config"] = config_hash(this, "kv")
        own["run"] = own["run"].str.replace("alibi", asked.label)
        for (run, task), rows in own.drop(columns="sheet").groupby(["run", "task"]):
            file = f"{run}__direct__{task}.csv"
            write(Path("results", asked.study, "rows", file), rows.to_dict("records"))

    monkeypatch.setattr(judge, "train", train)


@pytest.mark.usefixtures("invented")
def test_pairs_rest_on_documents_and_trials_whose_scores_travel(tmp_path, monkeypatch) -> None:
    """The page says so, and says of which series only seeds are paired."""
    known = {one["run"]: one for one in study_rows(("rope", "alibi", "nope"), SEEDS)}
    travels = tmp_path / "baselines" / "reference"
    for run in known:
        for task in ("kv", "nll"):
            own = [row for row in study_rows(("rope", "alibi", "nope"), SEEDS) if row["run"] == run]
            own = [row for row in own if row["task"] == task]
            stem = f"{run}__direct__{task}"
            write(travels / "rows" / f"{stem}.csv", own)
            write_items(travels / "items" / f"{stem}.csv", items_of(own))
            if "alibi" in run:
                mine = stem.replace("alibi", "t5")
                write_items(Path("results/judge/items", f"{mine}.csv"), items_of(own))
    (travels / "items" / f"{stem}.csv").unlink()  # of NoPE
    packing.pack(travels)
    packing_items.pack(travels)
    shutil.rmtree(travels / "items")
    monkeypatch.setattr(baselines, "INSTALLED", tmp_path / "baselines")
    monkeypatch.setattr(judge, "_cost", lambda *_: [])
    monkeypatch.setattr(judge_files, "drawn", lambda *_: [])
    found = judge.judged(judge_candidate.candidate(["scheme=t5"]))
    pairs = found.differences.groupby(["other", "task"])["items"]
    assert {place: {*items} for place, items in pairs if items.notna().any()} == {
        ("rope", "kv"): {200},
        ("rope", "nll"): {64},
        ("alibi", "kv"): {200},
        ("alibi", "nll"): {64},
        ("nope", "kv"): {200},
    }
    said = "Pairs rest on the same documents, trials and seeds; on seeds alone: nope (nll)."
    assert said in found.text and said in Path("results/judge/report.html").read_text()


@pytest.mark.usefixtures("invented")
def test_a_verdict_is_a_table_a_page_and_a_paper(monkeypatch) -> None:
    words = ["scheme=t5", "scheme.buckets=16", "train.steps=9"]
    found = judge.judged(judge_candidate.candidate(words))
    label = "t5_buckets16_steps9"
    place = found.board.set_index("series").loc[label]
    assert place["yours"] and place["best"] == 1 and place["worst"] >= 2
    assert set(found.differences["other"]) == {"rope", "alibi", "nope"}
    assert not any(found.contracts.values()) and len(found.contracts) > 5
    assert found.text.startswith(f"{label} has rank 1 to ")
    assert found.text.endswith("Pairs rest on seeds alone.")
    assert "Trained otherwise than the others: train.steps=9." in found.text
    paths = [path.relative_to("results/judge").as_posix() for path in found.files]
    assert {"report.html", "differences.csv", "paper/leaderboard.tex", "paper/kv_depth.pdf"} <= {
        *paths
    }
    page = Path("results/judge/report.html").read_text()
    verdict = re.search(r'<section id="verdict">.*?</section>', page, re.DOTALL)
    assert (
        verdict and "by depth" in verdict[0] and "no logit depends on a later token" in verdict[0]
    )
    assert "kernel" in verdict[0] and "extrap judge scheme=t5" in page
    table = Path("results/judge/paper/leaderboard.tex").read_text()
    assert r"t5\_buckets16\_steps9 & " in table and table.count(r"\\") == 5
    under, trained = Path("results/judge/paper/recipes.tex"), []
    assert not under.exists()
    ranks = "Rank 1 to 3 under 2 recipes", [["recipe", "rank"], ["L=64", "1 of 3"], ["L=32", "3"]]
    monkeypatch.setattr(judge_recipes, "train", lambda *one: trained.append(one[2].label))
    monkeypatch.setattr(judge_recipes, "ranks", lambda asked, recipes: ranks)
    second = extrap.judge("scheme=t5", "scheme.buckets=8", recipes=2)
    assert trained == [
        f"t5_buckets8_layers4_{more}" for more in ("heads4_lr0.003", "heads2_lr0.0015")
    ]
    assert ranks[0] in second.text and "1 of 3" in second.text
    assert "L=64 & 1 of 3" in under.read_text()
    both = Path("results/judge/report.html").read_text()
    assert "<td>t5_buckets8</td>" in both and f"<td>{label}</td>" in both
    assert "<td>1 of 3</td>" in both and "extrap judge --recipes 2 scheme=t5" in both


@pytest.mark.usefixtures("invented")
def test_a_colour_in_ones_own_conf_is_that_of_the_page_and_of_the_paper(monkeypatch) -> None:
    """`# Drawn:`, which `extrap plot --config-dir` reads as well."""
    own = Path(conf_dir(), "scheme", "t5.yaml").read_text()
    Path("my_conf/scheme").mkdir(parents=True)
    text = re.sub("# Drawn: .*", "# Drawn: olive s", own)
    Path("my_conf/scheme/ours.yaml").write_text(text)
    looks: list[tuple[str, str]] = []
    monkeypatch.setattr(judge, "_cost", lambda *_: [])

    def drawn(*_: object) -> list[Path]:
        looks.append(colour_and_marker("ours"))
        return []

    monkeypatch.setattr(judge_files, "drawn", drawn)
    judge.judged(judge_candidate.candidate(["scheme=ours"], Path("my_conf")))
    assert {*looks} == {(COLOURS["olive"], "s")}
    page = Path("results/judge/report.html").read_text()
    assert re.search(r'<label class="c-olive">(?:(?!</label>).)*<span>ours</span>', page)


def test_the_page_of_an_extension_has_its_contracts_and_cost(elsewhere, frame, monkeypatch) -> None:
    known = [
        row
        for name, factor in (("direct", 1), ("ntk", 8), ("yarn", 8))
        for seed in SEEDS
        for row in run_rows("rope", seed, data="repeat", extension=name, factor=factor)
    ]
    others = frame(known).assign(study="extension")
    others["sheet"] = others["run"] + "__" + others["extension"] + "__" + others["task"]
    for module, name in ((judge, "_comparable"), (html_page, "pictures"), (judge_files, "drawn")):
        monkeypatch.setattr(module, name, lambda *_: "")
    monkeypatch.setattr(baselines, "rows", lambda study: others)

    def train(asked: judge_candidate.Candidate, experiment: str, this: Job, *_: object) -> None:
        assert experiment == "judge/extension"
        own = others[others["extension"] == "ntk"].assign(extension="pi", study=asked.study)
        own["config"] = config_hash(this, "kv")
        for task, rows in own.drop(columns="sheet").groupby("task"):
            file = Path("results", asked.study, "rows", f"mine__pi__{task}.csv")
            write(file, rows.to_dict("records"))

    monkeypatch.setattr(judge, "train", train)
    found = judge.judged(judge_candidate.candidate(["extension=pi", "extension.factor=8"]))
    assert {*found.differences["other"]} == {"rope", "rope + ntk x8", "rope + yarn x8"}
    names = (contracts.inside.__doc__, contracts.MEMORY)
    inside, memory = (found.contracts[str(says)] for says in names)
    assert inside.startswith(verdict.ON_PURPOSE) and memory.startswith(verdict.NOT_CHECKED)
    assert [why for why in found.contracts.values() if why] == [inside, memory]
    page = Path("results/judge-extension/report.html").read_text()
    (section,) = re.findall(r'<section id="verdict">.*?</section>', page, re.DOTALL)
    assert "rope + pi x8" in section and "a fixed factor slows the pairs" in section
    cost = section.partition("Cost beside NoPE")[2]
    assert all(name in cost for name in ("rope + pi x8", "rope + ntk x8", "rope + yarn x8"))


def test_recipes_are_foreseen_in_one_sum_before_the_first_training(
    elsewhere, frame, monkeypatch, capsys
) -> None:
    class Trained(Exception):
        pass

    def train(*_: object) -> None:
        raise Trained

    others = frame(study_rows(("rope",), (0,))).assign(study="reference")
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", train)
    monkeypatch.setattr(foreseen, "run_seconds", lambda job: 60.0)
    monkeypatch.setattr(judge_candidate, "cores", lambda: 2)
    with pytest.raises(Trained):
        judge.judged(judge_candidate.candidate(["scheme=alibi", "threads=1"], recipes=2))
    # three seeds at two cores, then two seeds twice
    assert "7 runs under 3 recipes, about 4:00 in all" in capsys.readouterr().err


def test_a_training_in_other_numbers_than_the_others_is_told() -> None:
    asked = judge_candidate.candidate(["scheme=rope", "trainer=gpu"])
    (note,) = judge._notes(asked, job("scheme=rope", "trainer=gpu"))
    assert note == "Trained otherwise than the others: in bf16-mixed, they in 32-true."
    assert judge._notes(asked, job("scheme=rope")) == []


def test_a_cost_that_a_shape_has_not_is_no_end_of_a_verdict() -> None:
    """The audit measures at 256 tokens, which these positions do not reach."""
    node = {"_target_": "extrap.schemes.randomised.RandomisedPositions", "maximum": 128}
    _, own = judge._cost([Subject("mine", node)])
    assert own == ["mine", "0", "-", "-", "-"]


def test_what_could_not_be_checked_is_not_broken() -> None:
    assert verdict._held("not checked: of 8 channels <") == "not checked: of 8 channels &lt;"


@pytest.mark.usefixtures("invented")
def test_a_contract_that_is_broken_on_purpose_is_told_with_the_reason(monkeypatch) -> None:
    monkeypatch.setattr(judge_files, "written", lambda *_: [])
    monkeypatch.setattr(judge, "_cost", lambda *_: [])
    text = judge.judged(judge_candidate.candidate(["scheme=fire"])).text
    told = r"^contract broken on purpose: its card says .*: from place L_f on "
    assert re.search(told, text, re.M)
    assert "contract broken: " not in text


def test_the_extension_of_the_page_has_others_of_its_scheme(elsewhere, monkeypatch) -> None:
    class Trained(Exception):
        pass

    def train(*_: object) -> None:
        raise Trained

    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", train)
    page = (Path(judge.__file__).parent / "README.md").read_text()
    (words,) = re.findall(r"^extrap judge (extension=[^#]*)", page, re.M)
    with pytest.raises(Trained):
        judge.judged(judge_candidate.candidate(words.split()))


@pytest.mark.parametrize(("factor", "theirs"), [(4, 4), (8, 8), (3, 8)])
def test_an_extension_stands_beside_those_set_for_its_factor_or_says_that_it_does_not(
    factor, theirs
) -> None:
    words = ["extension=yarn", f"extension.factor={factor}"]
    asked, this = judge_candidate.candidate(words), job("scheme=rope", "data=repeat", *words)
    others = judge._like(asked, this, baselines.rows("extension"))
    assert {*others.loc[others["extension"] == "yarn", "factor"]} == {theirs}
    assert "rerope" in {*others["extension"]}, "it has no factor"
    said = [f"Set for {factor} L, the others for {theirs} L: ranks compare both at one length."]
    assert judge._set_for(this, others) == (said if factor != theirs else [])


@pytest.mark.turns
@pytest.mark.usefixtures("invented")
def test_the_paper_of_a_verdict_is_as_wide_as_a_template_and_in_its_font(capsys) -> None:
    """The width of ACL's columns is 7.7 cm; `extrap plot --paper acl` draws with Times there."""
    figure = Path("results/judge/paper/kv_depth.pdf")
    with pytest.raises(SystemExit):
        judge.main(["scheme=t5", "--paper", "acm"])
    assert "--paper=acm: no such page; " in capsys.readouterr().err and not figure.exists()
    judge.main(["scheme=t5"])
    plain = figure.read_bytes()
    judge.main(["scheme=t5", "--paper", "acl"])
    given = figure.read_bytes()
    sides = [re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", pdf) for pdf in (plain, given)]
    wide, narrow = (float(side[1]) / 72 for side in sides if side)
    assert 3.2 < wide <= 3.31 and 2.9 < narrow <= 7.7 / 2.54 + 0.01
    assert b"STIXGeneral" in given and b"DejaVu" in plain
    assert "extrap judge --paper acl scheme=t5" in Path("results/judge/report.html").read_text()
    extrap.judge("scheme=t5", paper="acl")
    assert figure.read_bytes() == given


LABEL = "t5_buckets16"


def test_a_rank_for_each_recipe(elsewhere, monkeypatch, frame) -> None:
    """Better than ALiBi under one recipe, worse than RoPE under the other."""
    rows = frame(study_rows(("rope", "alibi"), (0, 1))).assign(study="grid")
    words = [dict(word.split("=") for word in one) for one in judge_recipes.first(2)]
    names = [f"_layers{w['model.layers']}_heads{w['model.heads']}_lr{w['train.lr']}" for w in words]
    lengths = [int(w["data.length"]) for w in words]

    def under(n: int, part: pd.DataFrame) -> pd.DataFrame:
        scaled = {"train_length": lengths[n], "scheme": part["scheme"] + names[n]}
        length = part["length"] * lengths[n] // part["train_length"]
        return part.assign(**scaled, length=length, run=names[n][1:] + "-" + part["run"])

    grid = pd.concat([under(n, rows) for n in (0, 1)])
    monkeypatch.setattr(baselines, "rows", lambda study: grid.assign(sheet="x"))
    own = [rows[rows["scheme"] == name].assign(study="judge-recipes") for name in ("alibi", "rope")]
    scales = (1.01, 0.5)
    asked = judge_candidate.candidate(["scheme=t5", "scheme.buckets=16", "seed=0,1"], recipes=2)
    assert asked.label == LABEL
    recipes = judge_recipes.prepared(asked)
    parts = []
    for n, (part, scale) in enumerate(zip(own, scales, strict=True)):
        named = under(n, part.assign(scheme=LABEL, value=part["value"] * scale))
        model = recipes[n].job.run.name.removesuffix("-s0")
        parts.append(named.assign(run=[f"{model}-s{seed:g}" for seed in named["seed"]]))
    # an older candidate of this label, a better one
    older = parts[1].assign(run="older-" + parts[1]["run"], value=parts[0]["value"].to_numpy())
    mine = pd.concat([*parts, older])
    monkeypatch.setattr(judge_recipes, "read_with_sheets", lambda folder: mine)
    said, lines = judge_recipes.ranks(asked, recipes)
    assert said.startswith("Rank 1 to 3 under 2 recipes of the study grid")
    assert [line[1] for line in lines] == ["rank", "1 of 3", "3 of 3"]
    at_length = parts[1][parts[1]["length"].fillna(0) <= parts[1]["train_length"]]
    curve = parts[1][parts[1]["task"] == "train"]
    for part, rank in ((at_length, "-"), (curve, "no reading")):
        mine = pd.concat([parts[0], part])
        said, lines = judge_recipes.ranks(asked, recipes)
        assert said.startswith("Rank 1 under 1 of 2 recipes of the study grid")
        assert [line[1:4] for line in lines[2:]] == [[rank, "-", "-"]]


@pytest.mark.parametrize(
    ("words", "count", "problem"),
    [
        (["scheme=mine"], 9, "--recipes=9: expected 1 to 4"),
        (["extension=yarn"], 2, "--recipes=2: under other recipes there are schemes alone"),
        (["scheme=mine", "model.layers=3"], 1, "model.layers=3: each recipe of --recipes has a"),
    ],
)
def test_recipes_that_a_candidate_cannot_have_are_refused(words, count, problem) -> None:
    with pytest.raises(UserError, match=problem):
        judge.judged(judge_candidate.candidate(words, recipes=count))


def test_a_mistake_under_recipes_is_told_before_the_training(elsewhere, frame, monkeypatch) -> None:
    others = frame(study_rows(("rope",), (0,))).assign(study="reference")
    monkeypatch.setattr(baselines, "rows", lambda study: others)
    monkeypatch.setattr(judge, "_comparable", lambda *_: None)
    monkeypatch.setattr(judge, "train", None)
    asked = judge_candidate.candidate(
        ["scheme=t5", "model.dim=6"], recipes=1
    )  # 6 channels in 4 heads
    with pytest.raises(UserError, match="model"):
        judge_recipes.prepared(asked)
    with pytest.raises(UserError, match="model"):
        judge.judged(asked)


@pytest.mark.turns
@pytest.mark.subprocess
def test_a_scheme_of_ones_own_from_an_empty_folder(mine) -> None:
    words = ["judge", "--config-dir", "my_conf", "plugins=[my_package]", "scheme=tilt", "seed=0"]
    words += [word for word in TINY if not word.startswith("task.")]
    words += ["model.layers=1", "model.dim=16", "model.heads=2"]
    done: subprocess.CompletedProcess[str] = python("-P", "-m", "extrap", *words)
    assert done.returncode == 0, done.stderr
    assert "a run of 8 steps, 1 side by side: about " in done.stderr
    # learned positions end at L: they have no rank at 4 L
    assert "of 12 at 4 L by retrieval accuracy (records)" in done.stdout
    assert "1 of 3 seeds support no interval" in done.stdout
    assert Path("results/judge/paper/kv_depth.pdf").exists()
    assert report.NAME in done.stdout
