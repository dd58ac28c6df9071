"""A checkpoint as large as its machine: it is loaded once, and its loading shows from the start."""

import pandas as pd
import pytest

import extrap
from extrap.pretrained import checkpoint
from tests.support.checkpoint_jobs import NLL, L, measured, placed

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


def test_weights_are_read_once_for_all_tasks_depths_and_strides(elsewhere, loads):
    placed(elsewhere)
    measured(f"task=[{','.join(TASKS)}]", *WORDS)
    assert loads.count("LlamaForCausalLM") == 1


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
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["load", "check", "nll"]
    # texts of 8, L / 2, L and 2 L tokens
    assert said[1].startswith(f"check: {8 + L // 2 + L + 2 * L} in ")
