"""Fewer texts at once where the memory of a device is full, or would be."""

import warnings

import pytest
import torch

from extrap.model import fitting
from extrap.model.decoder import Decoder
from extrap.model.fitting import Fitting, Need, free, free_on, full
from extrap.model.gpt import GPT
from extrap.model.shape import Shape
from extrap.runs.on_device import OnDevice
from extrap.schemes.rope import RoPE
from extrap.tasks.scoring.multi_token import greedy
from extrap.utils.errors import UserError

CPU = torch.device("cpu")


class Small:
    """A model whose forwards fail for more than `most` tokens."""

    def __init__(self, model, most: int):
        self.model, self.most, self.sizes = model, most, list[int]()

    def __enter__(self):
        hidden = self.model.hidden

        def held(tokens, *given, **more):
            self.sizes.append(len(tokens))
            if tokens.numel() > self.most:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 9 GiB")
            return hidden(tokens, *given, **more)

        self.model.hidden = held
        return self

    def __exit__(self, *error):
        del self.model.hidden


@pytest.fixture
def model():
    torch.manual_seed(0)
    return GPT(RoPE(Shape(16, 2, 2, 8, 50)), 50, Decoder(16, 2, 2)).eval()


READS = {
    "logits": lambda m, x: m(x, last=2),
    "losses": lambda m, x: m.losses(x[:, :-1], x[:, 1:]),
    "endings": lambda m, x: m.endings(torch.stack([x, x.flip(0)]), 2),
}


@torch.no_grad()
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_full_memory_halves_the_texts_once_and_says_so(model, read):
    tokens = torch.randint(20, (7, 12))
    whole = read(OnDevice(model, CPU), tokens)
    on_device = OnDevice(model, CPU)
    with Small(model, 2 * 12) as small:
        with pytest.warns(
            UserWarning, match=r"^7 texts of 1\d tokens fill .* batch_tokens="
        ) as said:
            found = read(on_device, tokens)
        torch.testing.assert_close(found, whole, atol=1e-6, rtol=1e-5)
        assert len(said) == 1 and small.sizes[:2] == [7, 3] and max(small.sizes[2:]) == 1
        small.sizes.clear()
        read(on_device, tokens)  # it knows
        assert max(small.sizes) == 1


@pytest.mark.filterwarnings("ignore:6 texts of 5 tokens fill")
def test_parts_of_a_model_that_answers_in_one_buffer_stay():
    kept = {}

    def model(tokens, last=None):
        if len(tokens) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        found = tokens[..., None].float()
        return kept.setdefault(found.shape, torch.empty_like(found)).copy_(found)

    tokens = torch.arange(30).view(6, 5)
    assert torch.equal(OnDevice(model, CPU)(tokens), tokens[..., None].float())


@torch.no_grad()
def test_generation_goes_on_without_a_past(model):
    prompts = list(torch.randint(20, (4, 9)).numpy())
    whole = greedy(OnDevice(model, CPU), prompts, 5, 4096)
    with Small(model, 2 * 13) as small:
        with pytest.warns(UserWarning, match="^4 texts of 13 tokens fill"):
            found = greedy(OnDevice(model, CPU), prompts, 5, 4096)
        assert (found == whole).all()
        assert small.sizes[0] == 4 and max(small.sizes[1:]) == 2


def test_a_single_text_that_does_not_fit_is_one_line(model):
    tokens = torch.randint(20, (2, 12))
    fewer = pytest.warns(UserWarning, match="batch_tokens=12$")
    with Small(model, 11), fewer, pytest.raises(UserError) as error:
        OnDevice(model, CPU)(tokens, last=1)
    assert str(error.value) == (
        "12 tokens: do not fit into the memory of cpu; give smaller multiples, model.dtype=bf16 or "
        "model.device_map=auto"
    )


def test_the_allocator_of_a_cpu_says_that_it_is_full():
    with pytest.raises(RuntimeError) as error:
        torch.empty(2**46)
    assert full(error.value) and full(MemoryError()) and not full(RuntimeError("shape"))


@torch.no_grad()
@pytest.mark.parametrize(("room", "sizes"), [(100.0, [7]), (3.9, [3, 3, 1]), (0.5, [1] * 7)])
def test_a_cpu_foresees_what_fits(model, monkeypatch, room, sizes):
    """Room for so many texts: the system would end a process that takes more."""
    monkeypatch.setattr(fitting, "SMALL", 0)
    tokens = torch.randint(20, (7, 12))
    need = Need(model)(12, 2)
    assert need > 0
    monkeypatch.setattr(fitting, "free", lambda: room * need / fitting.SHARE)
    with Small(model, 10**9) as small, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = OnDevice(model, CPU)(tokens, last=2)
    assert small.sizes == sizes and len(found) == 7
    assert len(said) == (room < 7)
    if room == 3.9:
        assert "reads 3 at once in place of 7" in str(said[0].message)
    if room == 0.5:
        assert "the system may end this process" in str(said[0].message)


def test_free_memory_is_that_of_the_control_group(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:       5 kB\n")
    assert free(meminfo, tmp_path / "none") == 5 * 1024
    group = {"max": "3000", "current": "2500", "stat": "file 9\ninactive_file 400\n"}
    for name, words in group.items():
        (tmp_path / f"memory.{name}").write_text(words)
    assert free(meminfo, tmp_path) == 900
    (tmp_path / "memory.max").write_text("max\n")
    assert free(meminfo, tmp_path) == 5 * 1024
    assert free(tmp_path / "none", tmp_path / "none") == float("inf")


def test_free_memory_of_a_gpu_counts_what_torch_holds_for_later(monkeypatch):
    known = {"mem_get_info": (5, 80), "memory_reserved": 60, "memory_allocated": 20}
    for name, numbers in known.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, numbers=numbers: numbers)
    assert free_on(torch.device("cuda")) == 5 + 40
    monkeypatch.setattr(fitting, "free", lambda: 7.0)
    assert free_on(CPU) == 7


def test_no_memory_is_foreseen_for_a_function():
    assert Need(lambda tokens: tokens)(1000, 1000) == 0
    assert Fitting(CPU)(lambda rows: rows.stop, 3, 5) == [3]
