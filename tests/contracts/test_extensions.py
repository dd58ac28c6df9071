"""The contract of every extension in conf/extension on every scheme in conf/scheme, in float64.

One test per extension and check goes over all schemes that the extension takes, or over FEW that
stand for their families where a check is about the machinery and not about the method. "All" is a
sample that changes with the commit unless pytest runs with --all (tests/support/sample.py). Excuses
are data: tests/support/exceptions.py.
"""

import inspect
from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch import Tensor

from extrap.audit import extension_contracts as contracts
from extrap.audit.extension_contracts import Pair
from extrap.extensions.base import Extension, Reader
from extrap.model import attention as kernels
from extrap.model.decoder import Decoder
from extrap.model.gpt import GPT
from extrap.model.scheme import OutOfRange
from extrap.runs.build import find
from extrap.utils.errors import NotApplicable
from tests.support.discover import PLUGINS, calls, gpt, made, names, node, theirs
from tests.support.exceptions import EXCUSED_EXTENSIONS, EXCUSED_PAIRS
from tests.support.largest import growth
from tests.support.sample import some

SCHEMES, EXTENSIONS = names("scheme"), names("extension")
L, VOCAB = 36, 50
SHAPE = {"dim": 16, "heads": 2, "layers": 2, "length": L, "vocab": VOCAB}
FEW = [
    *("rope", "xpos-window", "hwfa", "vo-rope", "alibi", "t5", "shaw", "transformer-xl"),
    *("sinusoidal", "learned", "nope", "randomised-rope"),
]
pytestmark = [
    pytest.mark.filterwarnings("ignore::UserWarning:extrap"),
    pytest.mark.sample(14),
]

NEAR = ["rnope-swa", "two-bases", "two-bases-p-rope"]
"""Of two layers these are windows alone, which read no farther than a crop."""
APPLIES = {
    "direct": SCHEMES,
    "crop": [name for name in SCHEMES if name not in NEAR],
    "nbce": SCHEMES,
    "pi": ["rope", "xpos", "sinusoidal", "transformer-xl", "linear-rope"],
    "ntk": ["rope", "rope-half", "partial-rope", "p-rope", "vo-rope", "linear-rope"],
    "yarn": ["rope", "keynorm-rope", "xpos-window"],
    "log-n": ["nope", "rope", "alibi", "t5", "sinusoidal", "cope"],
}
UNMAPPED = [
    *("nope", "cope", "forgetting", "fire", "sinusoidal", "linear-rope", "tupe-a", "learned"),
    *("randomised-rope", "shaw"),
]
APART = {
    "bias-interpolation": ["nope", "rope", "cope", "t5-urpe", "tupe-a"],
    "crop": NEAR,
    "drope": ["nope", "linear-rope"],
    "dual-chunk": ["nope", "sinusoidal", "linear-rope"],
    "learned-clamp": ["rope", "learned-clamp"],
    "leaky-rerope": UNMAPPED,
    "log-n": [
        *("log-n", "ssmax", "window", "learned", "linear-rope", "lerope", "rope-asentmax"),
        *("chunked-nope", "rope-sigmoid", "rope-softpick", "stick-breaking"),
    ],
    "ms-poe": ["nope", "xpos", "multi-axis-rope", "rope-logn", "keynorm-rope"],
    "ntk": [
        *("hwfa", "nope", "alibi", "sinusoidal", "learned", "t5", "cope"),
        *("inverse-leaky-rope", "selective-rope"),
    ],
    "ntk-dynamic-row": ["vo-rope"],
    "ntk-su-mixed-log-n": ["alibi", "rope-logn-softmax1"],
    "parallel-windows": ["linear-rope"],
    "pi": [
        *("hwfa", "nope", "cope", "forgetting", "alibi", "t5", "learned", "fire", "urpe"),
        *("t5-urpe", "tupe-a", "deberta", "kerple-log", "keynorm", "log-n", "mul-learned"),
        *("relative-projection", "sandwich", "shaw", "stick-breaking", "window"),
    ],
    "randomised-stride": ["rope"],
    "rerope": UNMAPPED,
    "self-extend": UNMAPPED,
    "streaming-llm": ["learned", "linear-rope"],
    "string": ["nope", "sinusoidal", "linear-rope"],
    "window": ["window", "learned", "linear-rope"],
    "yarn": ["hwfa", "alibi", "sinusoidal", "linear-rope"],
}
"""Schemes that an extension refuses."""


def schemes(extension_name: str) -> list[str]:
    """Returns the schemes that this run tries an extension on: all of them if the extension is from
    outside the repository.
    """
    if extension_name in theirs():
        return SCHEMES
    named = {name for table in (APPLIES, APART) for name in table.get(extension_name, [])}
    if len(named) > len(SCHEMES) / 2:  # it takes nearly all of them
        named = set(APART.get(extension_name, []))
    excused = {name for pair, name, _ in EXCUSED_PAIRS if pair == extension_name}
    return some(SCHEMES, 8, extension_name, {*FEW, *named, *excused, *theirs()})


def extension(name: str) -> Extension:
    return made(node("extension", name), "extension")


@cache
def model(name: str) -> GPT:
    return gpt(name, **SHAPE)


@cache
def plain(name: str) -> dict[int, Tensor | None]:
    """Logits of the plain model by length, which all extensions share."""
    return {}


@cache
def pair(extension_name: str, name: str) -> Pair:
    return Pair(model(name), extension(extension_name), plain(name))


def reader(extension_name: str, name: str) -> Reader | None:
    try:
        return pair(extension_name, name).reader
    except NotApplicable:
        return None


def text(T: int) -> Tensor:
    return torch.randint(VOCAB, (1, T), generator=torch.Generator().manual_seed(0))


def on(contract: Callable[[Pair], None], named: Callable[[str], list[str]]) -> Callable:
    """Makes a contract a test of every extension, on the named schemes that it takes. An excuse
    that is not needed fails as well.
    """
    check = contract.__name__

    @pytest.mark.parametrize("name", EXTENSIONS)
    @torch.no_grad()
    def over_schemes(name: str) -> None:
        failed = {}
        for scheme in named(name):
            if reader(name, scheme) is not None:
                try:
                    contract(pair(name, scheme))
                except AssertionError as error:
                    failed[scheme] = (str(error).strip() or "assertion").splitlines()[0]
        if (name, check) in EXCUSED_EXTENSIONS:
            assert failed, "the excuse is not needed"
            return
        excused = {s for e, s, c in EXCUSED_PAIRS if (e, c) == (name, check)}
        assert set(failed) == excused & set(named(name)), failed

    return over_schemes


def few(extension_name: str) -> list[str]:
    return FEW


@pytest.mark.parametrize("name", EXTENSIONS)
def test_takes_some_schemes_and_refuses_the_others_in_a_line(name):
    taken = []
    for scheme in schemes(name):
        try:
            extension(name)(model(scheme))
            taken.append(scheme)
        except NotApplicable as refusal:
            line = str(refusal)
            assert "\n" not in line and " on " in line.split(": ")[0], line
    assert taken
    assert set(APPLIES.get(name, [])) & set(schemes(name)) <= set(taken)
    assert not set(APART.get(name, [])) & set(taken)


test_inside_the_window_it_is_the_plain_model = on(contracts.inside, schemes)
test_outside_it_is_finite_and_different = on(contracts.outside, schemes)
test_prefixes_keep_their_logits = on(contracts.prefix, schemes)
test_reading_again_is_the_same_and_last_is_the_tail = on(contracts.repeats, few)
test_texts_of_a_batch_do_not_meet = on(contracts.batch, few)
test_nothing_is_left_behind_on_the_model = on(contracts.untouched, few)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", EXTENSIONS)
@torch.no_grad()
def test_memory_grows_linearly(name, monkeypatch):
    """Four times the length, at most 4.5 times the largest tensor; on one scheme, which stands for
    the others.
    """
    monkeypatch.setattr(kernels, "ROWS", 8)
    first = next(
        scheme
        for scheme in ("rope", "alibi", "randomised-rope", *SCHEMES)
        if reader(name, scheme) is not None
    )
    extended = extension(name)(gpt(first, dtype=torch.float32, **SHAPE))
    try:
        assert growth(lambda n: extended(text(n), last=1), 8 * L, 32 * L) <= 4.5
    except OutOfRange:
        return


@pytest.mark.parametrize("name", EXTENSIONS)
def test_whether_it_applies_is_known_without_weights(name):
    for scheme in ("rope", "alibi", "learned", "sinusoidal", "nope"):
        own = model(scheme).scheme
        with torch.device("meta"):
            bare = GPT(own, VOCAB, Decoder(16, 2, 2))
        try:
            extension(name)(bare)
            applies = True
        except NotApplicable:
            applies = False
        assert applies == (reader(name, scheme) is not None), scheme


@pytest.mark.parametrize("name", EXTENSIONS)
def test_a_file_is_a_constructor_call_written_down(name):
    for _, call in calls(node("extension", name)):
        assert set(call) - {"_target_"} == set(
            inspect.signature(find(call["_target_"], name, PLUGINS)).parameters
        )


def test_excuses_name_what_exists():
    assert {e for e, _ in EXCUSED_EXTENSIONS} | {e for e, _, _ in EXCUSED_PAIRS} <= set(EXTENSIONS)
    assert {name for _, name, _ in EXCUSED_PAIRS} <= set(SCHEMES)
