"""GGUF: the same model as the folder it was made from, its own tokenizer, and a cache that is whole
or not there.
"""

import pytest
import torch

from extrap.pretrained import gguf
from extrap.pretrained.checkpoint import Checkpoint
from extrap.pretrained.gguf_tokenizer import check_cut
from extrap.pretrained.vocabulary import encoder_of
from extrap.runs.published import first_token
from extrap.utils.errors import UserError
from tests.support import tiny_checkpoints as tiny
from tests.support import tiny_families, tiny_gguf

TOKENS = torch.randint(200, (2, 60), generator=torch.Generator().manual_seed(5))
HOSTILE = [
    "",
    " ",
    "\n\n\t \r\n",
    "plain words, and 1234567 of them",
    "e\u0301 \u00e9 \u200b\u202e \ufeff",
    "\U0001f9d1\u200d\U0001f680 \u4e2d\u6587 \u0939\u093f",
    "\x00\x01\x7f\x80\xff",
    "<|endoftext|> inside <|im_start|>user",
    "the the  the   the\u00a0the",
    "\ud7ff\ue000\U0010ffff",
]


@pytest.fixture(scope="module")
def llama():
    return tiny.made("llama", vocab_size=len(tiny_gguf.words()), **tiny.rope("default"))


@torch.no_grad()
def folders(cache):
    return [path for path in cache.glob("*") if path.is_dir()]


def test_a_file_is_the_model_that_it_was_made_from(llama, tmp_path):
    path = tiny_gguf.written(tmp_path / "model.gguf", llama)
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    torch.testing.assert_close(ours(TOKENS), llama(TOKENS).logits, atol=1e-4, rtol=1e-4)
    assert ours.scheme.shape.length == llama.config.max_position_embeddings


@torch.no_grad()
def test_gemma_is_read_by_transformers(tmp_path):
    """Norms of 1 + w, two rotations, windows, and a tokenizer of SentencePiece."""
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    full = {"rope_type": "default", "rope_theta": 1e6}
    local = {"rope_type": "default", "rope_theta": 1e4}
    rope = {"full_attention": full, "sliding_attention": local}
    model = tiny.made("gemma3", vocab_size=300, num_hidden_layers=6, rope_parameters=rope,
                      query_pre_attn_scalar=12)  # fmt: skip
    path = tiny_gguf.gemma(tmp_path / "gemma.gguf", model)
    checkpoint = Checkpoint(str(path), tmp_path / "cache")
    ours = checkpoint.model()
    torch.testing.assert_close(ours(TOKENS), model(TOKENS).logits, atol=1e-4, rtol=1e-4)
    assert [layer.window for layer in ours.layers] == [9] * 5 + [None]
    assert (checkpoint.folder / "tokenizer.json").is_file()


WORDS = {"vocab_size": len(tiny_gguf.words())}
EXPERTS = WORDS | {"moe_intermediate_size": 768, "norm_topk_prob": True}  # which no field says
TURNS = {"rope_type": "default", "rope_theta": 1e6, "partial_rotary_factor": 0.5}
STATES = WORDS | {
    "head_dim": 16,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 2,
    "layer_types": ["linear_attention"] * 3 + ["full_attention"],
    "tie_word_embeddings": False,
    "rope_parameters": TURNS | {"mrope_section": [2, 1, 1], "mrope_interleaved": True},
}


def close_to_its_file(model, path, tmp_path):
    pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    expected = model(TOKENS).logits
    torch.testing.assert_close(ours(TOKENS), expected, atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_experts_are_read_under_the_word_of_the_file(tmp_path):
    """qwen3moe, which transformers lists as qwen3_moe."""
    model = tiny_families.made("qwen3_moe", head_dim=8, **EXPERTS)
    fields = {"attention.key_length": 8, "expert_count": 4, "expert_used_count": 2}
    place = tmp_path / "experts.gguf"
    path = tiny_gguf.other(place, model, "qwen3moe", tiny_gguf.MOE, **fields)
    close_to_its_file(model, path, tmp_path)


@torch.no_grad()
def test_a_hybrid_is_read_by_the_mapping_of_transformers(tmp_path, monkeypatch):
    """Without a kernel of the hub, which it would ask for weights of fewer bits."""
    place = "transformers.quantizers.quantizer_gguf"
    pytest.importorskip(place)
    monkeypatch.setattr(f"{place}.GgufHeader.has_quantized_weights", True)
    monkeypatch.setattr(f"{place}.get_gguf_kernel", lambda: pytest.fail("asks for a kernel"))
    model = tiny_families.made("qwen3_5_text", **STATES)
    path = tiny_gguf.hybrid(tmp_path / "hybrid.gguf", model)
    close_to_its_file(model, path, tmp_path)


@torch.no_grad()
def test_the_window_of_phi_is_that_of_the_file(tmp_path):
    """transformers leaves the field out, and takes 32000 for the token of padding."""
    model = tiny_families.made("phi3", sliding_window=9, vocab_size=32064)
    fields = {"attention.sliding_window": 9, "vocab_size": 32064}
    path = tiny_gguf.other(tmp_path / "phi.gguf", model, "phi3", tiny_gguf.PHI, **fields)
    close_to_its_file(model, path, tmp_path)


@torch.no_grad()
def test_quantised_weights_are_those_of_the_format(llama, tmp_path):
    """Q8_0 by hand: blocks of 32, a half-precision scale of 1/127 of the largest."""
    path = tiny_gguf.written(tmp_path / "model.gguf", llama, quantised=True)
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    w = llama.model.embed_tokens.weight.view(-1, 32)
    scale = (w.abs().amax(1, keepdim=True) / 127).half().float()
    expected = (w / (w.abs().amax(1, keepdim=True) / 127)).round() * scale
    torch.testing.assert_close(ours.embedding.weight, expected.view_as(ours.embedding.weight))


def test_the_folder_is_made_once(llama, tmp_path, monkeypatch):
    path = tiny_gguf.written(tmp_path / "model.gguf", llama)
    first = Checkpoint(str(path), tmp_path / "cache")
    monkeypatch.setattr(gguf, "_unpack", lambda *args: pytest.fail("unpacked again"))
    assert Checkpoint(str(path), tmp_path / "cache").sha256 == first.sha256


def test_an_interrupted_attempt_leaves_no_half(llama, tmp_path, monkeypatch):
    path, cache = tiny_gguf.written(tmp_path / "model.gguf", llama), tmp_path / "cache"

    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("safetensors.torch.save_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Checkpoint(str(path), cache)
    assert folders(cache) == []
    killed = Checkpoint(
        str(path), cache
    ).folder  # what a killed process leaves, beside what is whole
    killed.rename(cache / f".{killed.name}.tmp")
    assert Checkpoint(str(path), cache).folder == killed
    assert folders(cache) == [killed]


@pytest.mark.parametrize("kind", ["llama", "gemma"])
def test_a_file_for_its_tokenizer_alone_gives_no_weights(kind, llama, tmp_path, monkeypatch):
    path = tmp_path / "model.gguf"
    if kind == "llama":
        tiny_gguf.written(path, llama)
    else:
        pytest.importorskip("accelerate", reason="transformers reads a GGUF with it")
        model = tiny.made("gemma3", vocab_size=300)
        tiny_gguf.gemma(path, model)
    whole = Checkpoint(str(path), tmp_path / "whole")
    monkeypatch.setattr(gguf, "fits_memory", lambda path: False)
    monkeypatch.setattr("gguf.dequantize", lambda *args: pytest.fail("reads weights"))
    alone = Checkpoint(str(path), tmp_path / "alone", weights=False)
    assert not [*alone.folder.glob("*.safetensors")]
    assert (alone.vocab, alone.length()) == (whole.vocab, whole.length())
    assert first_token(None, *alone.tokens) == first_token(None, *whole.tokens)
    one, other = (encoder_of(each.folder) for each in (alone, whole))
    assert one(b"12 the 3")[0].tolist() == other(b"12 the 3")[0].tolist()


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("size", [3, 40, 3000, 30000])
def test_a_file_cut_short_is_one_line(size, weights, llama, tmp_path):
    path = tiny_gguf.written(tmp_path / "model.gguf", llama)
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(UserError) as error:
        Checkpoint(str(path), tmp_path / "cache", weights=weights).model()
    assert "model.gguf" in str(error.value) and "\n" not in str(error.value)
    assert folders(tmp_path / "cache") == []


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"architecture": "spiral"}, "general.architecture=spiral is not supported"),
        ({"pre": "tekken"}, "tokenizer.ggml.pre=tekken is not supported"),
        ({"llama__rope__scaling__type": "wild"}, "llama.rope.scaling.type=wild is not supported"),
        ({"split__count": 3, "split__no": 1}, "part 2 of 3 of a split model; join the parts"),
        ({"llama__attention__causal": False}, "llama.attention.causal=false: its tokens see later"),
        ({"general__type": "adapter"}, "model.gguf: an adapter .*; merge the adapter"),
        (
            {"llama__attention__head_count_kv": [2, 4, 2]},
            r"head_count_kv=.2, 4, 2.: layers that diff",
        ),
        ({"llama__attention__key_length": "8"}, "damaged .llama.attention.key_length=8"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(options, expected, llama, tmp_path, monkeypatch):
    """Before any weight is a number."""
    path = tiny_gguf.written(tmp_path / "model.gguf", llama, **options)
    monkeypatch.setattr("gguf.dequantize", lambda *data: pytest.fail("dequantised"))
    with pytest.raises(UserError, match=expected):
        Checkpoint(str(path), tmp_path / "cache")


def test_one_number_for_each_layer_is_one_for_all(llama, tmp_path):
    path = tiny_gguf.written(
        tmp_path / "model.gguf", llama, llama__attention__head_count_kv=[2, 2, 2]
    )
    ours = Checkpoint(str(path), tmp_path / "cache").model()
    torch.testing.assert_close(ours(TOKENS), llama(TOKENS).logits, atol=1e-4, rtol=1e-4)


def test_the_tokenizer_of_a_split_model_is_in_its_first_part(llama, tmp_path):
    path = tiny_gguf.written(tmp_path / "one.gguf", llama, split__count=2, split__no=0)
    assert Checkpoint(str(path), tmp_path / "cache", weights=False).vocab
    path = tiny_gguf.written(tmp_path / "two.gguf", llama, split__count=2, split__no=1)
    with pytest.raises(UserError, match=r"two.gguf: part 2 of 2 of a split model; give part 1"):
        Checkpoint(str(path), tmp_path / "cache", weights=False)


def test_a_folder_that_holds_a_file_alone_names_the_file(llama, tmp_path):
    path = tiny_gguf.written(tmp_path / "model.gguf", llama)
    with pytest.raises(UserError, match=f"holds no config.json.*; give {path}"):
        _ = Checkpoint(str(tmp_path)).settings


def test_a_vocabulary_alone_gives_its_tokenizer_and_no_model(llama, tmp_path):
    path = tiny_gguf.written(tmp_path / "model.gguf", llama, weights=False)
    with pytest.raises(UserError, match=r"model\.gguf: a vocabulary without weights"):
        Checkpoint(str(path), tmp_path / "cache")
    alone = Checkpoint(str(path), tmp_path / "cache", weights=False)
    assert alone.vocab == len(tiny_gguf.words())


def tokenizer(llama, tmp_path, pre: str):
    from tokenizers import Tokenizer

    path = tiny_gguf.written(tmp_path / f"{pre}.gguf", llama, pre=pre)
    folder = Checkpoint(str(path), tmp_path / "cache").folder
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("pre", ["gpt-2", "smollm", "qwen2", "llama-bpe"])
def test_text_comes_back(pre, llama, tmp_path):
    made = tokenizer(llama, tmp_path, pre)
    for text in HOSTILE:
        ids = made.encode(text, add_special_tokens=False).ids
        assert made.decode(ids, skip_special_tokens=False) == text


@pytest.mark.parametrize(
    "pre, text, pieces",
    [
        ("gpt-2", "x 1234", ["x", "Ġ", "123", "4"]),
        ("smollm", "x 1234", ["x", "Ġ", "1", "2", "3", "4"]),  # every digit is cut off
        ("qwen2", tiny_gguf.WHOLE, list(tiny_gguf.WHOLE)),
        ("llama-bpe", tiny_gguf.WHOLE, [tiny_gguf.WHOLE]),  # whole, though no merges make it
        ("smollm", "a<|im_start|>b", ["a", "<|im_start|>", "b"]),
    ],
)
def test_text_is_cut_as_the_file_says(pre, text, pieces, llama, tmp_path):
    assert tokenizer(llama, tmp_path, pre).encode(text).tokens == pieces


def test_what_transformers_would_leave_out_of_a_file_is_one_line(tmp_path):
    model = tiny.made("gemma3", vocab_size=300, num_hidden_layers=6)
    names = ["blk.0.attn_q.weight", "blk.0.attn_q_norm.weight", "output_norm.weight"]
    whole = {"missing_keys": [], "unexpected_keys": []}
    gguf._check_tensors(tmp_path, "gemma3", names, model, whole)
    with pytest.raises(UserError, match=r"leaves out the tensor blk.0.attn_q.bias"):
        gguf._check_tensors(tmp_path, "gemma3", [*names, "blk.0.attn_q.bias"], model, whole)
    left = whole | {"unexpected_keys": ["model.more"]}
    with pytest.raises(UserError, match=r"leaves out the tensor model.more"):
        gguf._check_tensors(tmp_path, "qwen35", names, model, left)
    lost = whole | {"missing_keys": {"model.norm.weight"}}
    with pytest.raises(UserError, match=r"lacks the tensor model.norm.weight"):
        gguf._check_tensors(tmp_path, "gemma3", names, model, lost)


@pytest.mark.parametrize("pre, known", [("gpt-2", True), ("qwen2", True), ("stablelm2", False)])
def test_a_way_of_cutting_that_transformers_does_not_know_is_refused(tmp_path, pre, known):
    fields = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": pre}
    if known:
        check_cut(tmp_path, fields, ["qwen2"])
        return
    with pytest.raises(UserError, match=f"tokenizer.ggml.pre={pre} is not supported"):
        check_cut(tmp_path, fields, ["qwen2"])
