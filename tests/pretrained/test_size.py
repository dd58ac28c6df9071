"""A checkpoint as large as its machine: it is loaded once, and its loading shows from the start."""

import re

import pandas as pd
import pytest
import torch
from huggingface_hub.utils import filter_repo_objects

import extrap
from extrap.pretrained import checkpoint, quantised
from extrap.pretrained.adapted import Adapted
from extrap.pretrained.checkpoint import Checkpoint
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support.checkpoint_jobs import NLL, L, measured, placed, saved

pytestmark = pytest.mark.usefixtures("elsewhere")
TASKS = {
    "nll": {"documents": 4, "multiples": [0.5, 1, 2]},
    "gap": {"documents": 4},
    "context-gain": {"documents": 4},
    "lost-in-the-middle": {"trials": 2, "pairs": [2]},
}
WORDS = [f"task.{task}.{name}={x}" for task, own in TASKS.items() for name, x in own.items()]
TEXT = ["data/corpus=files", "data.corpus.path=text", "data.corpus.document_tokens=300"]


@pytest.fixture
def loads(monkeypatch) -> list[str]:
    """The classes that read weights, in the order of their reading."""
    found: list[str] = []
    load = checkpoint.load

    def counted(kind, data, **given):
        found.append(kind.__name__)
        return load(kind, data, **given)

    monkeypatch.setattr(checkpoint, "load", counted)
    return found


@pytest.mark.turns
def test_weights_are_read_once_for_all_tasks_depths_and_strides(elsewhere, loads):
    placed(elsewhere)
    measured(f"task=[{','.join(TASKS)}]", *WORDS)
    assert loads.count("LlamaForCausalLM") == 1


@pytest.mark.turns
def test_weights_are_read_once_for_all_extensions(elsewhere, loads):
    placed(elsewhere)
    every = [None, "direct", "pi", "yarn"]
    rows = extrap.evaluate(
        "model.gguf", *TEXT, *WORDS[:2], tasks=["nll"], extension=every, factor=2
    )
    assert loads.count("LlamaForCausalLM") == 1
    assert {"direct", "pi", "yarn"} == set(rows.extension)
    alone = extrap.evaluate(
        "model.gguf", *TEXT, *WORDS[:2], tasks=["nll"], extension="yarn", factor=2
    )
    assert loads.count("LlamaForCausalLM") == 2
    shared = rows[rows.extension == "yarn"]
    pd.testing.assert_frame_equal(shared.reset_index(drop=True), alone, check_exact=True)


def test_loading_and_checking_show_that_they_go_on(elsewhere, capsys):
    placed(elsewhere)
    measured(*NLL)
    # a slow phase has lines of its own before its last one, `check 20 %`
    said = [line for line in capsys.readouterr().err.splitlines() if re.match(r"\w+: ", line)]
    assert [line.partition(":")[0] for line in said] == ["load", "check", "nll"]
    # texts of 8, L / 2, L and 2 L tokens
    assert said[1].startswith(f"check: {8 + L // 2 + L + 2 * L} in ")


# --- more than one device


@pytest.fixture
def little(monkeypatch):
    """Room for the embedding alone in memory: accelerate leaves the layers on the disk."""
    load = checkpoint.load

    def limited(kind, data, **given):
        if "device_map" in given:
            given["max_memory"] = {"cpu": 60_000}
        return load(kind, data, **given)

    monkeypatch.setattr(checkpoint, "load", limited)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["llama", "gemma3", "gpt2"])
def test_layers_on_the_disk_have_the_same_logits(kind, tmp_path, little):
    tiny.made(kind, vocab_size=400).save_pretrained(tmp_path)
    place, tokens = str(tmp_path), torch.randint(400, (2, 40))
    whole, laid = Checkpoint(place).model(), Checkpoint(place, device_map="auto").model()
    assert "disk" in laid.net.hf_device_map.values()
    assert isinstance(laid, Adapted)
    torch.testing.assert_close(laid(tokens, last=3), whole(tokens, last=3), atol=1e-5, rtol=1e-5)


def test_an_evaluation_of_layers_on_the_disk_has_the_rows_of_the_whole(elsewhere, little):
    placed(elsewhere)
    saved(elsewhere / "folder", "llama")
    words, more = [*TEXT, *WORDS[:2]], {"tasks": ["nll"], "extension": "yarn"}
    whole = extrap.evaluate("folder", *words, **more)
    laid = extrap.evaluate("folder", *words, "model.device_map=auto", **more)
    assert set(laid.run) == set(whole.run)  # the machine names no run
    pd.testing.assert_frame_equal(laid, whole, rtol=1e-5)


def test_a_gguf_file_whose_rows_move_is_not_left_on_the_disk(elsewhere, little):
    placed(elsewhere)
    with pytest.raises(UserError, match=r"^model\.device_map=auto: model\.gguf is a GGUF file"):
        extrap.evaluate("model.gguf", *TEXT, *WORDS[:2], "model.device_map=auto", tasks=["nll"])


def test_device_map_without_accelerate_is_one_line(elsewhere, monkeypatch):
    placed(elsewhere)
    monkeypatch.setattr(quantised, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"^model\.device_map=auto: needs the package accelerate; "):
        measured(*NLL, "model.device_map=auto")


# --- fewer bits


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ({"quant_method": "gptq", "bits": 4}, "=gptq: FOLDER needs the package optimum; pip"),
        ({"quant_method": "awq", "bits": 4}, "=awq: FOLDER needs the package gptqmodel; pip"),
        ({"load_in_4bit": True}, "bitsandbytes: FOLDER needs the package bitsandbytes"),
        ({"quant_method": "quanto"}, "FOLDER needs the package optimum-quanto; pip install"),
        ({"bits": 4}, "quant_method=None: FOLDER: expected one of aqlm, awq, bitnet, bitsandbytes"),
        (["gptq"], "quant_method=None: FOLDER: expected one of"),
    ],
)  # fmt: skip
def test_a_missing_library_is_one_line(own, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(quantised, "find_spec", lambda name: None)
    tiny.rewritten(tmp_path, "llama", quantization_config=own)
    with pytest.raises(UserError) as error:
        _ = Checkpoint(str(tmp_path)).config
    assert expected.replace("FOLDER", str(tmp_path)) in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("more", [{}, {"model_type": "spiral"}])
def test_a_folder_for_its_tokenizer_alone_needs_no_library(more, tmp_path, monkeypatch):
    monkeypatch.setattr(quantised, "find_spec", lambda name: None)
    own = {"quant_method": "awq", "bits": 4}
    tiny.rewritten(tmp_path, "llama", quantization_config=own, **more)
    (tmp_path / "model.safetensors").unlink()
    found = Checkpoint(str(tmp_path), weights=False)
    assert (found.vocab, found.length()) == (61, 32)


@pytest.mark.parametrize("weights", [True, False])
def test_the_hub_gives_what_is_read(weights, tmp_path, monkeypatch):
    """A repository may hold its weights once more in another form."""
    files = ["config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"]
    more = ["consolidated.safetensors", "original/model.safetensors", "model.gguf"]
    asked = {}

    def snapshot_download(name, **options):
        asked.update(options)
        return str(tmp_path)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot_download)
    Checkpoint("owner/name", weights=weights)
    patterns = {name: asked[name] for name in ("allow_patterns", "ignore_patterns")}
    found = [*filter_repo_objects([*files, *more], **patterns)]
    assert found == (files if weights else files[:-1])


@torch.no_grad()
@pytest.mark.parametrize("bits", [4, 8])
def test_a_folder_of_bitsandbytes_is_read_by_bitsandbytes(bits, tmp_path):
    pytest.importorskip("bitsandbytes", reason="pip install bitsandbytes")
    import transformers

    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "intermediate_size": 128}
    tiny.made("llama", **sizes).save_pretrained(tmp_path / "plain")
    # without outliers, which depend on later tokens
    how = transformers.BitsAndBytesConfig(
        load_in_4bit=bits == 4, load_in_8bit=bits == 8, llm_int8_threshold=0.0
    )
    given = {"quantization_config": how, "device_map": "cpu"}
    net = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "plain", **given)
    net.save_pretrained(tmp_path / "small")
    made, tokens = Checkpoint(str(tmp_path / "small")).model(), torch.randint(60, (2, 30))
    assert isinstance(made, Adapted)
    torch.testing.assert_close(made(tokens), net(tokens).logits.float(), atol=5e-2, rtol=5e-2)
