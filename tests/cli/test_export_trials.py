"""`extrap export-trials`: the files that lm-eval reads hold the trials of the tasks."""

import json
from pathlib import Path

import pytest
import yaml

from extrap.cli.export_trials import main
from extrap.data.corpora.torch import Torch
from extrap.data.tokenizer import encoder
from extrap.data.trials.base import Trials
from extrap.data.vocabulary import Vocabulary
from extrap.pretrained.export import write_tokenizer
from extrap.pretrained.vocabulary import PublishedVocabulary
from extrap.tasks.kv import KV
from tests.support import word_tokenizer

WORDS = ["--tokenizer", "words", "--trials", "2"]


@pytest.fixture(autouse=True)
def little_text(monkeypatch):
    """The corpus is one torch file in forty: each test reads it with a tokenizer of its own."""
    every = Torch._files

    def some(self: Torch) -> tuple[Path, list[Path]]:
        root, paths = every(self)
        return root, paths[::40]

    monkeypatch.setattr(Torch, "_files", some)


@pytest.fixture
def words(elsewhere):
    """The vocabulary of a tokenizer in a folder `words`."""
    made = encoder(str(word_tokenizer.written(elsewhere / "words")))
    return PublishedVocabulary(made, made.ids, 0, "words").words


def exported(*more: str) -> dict[str, list[dict]]:
    """The trials of each cell."""
    folder = str(Path("words").absolute())  # a process opens the tokenizer of a path once
    main([*more, *WORDS, "--tokenizer", folder, "--out", "out"])
    files = sorted(Path("out", "trials").glob("*.jsonl"))
    return {path.stem: [json.loads(x) for x in path.read_text().splitlines()] for path in files}


def test_trials_are_those_of_the_task(words):
    found = exported("kv", "--lengths", "128,256")
    depths = (0, 10, 25, 50, 75, 90, 100)
    names = {f"kv-{p}-{n}-d{d}" for p in ("records", "padded") for n in (128, 256) for d in depths}
    assert set(found) == names
    stream = Torch().open(encoder=words.encoder).stream("validation")
    for protocol, form in KV().forms(words).items():
        made = form.questions(Trials(words, stream, 256, range(2)), 0.25)
        for i, trial in enumerate(found[f"kv-{protocol}-256-d25"]):
            assert trial["prompt"] == words.encoder.decode(made.tokens[i][1:].tolist())
            assert trial["answer"] == words.encoder.decode(made.answers[i].tolist())
            assert (trial["length"], trial["depth"], trial["seed"]) == (256, 0.25, 0)
            assert (trial["task"], trial["protocol"], trial["trial"]) == ("kv", protocol, i)


def test_who_follows_the_lines_answers_every_question(words):
    """The n-th record of a key, and chains of assignments, by hand."""
    found = exported("nth", "trace", "--lengths", "160")
    for name, trials in found.items():
        for trial in trials:
            *lines, asked = trial["prompt"].split("\n")
            records = [line.split(": ") for line in lines if line.count(": ") == 1]
            records = [(key.split()[-1], value) for key, value in records]
            *nth, key = asked.rstrip(":").split()
            if nth:
                at = ["first", "second", "third", "fourth", "fifth"].index(nth[0])
                answer = [value for known, value in records if known == key][at]
            else:
                steps = int(name.split("-")[2]) + 1
                for _ in range(steps):
                    key = dict(records)[key]
                answer = key
            assert " " + answer == trial["answer"] and trial["tokens"] == trial["length"]


def test_a_run_of_our_own_is_asked_in_its_keys_and_values(elsewhere):
    """The tokenizer of an exported run reads each trial as the ids of the task."""
    vocabulary = Vocabulary(64, 16)
    (elsewhere / "words").mkdir()
    write_tokenizer(vocabulary, 64, elsewhere / "words")
    read = encoder(str(elsewhere / "words"))
    stream = Torch().open().stream("validation")
    found = exported("kv", "--lengths", "64")
    for protocol, form in KV().forms(vocabulary).items():
        made = form.questions(Trials(vocabulary, stream, 64, range(2)), 0.5)
        for i, trial in enumerate(found[f"kv-{protocol}-64-d50"]):
            assert read(trial["prompt"].encode())[0].tolist() == made.tokens[i][1:].tolist()
            assert read(trial["answer"].encode())[0].tolist() == made.answers[i].tolist()


def test_lm_eval_finds_a_task_for_each_cell(words):
    found = exported("kv", "vt", "niah_single_2", "--lengths", "128")
    group = yaml.safe_load(Path("out", "extrap.yaml").read_text())
    listed = []
    for cell, trials in found.items():
        task = yaml.safe_load(Path("out", f"{cell}.yaml").read_text())
        listed.append(task["task"])
        assert (Path("out") / task["dataset_kwargs"]["data_files"][task["test_split"]]).is_file()
        assert task["doc_to_text"] in trials[0] and task["doc_to_target"] in trials[0]
        assert (task["output_type"], task["dataset_path"]) == ("loglikelihood", "json")
        assert task["target_delimiter"] == "" and task["metric_list"][0]["metric"] == "acc"
        assert {task["metadata"][name] for name in ("length", "protocol")} == {
            trials[0]["length"],
            trials[0]["protocol"],
        }
    assert group["group"] == "extrap" and sorted(group["task"]) == sorted(listed)
    assert {cell.split("-")[1] for cell in found if cell.startswith("niah")} == {"padded"}
    assert "not the list of variables" in Path("out", "vt-hops-4-128-d0.yaml").read_text()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["kvs"], "TASK=kvs: no such task; did you mean"),
        (["nll"], "TASK=nll: is not asked in words"),
        (["kv", "--lengths", "long"], "--lengths=long: expected tokens"),
        (["kv", "--lengths", "20"], "20 tokens"),
        (["kv", "--trials", "0"], "--trials=0: expected 1 or more"),
        (["kv", "--tokenizer", "none.json"], "there is no such file"),
        (["kv", "--out", "words"], "FOLDER=words: exists already"),
        (["kvs", "--out", "words"], "FOLDER=words: exists already"),  # before any work
    ],
)
def test_a_mistake_is_one_line(words, more, expected, capsys):
    given = [*WORDS, "--lengths", "128", *more]
    with pytest.raises(SystemExit) as end:
        main(given)
    line = capsys.readouterr().err
    assert end.value.code == 2 and expected in line and line.count("\n") == 1
    assert not Path("trials").exists() and not Path("out").exists()
