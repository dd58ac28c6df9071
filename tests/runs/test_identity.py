"""A run is named by what is trained, on what and how; not by modules or machines."""

import pytest

from extrap.runs.evaluate import planned
from extrap.runs.identity import AGAIN, fingerprint, identity_hash
from extrap.runs.job import make
from tests.support.jobs import job

COPIES = "{{_target_: extrap.data.repeat.RepeatedText, size: 2, weight: 1.0, shortest: {}}}"

NAMES = {
    "scheme=rope": ("rope-36bcb95f-s0", "ebf6b2ccd374"),
    "scheme=hwfa": ("hwfa-2bc093f8-s0", "b4aa88418eec"),
    "scheme=rope extension=yarn": ("rope-36bcb95f-s0", "acfd2d86b3bc"),
    "scheme=rope extension=yarn finetune=full": ("rope-full-yarn-x8-5199a7bd-s0", "aa38244b9de3"),
    "scheme=rope extension=pi finetune=lora": ("rope-lora-pi-x8-8142b046-s0", "97e385c0936d"),
}
"""The run of a tiny job and the hash of its task kv. They change with an option's default, and with
nothing else.
"""


@pytest.mark.parametrize("words", NAMES)
def test_names_stay(words):
    this = job(*words.split())
    assert (this.run.name, planned(this)["kv"]) == NAMES[words]


def test_a_null_option_of_the_model_is_no_part_of_the_name():
    """So the GPT may get more options: a run that does without them keeps its name."""
    this = job()
    later = {name: value for name, value in this.config["model"].items() if value is None}
    assert {"kv_heads", "head_dim", "bias", "qk_norm"} <= set(later)
    founding = {name: value for name, value in this.config["model"].items() if value is not None}
    assert make(this.config | {"model": founding}, this.choices).run.name == this.run.name
    assert job("model.kv_heads=2").run.name != job().run.name


def test_a_class_is_known_without_its_module():
    node = {"_target_": "extrap.schemes.rope.RoPE", "base": 1e4}
    assert identity_hash(node) == identity_hash(node | {"_target_": "extrap.elsewhere.RoPE"})
    assert identity_hash(node) != identity_hash(node | {"_target_": "extrap.schemes.rope.ALiBi"})
    for changed in AGAIN:
        both = [{"_target_": f"{package}.x.{changed}"} for package in ("extrap", "mine")]
        assert identity_hash(both[0]) == fingerprint({"_target_": f"{changed} {AGAIN[changed]}"})
        assert identity_hash(both[1]) == fingerprint({"_target_": f"mine.{changed}"})
    assert identity_hash({"parts": [node]}) == identity_hash(
        {"parts": [node | {"_target_": "extrap.RoPE"}]}
    )
    assert identity_hash({"parts": [node]}) == "95ad105346c5"


def test_classes_of_plug_ins_keep_the_name_of_their_package():
    mine, yours = ({"_target_": f"{package}.schemes.RoPE"} for package in ("mine", "yours"))
    assert identity_hash(mine) == identity_hash({"_target_": "mine.other.RoPE"})
    assert (
        len({identity_hash(node) for node in (mine, yours, {"_target_": "extrap.schemes.RoPE"})})
        == 3
    )


def test_the_order_of_parts_which_seeds_their_draws_is_part_of_the_name():
    parts = {"a": COPIES.format(8), "b": COPIES.format(4)}
    one, two = (
        job("data=mixture", f"data.more={{{', '.join(f'{n}: {parts[n]}' for n in names)}}}")
        for names in ("ab", "ba")
    )
    first, second = (made.training.batches[3].tokens for made in (one, two))
    assert not first.equal(second)
    assert one.run.name != two.run.name


def test_a_mixture_of_conf_has_its_order_by_itself():
    assert "order" not in job("data=suite").run.identity["data"]


@pytest.mark.parametrize(
    "words",
    [
        "threads=2",
        "sweep.jobs=2 sweep.grid={seed:[0,1]}",
        "study=other stage=train",
        "train.log_every=4",
        "train.save_every=8",
        "trainer=gpu trainer.precision=32-true",
        "trainer.devices=2",
        "trainer.precision=32",
    ],
)
def test_a_run_is_not_its_machine(words):
    assert job(*words.split()).run.name == job().run.name


@pytest.mark.parametrize(
    "words",
    [
        "train.steps=9",
        "train.optimizer=muon",
        "trainer.precision=bf16-mixed",
        "model.heads=2",
        "model.dropout_at=inputs",
        "data.length=32",
    ],
)
def test_what_changes_weights_changes_the_name(words):
    assert job(words).run.name != job().run.name


@pytest.mark.parametrize("task", ["lost-in-the-middle", "multidoc-qa"])
def test_an_evaluation_is_named_by_the_content_of_the_file_it_reads(tmp_path, task):
    """An edited file is measured again; a moved one is another evaluation by its path alone."""
    file = tmp_path / "some.jsonl"
    of_task = [f"task=[{task}]", f"task.{task}.path={file}"]
    hashes = []
    for text in ("one", "one", "two"):
        file.write_text(text)
        hashes.append(planned(job(*of_task, tiny=["logger=none"]))[task])
    assert hashes[0] == hashes[1] != hashes[2]
    file.unlink()  # which the check of the task reports
    assert planned(job(*of_task, tiny=["logger=none"]))[task] not in hashes
