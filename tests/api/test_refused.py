"""A model, a tokenizer or an option that cannot be used from Python is one line."""

import pytest
import torch

import extrap
from extrap.utils.errors import UserError
from tests.support.in_python import ROPE, TEXT, llama

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_lengths_in_a_text_are_no_numbers() -> None:
    with pytest.raises(UserError, match=r"^multiples=24: expected a list of numbers above 0"):
        extrap.evaluate("runs/rope", multiples="24")


def test_a_training_of_several_processes_is_for_the_command_line() -> None:
    """Lightning would start the caller's script again for each of them."""
    words = ["scheme=rope", "trainer=ddp", "trainer.devices=2", "trainer.accelerator=cpu"]
    command = " ".join(["extrap", *words, "stage=train"])
    with pytest.raises(UserError, match=f"^trainer: makes 2 processes; run `{command}` first$"):
        extrap.train(*words)


@pytest.mark.parametrize("threads", [0, -1, 5000])
def test_threads_that_no_machine_has_are_one_line(threads: int) -> None:
    with pytest.raises(UserError, match=f"^threads={threads}: a whole number from 1 to 1024$"):
        extrap.train(*ROPE, f"threads={threads}")


SHORT_SCHEME = """from extrap.schemes.rope import RoPE
class Short(RoPE):
    def positions(self, t):
        assert len(t) <= 64, "a table of 64"
        return super().positions(t)
"""


def test_what_a_plug_in_raises_is_one_line(elsewhere) -> None:
    (elsewhere / "short_scheme.py").write_text(SHORT_SCHEME)
    words = (*ROPE, "plugins=[short_scheme]", "scheme._target_=short_scheme.Short")
    run = extrap.train(*words)
    with pytest.raises(UserError, match=r"^plugins=short_scheme: AssertionError in .*, line 4: "):
        extrap.evaluate(run, tasks="nll", multiples=[2])


def large(ids: torch.Tensor) -> torch.Tensor:
    """A model that reads short texts alone."""
    if ids.shape[1] > 64:
        raise torch.OutOfMemoryError("CUDA out of memory.\nmore")
    return torch.eye(577)[ids]


def wrong(kind: str, tokenizer):
    """A model that cannot be evaluated."""
    import transformers

    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    small |= {"vocab_size": len(tokenizer), "intermediate_size": 32}
    match kind:
        case "meta":
            with torch.device("meta"):
                return type(llama(tokenizer))(llama(tokenizer).config)
        case "two types":
            model = llama(tokenizer).bfloat16()
            model.lm_head.float()
            return model
        case "encoder":
            return transformers.BertModel(transformers.BertConfig(**small)).eval()
        case "masked":
            return transformers.BertForMaskedLM(transformers.BertConfig(**small)).eval()
        case "shape":
            return lambda ids: torch.zeros(len(ids), 9)
        case "none":
            return lambda ids: None
        case "function":
            return lambda ids: torch.eye(577)[ids]
        case "random":
            return lambda ids: torch.randn(*ids.shape, 577)
        case "ahead":
            return lambda ids: torch.eye(577)[ids.flip(1)]
        case "beside":
            return lambda ids: torch.eye(577)[ids.flip(0)]
        case "large":
            return large
        case "class":
            return torch.nn.Linear
        case "far ahead":
            eye = torch.eye(577)
            return lambda ids: eye[ids] + (ids.shape[1] > 40) * eye[ids].mean(1, keepdim=True)
        case _:
            return llama(tokenizer)


@pytest.mark.parametrize(
    ("kind", "words", "expected"),
    [
        ("meta", (), "model=olmo2: is on device meta and holds no numbers"),
        ("encoder", (), "model=bert: gives no logits of the next token"),
        ("two types", (), "model=olmo2: fails at ids of shape (1, 2) (RuntimeError: "),
        ("masked", (), "model=bert: sees later tokens"),
        ("shape", ("model.train_length=32",), "returned a tensor of shape (1, 9) for ids of"),
        ("none", ("model.train_length=32",), "returned NoneType for ids of shape (1, 8)"),
        ("random", ("model.train_length=32",), "model=lambda: returns other logits for the same"),
        ("ahead", ("model.train_length=32",), "model=lambda: sees later tokens"),
        (
            "beside",
            ("model.train_length=32",),
            "lambda: gives other logits for a text (8 tokens) b",
        ),
        ("class", ("model.train_length=32",), "model=Linear: is no model"),
        ("far ahead", ("model.train_length=64",), "model=lambda: sees later tokens (a text of 64"),
        ("large", ("model.train_length=64",), "model=large: with its longest text it does not fit"),
        ("large", ("model.train_length=64",), "; give smaller multiples, or cast the model"),
        ("none", (), "model.train_length=null: lambda does not say for which context"),
        ("function", ("model.train_length=64", "extension=yarn"), "extension=yarn: "),
        ("fine", ("scheme=alibi",), "scheme=alibi: a published checkpoint leaves this option"),
        ("fine", ("finetune=lora", "data=text"), "finetune: needs the folder of a checkpoint"),
        ("fine", ("model.dtype=bf16",), "model.dtype=bf16: a model in a variable has the numbers"),
        ("fine", ("task.kv.trials=1,2",), "task.kv.trials=1,2: makes a sweep"),
        ("fine", ("task.kv.trials=many",), "task.kv.trials"),
        ("fine", ("task.kv.multiples=[1000]",), "task.kv.multiples"),
    ],
)
def test_a_model_that_cannot_be_evaluated_is_one_line(kind, words, expected, tokenizer) -> None:
    with pytest.raises(UserError) as error:
        extrap.evaluate(wrong(kind, tokenizer), *TEXT, *words, tokenizer=tokenizer, tasks="kv")
    assert expected in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("tokenizer_of", "expected"),
    [
        (lambda tokenizer: None, "tokenizer=null: olmo2 has 571 ids, data.vocabulary has"),
        (lambda tokenizer: 7, "tokenizer=int: holds no tokenizer.json"),
        (lambda tokenizer: "nowhere.json", "there is no such file"),
        (
            lambda tokenizer: "model.gguf",
            "tokenizer=model.gguf: a GGUF file is no tokenizer.json; ",
        ),
    ],
)
def test_a_tokenizer_that_is_none_is_one_line(
    tokenizer_of, expected, tokenizer, tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    with pytest.raises(UserError) as error:
        extrap.evaluate(llama(tokenizer), *TEXT, tokenizer=tokenizer_of(tokenizer), tasks="kv")
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_a_first_token_without_a_tokenizer_is_one_line() -> None:
    with pytest.raises(UserError, match=r"^model\.bos=3: without a tokenizer"):
        extrap.evaluate(large, "model.train_length=64", "model.bos=3", *TEXT, tasks="kv")


def test_weights_without_gradients_are_one_line(tokenizer) -> None:
    with torch.inference_mode():
        model = llama(tokenizer).bfloat16()
    asked = {"tokenizer": tokenizer, "tasks": "speed", "multiples": [1]}
    words = (*TEXT, "task.speed.repeats=1", "task.speed.window_tokens=64", "model.bos=0")
    with pytest.raises(UserError, match=r"torch\.inference_mode\(\) .* make it under") as said:
        extrap.evaluate(model, *words, **asked)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("vocabulary", [100, 30000])
def test_a_tokenizer_of_another_vocabulary_is_rejected(vocabulary: int, tokenizer) -> None:
    model = llama(tokenizer, vocab_size=vocabulary)
    with pytest.raises(UserError, match=f"a tokenizer of 571 ids, a model of {vocabulary}; "):
        extrap.evaluate(model, *TEXT, tokenizer=tokenizer, tasks="kv")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (3, "model=int: is no model"),
        ("nowhere", "model.checkpoint=nowhere: no such folder or file"),
        ("no,where [2]", "model.checkpoint=no,where [2]: no such folder or file"),
        (None, "give what extrap.train(...) returns"),
    ],
)
def test_what_is_no_model_is_one_line(model, expected) -> None:
    model = extrap.train(*ROPE).folder if model is None else model
    with pytest.raises(UserError) as error:
        extrap.evaluate(model)
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_a_run_of_another_folder_is_one_line(tmp_path, monkeypatch) -> None:
    run = extrap.TrainedRun((), "rope-1-s0", tmp_path / "runs" / "rope-1-s0")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    with pytest.raises(UserError, match=r"its weights lie in .*; go back to the folder"):
        extrap.evaluate(run)


def test_a_factor_that_no_extension_takes_is_one_line() -> None:
    for extension in (None, "direct", ["direct", None]):
        with pytest.raises(UserError, match=r"^factor=2: no extension takes it"):
            extrap.evaluate(lambda ids: ids, extension=extension, factor=2)
