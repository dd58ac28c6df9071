"""`import extrap`: the functions of a notebook do what the command line does, bit for bit."""

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import torch
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from matplotlib.figure import Figure
from pandas.testing import assert_frame_equal

import extrap
from extrap.cli import compare as command
from extrap.results import rows as results_rows
from extrap.results.schema import MEASURED
from extrap.runs.evaluate import evaluate as written
from extrap.runs.evaluate import trained_model
from extrap.runs.experiment import Experiment
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import word_tokenizer
from tests.support.checkpoint_jobs import placed
from tests.support.jobs import TINY, job, started

ROOT = Path(__file__).parents[1]
ROPE = (*TINY, "scheme=rope")
FEW = ("task.nll.documents=4", "task.kv.trials=4", "task.kv.pairs=4")
BOTH = ("task.nll.documents=4", "task.kv.trials=10")
TEXT = ("data/corpus=files", "data.corpus.path=text", "data.corpus.document_tokens=1000")
L = 64

pytestmark = pytest.mark.usefixtures("elsewhere")


def in_order(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values([*results_rows.KEY], ignore_index=True)


@pytest.fixture
def tokenizer(elsewhere: Path):
    """A tokenizer of words as transformers has it, and text beside it."""
    from transformers import PreTrainedTokenizerFast

    placed(elsewhere)
    path = word_tokenizer.written(elsewhere / "words") / "tokenizer.json"
    return PreTrainedTokenizerFast(tokenizer_file=str(path), bos_token="<bos>")


def llama(tokenizer, kind: str = "olmo2", **options):
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": L}
    return tiny.made(kind, **sizes | options)


@pytest.mark.subprocess
def test_values_are_those_of_the_command_line(elsewhere: Path, monkeypatch) -> None:
    """A run trained and evaluated by both: the same weights, the same rows."""
    done = started("scheme=rope", "extension=yarn", "extension.factor=2")
    assert done.returncode == 0, done.stderr
    (elsewhere / "python" / "runs").mkdir(parents=True)
    theirs = extrap.rows("main")
    monkeypatch.chdir(elsewhere / "python")
    run = extrap.train(*ROPE)
    weights = Path("runs", run.name, "weights.pt").read_bytes()
    assert weights == (elsewhere / "runs" / run.name / "weights.pt").read_bytes()
    before = sorted(Path().rglob("*"))
    ours = extrap.evaluate(run, *BOTH, multiples=[1, 2], extension="yarn", factor=2)
    assert sorted(Path().rglob("*")) == before
    assert_frame_equal(in_order(ours), in_order(theirs), check_exact=True)


def test_a_training_is_interrupted_as_any_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            sys.exit(1)  # as Lightning does

    monkeypatch.setattr(Experiment, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        extrap.train(*ROPE)


def test_a_run_is_compared_in_memory_as_on_disk(elsewhere: Path) -> None:
    run = extrap.train(*ROPE)
    options = ["extension=yarn", "extension.factor=2"], ["extension=ntk", "extension.factor=2"]
    for words in options:
        written(job("scheme=rope", *words))
    rows = extrap.evaluate(run, *BOTH, multiples=[1, 2], extension=["yarn", "ntk"], factor=2)
    assert set(rows["extension"]) == {"direct", "yarn", "ntk"} and not rows.duplicated().any()
    (pair,) = command.values(Path("results"), "main", ["rope+yarn", "rope+ntk"], [])["pairs"]
    for known in (rows, extrap.rows("main"), pd.concat([rows[::2], rows[1::2]])):
        found = extrap.compare(known, "yarn", "ntk")
        cells = found.astype(object).where(found.notna(), None).to_dict("records")
        assert len(cells) == len(pair["cells"]) > 3 and set(found["items"]) > {10}
        for ours, theirs in zip(cells, pair["cells"], strict=True):
            assert (ours["first"], ours["second"]) == ("rope + yarn x2", "rope + ntk x2")
            assert all(ours[name] == pytest.approx(value) for name, value in theirs.items())


def test_figures_are_drawn_and_shown_by_a_notebook() -> None:
    rows = extrap.evaluate(extrap.train(*ROPE), BOTH[1], tasks="kv", multiples=[1, 2])
    figure = extrap.plot(rows, "kv_depth", width=4)
    assert isinstance(figure, Figure) and figure._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(UserError, match="did you mean kv_depth"):
        extrap.plot(rows, "kv_dept")
    with pytest.raises(UserError, match="no rows with task=nll"):
        extrap.plot(rows, "loss_length")


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


def test_lengths_in_a_text_are_no_numbers() -> None:
    with pytest.raises(UserError, match=r"^multiples=24: expected a list of numbers above 0"):
        extrap.evaluate("runs/rope", multiples="24")


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


def test_a_program_of_hydra_and_its_threads_stay_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("a: 1")
    torch.set_num_threads(2)
    try:
        initialize_config_dir(str(tmp_path), version_base="1.3")
        with pytest.raises(UserError, match="task="):
            extrap.evaluate(lambda ids: ids, tasks="none")
        assert compose("mine").a == 1 and torch.get_num_threads() == 2
    finally:
        GlobalHydra.instance().clear()
        torch.set_num_threads(1)


def wrong(kind: str, tokenizer):
    """A model that cannot be evaluated."""
    import transformers

    small = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    small |= {"vocab_size": len(tokenizer), "intermediate_size": 32}
    match kind:
        case "meta":
            with torch.device("meta"):
                return type(llama(tokenizer))(llama(tokenizer).config)
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
        ("masked", (), "model=bert: sees later tokens"),
        ("shape", ("model.train_length=32",), "returned a tensor of shape (1, 9) for ids of"),
        ("none", ("model.train_length=32",), "returned NoneType for ids of shape (1, 8)"),
        ("random", ("model.train_length=32",), "model=lambda: returns other logits for the same"),
        ("ahead", ("model.train_length=32",), "model=lambda: sees later tokens"),
        ("class", ("model.train_length=32",), "model=Linear: is no model"),
        ("far ahead", ("model.train_length=64",), "model=lambda: sees later tokens (a text of 64"),
        ("none", (), "model.train_length=null: lambda does not say for which context"),
        ("function", ("model.train_length=64", "extension=yarn"), "extension=yarn: "),
        ("fine", ("scheme=alibi",), "scheme=alibi: a published checkpoint leaves this option"),
        ("fine", ("finetune=lora", "data=text"), "finetune: needs the folder of a checkpoint"),
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
    ],
)
def test_a_tokenizer_that_is_none_is_one_line(tokenizer_of, expected, tokenizer) -> None:
    with pytest.raises(UserError) as error:
        extrap.evaluate(llama(tokenizer), *TEXT, tokenizer=tokenizer_of(tokenizer), tasks="kv")
    assert expected in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("vocabulary", [100, 30000])
def test_a_tokenizer_of_another_vocabulary_is_rejected(vocabulary: int, tokenizer) -> None:
    model = llama(tokenizer, vocab_size=vocabulary)
    with pytest.raises(UserError, match=f"a tokenizer of 571 ids, a model of {vocabulary}"):
        extrap.evaluate(model, *TEXT, tokenizer=tokenizer, tasks="kv")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (3, "model=int: is no model"),
        ("nowhere", "model.checkpoint=nowhere: no such folder or file"),
        (None, "give what extrap.train(...) returns"),
    ],
)
def test_what_is_no_model_is_one_line(model, expected) -> None:
    model = extrap.train(*ROPE).folder if model is None else model
    with pytest.raises(UserError) as error:
        extrap.evaluate(model)
    assert expected in str(error.value) and "\n" not in str(error.value)


def test_a_factor_that_no_extension_takes_is_one_line() -> None:
    for extension in (None, "direct", ["direct", None]):
        with pytest.raises(UserError, match=r"^factor=2: no extension takes it"):
            extrap.evaluate(lambda ids: ids, extension=extension, factor=2)


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


@pytest.mark.slow
def test_the_notebook_runs(elsewhere: Path) -> None:
    """Each cell of code, with fewer steps of training, shorter texts and fewer trials."""
    notebook = json.loads((ROOT / "examples" / "first.ipynb").read_text())
    space: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            text = "".join(cell["source"])
            assert cell["outputs"] == []
            text = text.replace("multiples=[1, 2, 4]", "multiples=[1, 2]")
            exec(re.sub(r"(train.steps|task.kv.trials)=\d+", r"\1=9", text), space)
    assert set(space["rows"]["scheme"]) == {"rope", "alibi"}
    assert set(space["far"]["extension"]) == {"direct", "yarn", "ntk"}
