"""A model in a variable, or a function, is measured as the folder of a checkpoint."""

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import torch
from pandas.testing import assert_frame_equal

import extrap
from extrap.results.schema import MEASURED
from extrap.runs.evaluate import trained_model
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support.in_python import BOTH, FEW, ROPE, TEXT, L, in_order, llama
from tests.support.jobs import job

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_a_model_in_a_variable_is_measured_as_its_folder(elsewhere: Path, tokenizer) -> None:
    """The same values from a variable, a function and the folder; L of the config."""
    model = llama(tokenizer)
    model.save_pretrained(elsewhere / "folder")
    (elsewhere / "folder" / "tokenizer.json").write_text(tokenizer.backend_tokenizer.to_str())
    options = {"tasks": ["kv", "nll"], "multiples": [0.5, 1]}
    folder = extrap.evaluate(elsewhere / "folder", *TEXT, *FEW, "model.bos=0", **options)
    model.train()
    own = extrap.evaluate(model, *TEXT, *FEW, tokenizer=tokenizer, **options)
    assert model.training and set(own["train_length"]) == {L} and set(own["scheme"]) == {"olmo2"}
    model.eval()

    def called(ids: torch.Tensor) -> torch.Tensor:
        return model(ids).logits

    words = ("model.train_length=64", "model.bos=0")
    function = extrap.evaluate(called, *TEXT, *FEW, *words, tokenizer=tokenizer, **options)
    measured = ["task", *MEASURED]
    assert_frame_equal(own[measured], folder[measured], check_exact=True)
    nll = [rows[rows["task"] == "nll"].reset_index(drop=True) for rows in (function, folder)]
    assert_frame_equal(nll[0][measured], nll[1][measured], rtol=1e-4)  # of other kernels


def test_a_function_may_answer_in_one_buffer(tokenizer) -> None:
    """As graphs of CUDA do: tasks that compare several answers hold copies."""
    model, kept = llama(tokenizer), {}

    def called(ids: torch.Tensor) -> torch.Tensor:
        return model(ids).logits

    def buffered(ids: torch.Tensor) -> torch.Tensor:
        found = called(ids)
        return kept.setdefault(found.shape, torch.empty_like(found)).copy_(found)

    words = (*TEXT, *FEW, "model.train_length=64", "model.bos=0")
    options = {"tokenizer": tokenizer, "tasks": ["kv", "nll"], "multiples": [0.5, 1]}
    fresh, reused = (extrap.evaluate(one, *words, **options) for one in (called, buffered))
    measured = ["task", *MEASURED]
    assert_frame_equal(reused[measured], fresh[measured], check_exact=True)


def test_models_that_differ_in_long_texts_alone_have_two_names(tokenizer) -> None:
    """A dynamic scaling and a window begin behind the text that names a model."""

    def named(kind: str, **options) -> str:
        model = llama(tokenizer, kind, **options)
        more = {"tokenizer": tokenizer, "tasks": ["nll"], "multiples": [1]}
        (run,) = set(extrap.evaluate(model, *TEXT, FEW[0], **more)["run"])
        return run

    dynamic = [named("llama", **tiny.rope("dynamic", factor=s)) for s in (2.0, 2.0, 4.0)]
    assert dynamic[0] == dynamic[1] != dynamic[2]
    window = {"sliding_window": 4096, "max_window_layers": 1}
    assert named("qwen2") != named("qwen2", use_sliding_window=True, **window)


def test_a_model_of_transformers_takes_extensions_and_is_looked_into(tokenizer) -> None:
    words = (*TEXT, *FEW, "task.gap.documents=4")
    options = {"tasks": ["kv", "nll", "gap"], "multiples": [0.5, 1, 2], "factor": 2}
    rows = extrap.evaluate(
        llama(tokenizer), *words, tokenizer=tokenizer, extension=["direct", "yarn"], **options
    )
    for task, part in rows.groupby("task"):
        assert task == "used" or set(part["length"].dropna()) >= {L // 2, L, 2 * L}
        values = [part.loc[part["extension"] == e, "value"].tolist() for e in ("direct", "yarn")]
        assert len(values[0]) == len(values[1]) and values[0] != values[1]
    assert set(rows["task"]) == {"kv", "nll", "gap", "used"}


def test_a_compiled_model_is_measured_as_the_module_in_it(tokenizer, monkeypatch) -> None:
    """Nothing is compiled on the way: a compiler that is called fails."""

    def compiler(*args):
        raise AssertionError

    model, compiled = llama(tokenizer), torch.compile(llama(tokenizer), backend=compiler)
    options = {"tokenizer": tokenizer, "tasks": ["kv", "nll"], "multiples": [1, 2]}
    options |= {"extension": "pi", "factor": 2}
    found, expected = (extrap.evaluate(one, *TEXT, *FEW, **options) for one in (compiled, model))
    assert_frame_equal(in_order(found), in_order(expected))


def test_a_gpt_of_ours_reads_bytes_and_takes_extensions() -> None:
    run = extrap.train(*ROPE)
    model = trained_model(job("scheme=rope"))
    options = {"multiples": [1, 2], "extension": "yarn", "factor": 2}
    ours, theirs = (extrap.evaluate(one, *BOTH, **options) for one in (model, run))
    theirs = theirs[theirs["task"].isin(["nll", "kv", "used"])].reset_index(drop=True)
    measured = ["task", "extension", "factor", "params", *MEASURED]
    measured.remove("status")  # nobody knows what a variable was trained on
    assert_frame_equal(ours[measured], theirs[measured], check_exact=True)


def test_lengths_past_a_table_are_named(tokenizer) -> None:
    model = llama(tokenizer, "gpt_neo", bos_token_id=0, eos_token_id=0)
    with pytest.warns(UserWarning, match="task.nll.multiples: no rows at 128 tokens"):
        rows = extrap.evaluate(
            model, *TEXT, FEW[0], tokenizer=tokenizer, tasks="nll", multiples=[1, 2]
        )
    assert set(rows["length"]) == {L}
    none = (
        r"^task\.nll\.multiples: no rows at 128 tokens, which lie past what gpt_neo can read; give"
    )
    with pytest.warns(UserWarning, match="no rows"), pytest.raises(UserError, match=none):
        extrap.evaluate(model, *TEXT, FEW[0], tokenizer=tokenizer, tasks="nll", multiples=[2])


@contextmanager
def default_type(kind: torch.dtype) -> Iterator[None]:
    torch.set_default_dtype(kind)
    try:
        yield
        assert torch.get_default_dtype() is kind
    finally:
        torch.set_default_dtype(torch.float32)


def test_types_and_devices_around_a_call_change_nothing() -> None:
    def measured() -> pd.DataFrame:
        return extrap.evaluate(extrap.train(*ROPE), *BOTH, multiples=[1])

    alone = measured()
    shutil.rmtree("runs")
    cast = torch.autocast("cpu", torch.bfloat16)
    with default_type(torch.bfloat16), torch.device("meta"), cast:
        found = measured()
    assert_frame_equal(found, alone, check_exact=True)


def test_threads_inference_mode_and_tuples_change_nothing(tokenizer) -> None:
    model = llama(tokenizer)
    words = (*TEXT, FEW[0], "model.bos=0")

    def measured(_: int = 0) -> pd.DataFrame:
        return extrap.evaluate(model, *words, tokenizer=tokenizer, tasks="nll", multiples=[1])

    alone = measured()
    model.config.return_dict = False
    with ThreadPoolExecutor(2) as pool:
        found = [*pool.map(measured, range(2))]
    with torch.inference_mode():
        found.append(measured())
    for rows in found:
        assert_frame_equal(rows, alone, check_exact=True)
    assert model.config._attn_implementation != "extrap" and model.config.return_dict is False
