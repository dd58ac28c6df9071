"""llama.cpp, a real engine, serves a GGUF file of the test: it agrees with our own reading of the
file, and with another scaling of rotations it does not.
"""

import pytest

import extrap
from tests.support import tiny_gguf
from tests.support.tiny_checkpoints import rope

xllamacpp = pytest.importorskip("xllamacpp", reason="no llama.cpp here: pip install '.[llama]'")


@pytest.mark.filterwarnings("ignore:model.url", "ignore:task.parity.multiples")
@pytest.mark.parametrize("scale, said", [(1.0, "agree, to"), (0.5, "from 32 tokens on")])
def test_llama_cpp_serves_our_reading_of_a_file(place, scale, said):
    net = place.model("llama", hidden_size=64, **rope("default", theta=1000.0))
    file = tiny_gguf.written(place.folder / "tiny.gguf", net, tokenizer=place.tokenizer)
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx, params.n_parallel, params.warmup = 128, 1, False
    params.cpuparams.n_threads, params.port, params.verbosity = 1, 0, -1
    params.rope_freq_scale = scale
    server = xllamacpp.Server(params)
    with pytest.warns(UserWarning, match=f"task.parity: .*{said}") as found:
        rows = extrap.evaluate(
            f"{server.listening_address}/v1",
            *place.WORDS,
            tasks="parity",
            reference=file,
            multiples=[0.25, 0.5, 1],
        )
    # the engine reads 128 tokens with its answer
    assert any("it says that it reads 128 tokens" in str(line.message) for line in found)
    assert set(rows["length"].dropna()) == {32, 64} and set(rows["status"]) == {"ok"}
