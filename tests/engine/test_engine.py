"""An engine on the loopback gives the rows of its checkpoint; its mistakes end in one line."""

import json
import math
import sys
from itertools import product
from pathlib import Path

import pytest
import torch

import extrap
from extrap.engine.client import Client, Refused
from extrap.engine.protocol import Protocol
from extrap.runs.evaluate import config_hash
from extrap.utils.errors import UserError
from tests.support.engine_server import Serving, serving
from tests.support.jobs import job
from tests.support.program import typed
from tests.support.tiny_checkpoints import rope

LLAMA = rope("default")
NLL = ["task.nll.documents=2"]
KV = ["task.kv.trials=6", "task.kv.depths=[0,0.5,1]", "task.kv.pairs=4"]
REFUSED = {
    "nll": ("documents=2", "scores the tokens of a text, which this engine does not"),
    "parity": ("trials=2", "compares the engine with model.reference, which is null"),
}
OPTIONS = {
    "kv": ("trials=4", "depths=[0,0.5,1]", "pairs=2", "multiples=[0.25,0.5]"),
    "nll": ("documents=2", "multiples=[0.25,0.5]"),
    "lost-in-the-middle": ("trials=4", "characters=6", "pairs=[2]", "generate=0"),
    "parity": ("trials=2", "documents=2", "multiples=[0.25,0.5]"),
}
KEY = "a-key-of-mine"
GONE = 404, {"error": {"message": "no such model"}}


@pytest.fixture
def net(place):
    return place.model("llama", **LLAMA)


@pytest.mark.turns
@pytest.mark.parametrize("way", ["prompt_logprobs", "echo"])
def test_rows_are_the_rows_of_the_checkpoint(place, net, way):
    folder, server = place.saved(net), Serving(net, way)
    words = [*place.WORDS, *NLL, *KV]
    asked = {"tasks": ["nll", "kv"], "multiples": [0.25, 0.5]}
    with serving(server) as url:
        rows = extrap.evaluate(url, *words, tokenizer=folder, **asked)
    own = extrap.evaluate(folder, *words, **asked)
    own = own[(own["task"] != "used") & (own["metric"] != "restricted")].reset_index(drop=True)
    assert set(rows["status"]) <= {"ok", "not trained"} and set(rows["scheme"]) == {"engine"}
    merged = rows.merge(own, on=["task", "protocol", "length", "depth", "metric"])
    assert len(merged) == len(rows) == len(own)
    assert (merged["value_x"] - merged["value_y"]).abs().max() < 1e-5
    assert all(isinstance(i, int) for body in server.asked for i in body["prompt"])
    assert 1 < server.most <= 4


def test_an_engine_is_asked_the_needles_that_are_one_answer(place, net):
    folder, server = place.saved(net), Serving(net, way=None)
    options = ("trials=4", "distances=5", "passkey_trials=2", "depths=[0,0.5,1]")
    words = [*place.WORDS, *[f"task.haystack.{option}" for option in options]]
    asked = {"tasks": "haystack", "multiples": [0.25, 0.5]}
    with serving(server) as url:
        rows = extrap.evaluate(url, *words, tokenizer=folder, **asked)
    own = extrap.evaluate(folder, *words, **asked)
    assert set(rows["protocol"]) == {"", "single", "multikey", "passkey"}
    others = own["protocol"].isin(["multivalue", "multiquery"]) | (own["metric"] == "restricted")
    own = own[~others & (own["task"] != "used")]
    place_of = ["protocol", "length", "depth", "at", "metric"]
    merged = rows.merge(own, on=place_of)
    assert len(merged) == len(rows) == len(own)
    assert merged["value_x"].equals(merged["value_y"])


def test_an_engine_without_scores_of_prompts_answers(place, net):
    folder = place.saved(net)
    with serving(Serving(net, way=None, unknown=500)) as url:
        asked = {"tokenizer": folder, "multiples": [0.25]}
        rows = extrap.evaluate(url, *place.WORDS, *KV, tasks="kv", **asked)
        assert "accuracy" in set(rows["metric"])
        for task, (option, why) in REFUSED.items():
            with pytest.raises(UserError, match=f"task={task}: {why}"):
                extrap.evaluate(url, *place.WORDS, f"task.{task}.{option}", tasks=task, **asked)
        options = ("documents=1", "multiples=[1]", "period=0.5")
        whole = [f"task.repeat.{option}" for option in options]
        with pytest.raises(UserError, match="task=repeat: reads the logits of all ids"):
            extrap.evaluate(url, *place.WORDS, *whole, tasks="repeat", tokenizer=folder)
        with pytest.raises(UserError, match="turns positions by its own setting"):
            extrap.evaluate(url, *place.WORDS, extension="pi", tasks="kv", **asked)


@pytest.mark.parametrize(
    "task, options",
    [
        ("kv", ("trials=4", "depths=[0,0.5,1]", "pairs=2", "multiples=[0.5]")),
        ("nll", ("documents=2", "multiples=[0.5]")),
        ("lost-in-the-middle", ("trials=4", "characters=6", "pairs=[2]", "generate=0")),
    ],
)
def test_requests_are_on_their_way_at_once_whatever_their_lengths(place, net, task, options):
    """batch_tokens=1: one text for a model."""
    folder, server = place.saved(net), Serving(net)
    words = [f"task.{task}.{option}" for option in ("batch_tokens=1", *options)]
    with serving(server) as url:
        extrap.evaluate(url, *place.WORDS, *words, tokenizer=folder, tasks=task)
    assert 1 < server.most <= 4


@pytest.mark.filterwarnings("ignore:task.parity")
@pytest.mark.parametrize("way", ["prompt_logprobs", "echo", None])
@pytest.mark.parametrize("written", [math.nan, None])
def test_an_engine_whose_logits_are_no_numbers_past_a_length_diverges_there(
    place, net, way, written
):
    folder, server = place.saved(net), Serving(net, way)
    answers = server.completion

    def overflows(head, read, logits):
        return logits.index_fill(1, torch.arange(40, max(40, logits.shape[1])), math.nan)

    def completion(body):
        status, found = answers(body)
        return status, json.loads(json.dumps(found), parse_constant=lambda name: written)

    net.lm_head.register_forward_hook(overflows)
    server.completion = completion
    tasks = ["kv", "lost-in-the-middle", "parity", *(["nll"] if way else [])]
    words = [f"task.{task}.{one}" for task in tasks for one in OPTIONS[task]]
    with serving(server) as url:
        rows = extrap.evaluate(url, *place.WORDS, *words, tasks=tasks, reference=folder)
    scored = rows[rows["metric"].isin(["accuracy", "format", "nll", "same"])]
    past, within = (scored[scored["length"] > 40], scored[scored["length"] < 40])
    assert set(past["task"]) == set(tasks) and set(past["status"]) == {"diverged"}
    assert past["value"].isna().all() and within["value"].notna().all()


def test_models_are_named_in_full_and_one_that_is_gone_ends_the_evaluation(place, net):
    folder, server = place.saved(net), Serving(net)
    asked = {"tokenizer": folder, "tasks": "kv", "multiples": [0.25]}
    two = {"data": [{"id": "mine/a"}, {"id": "mine/b"}]}
    server.models = lambda: two
    with serving(server) as url:
        with pytest.raises(UserError, match="the engine serves mine/a, mine/b; name one"):
            extrap.evaluate(url, *place.WORDS, *KV, **asked)
        answers = server.completion
        server.completion = lambda body: answers(body) if len(server.asked) < 9 else GONE
        with pytest.raises(UserError, match="404: no such model"):
            extrap.evaluate(url, "model.name=mine/a", *place.WORDS, *KV, **asked)


@pytest.mark.filterwarnings("ignore:model.url")
def test_the_limit_of_the_engine_is_found_and_said(place, net):
    folder = place.saved(net)
    given = {"tasks": "nll", "tokenizer": folder, "multiples": [0.25, 0.5]}
    for server in (Serving(net, limit=40), Serving(net, change=lambda i: i[-40:], honest=True)):
        with serving(server) as url, pytest.warns(UserWarning, match="no rows at 6[45]") as found:
            rows = extrap.evaluate(url, *place.WORDS, *NLL, **given)
        assert set(rows["length"]) == {32}
        assert any("40 tokens" in str(line.message) for line in found)
    bos = Serving(net, change=lambda ids: [0, *ids], honest=True)
    with serving(bos) as url, pytest.raises(UserError, match="reads 17 tokens of a prompt of 16"):
        extrap.evaluate(url, *place.WORDS, **given)


@pytest.mark.filterwarnings("ignore:task.nll.multiples")
def test_a_limit_that_the_engine_says_of_each_prompt_is_one_line(place, net):
    server = Serving(net)
    answers = server.completion

    def completion(body):
        n = len(body["prompt"])
        long = 400, {"error": {"message": f"maximum is 40 tokens, you requested {n + 1}"}}
        return long if n > 40 else answers(body)

    server.completion = completion
    asked = {"tasks": "nll", "tokenizer": place.saved(net), "multiples": [0.25, 0.5, 1]}
    with serving(server) as url, pytest.warns(UserWarning, match="maximum is 40") as found:
        rows = extrap.evaluate(url, *place.WORDS, *NLL, **asked)
    assert sum("maximum is 40" in str(line.message) for line in found) == 1
    assert set(rows["length"]) == {32}


@pytest.mark.parametrize("strict", [False, True])
def test_an_engine_is_asked_for_its_most_likely_tokens(place, net, strict):
    prompt = list(range(1, 12))
    with serving(Serving(net, strict=strict)) as url:
        protocol = Protocol(Client(url), "tiny")
        protocol.find(prompt)
        found = protocol.say(prompt, 4).ids
    own, *_ = net.generate(torch.tensor([prompt]), max_new_tokens=4, do_sample=False)
    assert found == own[-4:].tolist()


def test_rows_beside_another_reference_are_others(place, net, elsewhere):
    folder = Path(place.saved(net))
    folder.rename(first := elsewhere / "first")
    net.lm_head.weight.data += 1
    Path(place.saved(net)).rename(second := elsewhere / "second")
    words = ["model=engine", "model.url=http://127.0.0.1:9/v1", "stage=evaluate", *place.WORDS]
    tasks = {"nll": [*NLL, "task.nll.multiples=[.5]"], "parity": ["task.parity.multiples=[.5]"]}
    found = set()
    for reference, (task, options) in product((first, second), tasks.items()):
        asked = [f"model.reference={reference}", f"task=[{task}]", *options]
        found.add((task, config_hash(job(*words, *asked, tiny=["logger=none"]), task)))
    assert sorted(task for task, _ in found) == ["nll", "parity", "parity"]


@pytest.mark.parametrize("name", ["reference", "tokenizer"])
def test_a_wrong_place_of_the_tokenizer_is_named_by_its_option(place, name):
    with pytest.raises(UserError, match=f"^model.{name}=nowhere: no such folder or file"):
        extrap.evaluate("http://127.0.0.1:9/v1", *place.WORDS, tasks="kv", **{name: "nowhere"})
    both = {"tokenizer": "nowhere", "reference": "there"}
    with pytest.raises(UserError, match=r"^model\.tokenizer=nowhere: .* leave one out"):
        extrap.evaluate("http://127.0.0.1:9/v1", *place.WORDS, tasks="kv", **both)


def test_a_folder_that_gives_its_tokenizer_alone_needs_no_weights(place, net):
    folder = Path(place.saved(net))
    asked = {"tokenizer": str(folder), "tasks": "kv", "multiples": [0.25]}
    (folder / "model.safetensors").unlink()
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"llama"', '"of the future"'))
    with serving(Serving(net)) as url:
        rows = extrap.evaluate(url, *place.WORDS, *KV, **asked)
    assert set(rows["length"].dropna()) == {32} and set(rows["train_length"]) == {128}


def test_a_key_goes_to_the_engine_alone(place, net, monkeypatch, capsys):
    folder, server = place.saved(net), Serving(net, key=KEY)
    words = ["model=engine", f"model.tokenizer={folder}", "stage=evaluate", "task=[kv]"]
    words += ["task.kv.multiples=[.25]", "logger=csv", *place.WORDS, *KV]
    monkeypatch.setenv("EXTRAP_ENGINE_KEY", KEY)
    with serving(server) as url:
        typed(monkeypatch, *words, f"model.url={url}")
        assert server.keys == {None, f"Bearer {KEY}"} - {None}
        monkeypatch.setenv("EXTRAP_ENGINE_KEY", other := "another-key")
        with pytest.raises(UserError, match="asks for a key") as said:
            extrap.evaluate(url, *place.WORDS, tasks="kv", tokenizer=folder)
    written = b"".join(path.read_bytes() for path in Path().rglob("*") if path.is_file())
    shown = "".join(capsys.readouterr()) + str(said.value)
    assert url.encode() in written
    for key in (KEY, other):
        assert key.encode() not in written and key not in shown


def test_rows_of_another_model_behind_an_address_are_a_run_of_their_own(
    place, net, monkeypatch, capsys
):
    folder, server = place.saved(net), Serving(net)
    words = ["model=engine", f"model.tokenizer={folder}", "stage=evaluate", *place.WORDS]
    words += ["logger=csv"]
    kv = ["task=[kv]", "task.kv.multiples=[.25]", *KV]
    nll = ["task=[nll]", "task.nll.multiples=[.25]", *NLL]
    with serving(server) as url:
        words += [f"model.url={url}"]
        typed(monkeypatch, *words, *kv)
        before, _ = len(server.asked), capsys.readouterr()
        typed(monkeypatch, *words, *kv)
        assert len(server.asked) == before
        assert "nothing left to do (the engine was not asked; " in capsys.readouterr().err
        server.models = lambda: {"data": [{"id": "other", "max_model_len": 9999}]}
        with pytest.raises(SystemExit):
            typed(monkeypatch, *words, *nll)
        said = capsys.readouterr().err
        assert "serves id=other, and engine-" in said and " has rows of id=tiny; give label" in said
        typed(monkeypatch, *words, *nll, "label=other")
        one = {"id": "tiny", "max_model_len": 9999, "meta": {"n_params": 5}}
        server.models = lambda: {"data": [one]}
        typed(monkeypatch, *words, *nll)  # it says more of the model that it served before


@pytest.mark.parametrize("proxy", ["socks9://127.0.0.1:1", "socks5://127.0.0.1:1"])
def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UserError, match=r"^ALL_PROXY: a proxy .* into NO_PROXY"):
        Client("http://engine.invalid/v1")
    Client("http://127.0.0.1:9/v1")


def test_one_line_says_what_is_wrong_with_an_engine(monkeypatch):
    monkeypatch.setattr("extrap.engine.client.PAUSE", 0.01)
    for url in ("file:///etc/passwd", "http://me:secret@127.0.0.1/v1", "http://x/v1?key=1"):
        with pytest.raises(UserError, match=r"model\.url") as said:
            Client(url)
        assert "secret" not in str(said.value)
    answers = {
        "redirects": Serving(None, said=b"", status=307, headers={"Location": "http://x.invalid"}),
        "something else than JSON": Serving(None, said=b"<html>"),
        "more than 0 MiB": Serving(None, said=b" " * 5000),
        "after 2 tries": Serving(None, said=b"{}", status=500),
    }
    monkeypatch.setattr("extrap.engine.client.MOST", 4096)
    for line, server in answers.items():
        with serving(server) as url, pytest.raises(UserError, match=line):
            Client(url, tries=2).post("completions", {})
        assert len(server.asked) == (2 if "tries" in line else 1)
    with pytest.raises(UserError, match="ConnectError"):
        Client(url, tries=2).get("models")  # it has ended
    strict = Serving(None, said=b'{"detail": "no"}', status=422)
    with serving(strict) as url, pytest.raises(Refused, match="422: no"):
        Client(url).post("completions", {})
    with serving(Serving(None, fails=2, said=b"[]")) as url:
        assert Client(url, tries=3).post("completions", {}) == []


@pytest.mark.parametrize("slow, said", [(0.02, "no whole answer in 1 s"), (60, "ReadTimeout: ")])
def test_an_engine_that_takes_longer_than_its_time_limit_is_one_line(slow, said):
    """It writes a byte now and then, or none."""
    server = Serving(None, said=b"[" + b" " * 9000 + b"]", slow=slow)
    with serving(server) as url, pytest.raises(UserError, match="does not answer") as error:
        Client(url, timeout=1, tries=1).post("completions", {})
    assert said in str(error.value) and "raise model.timeout" in str(error.value)
    assert "\n" not in str(error.value) and len(server.asked) == 1
