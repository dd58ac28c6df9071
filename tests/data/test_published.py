"""Published records: what is read, what a prompt looks like, and that a bad file is one line."""

import gzip
import json
import re

import pytest

from extrap.data.trials.json_prompt import INSTRUCTION, Example, generate, read
from extrap.utils.errors import UserError

RECORDS = [["k1", "v1"], ["k2", "v2"], ["k3", 'v"3']]


def line(**changes):
    made = {"ordered_kv_records": RECORDS, "key": "k2", "value": "v2"} | changes
    return json.dumps({k: v for k, v in made.items() if v is not ...})


def write(tmp_path, text, packed=False):
    path = tmp_path / ("records.jsonl.gz" if packed else "records.jsonl")
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return str(path)


@pytest.mark.parametrize("packed", [False, True])
def test_examples_are_read_in_order_and_no_more_than_asked_for(tmp_path, packed):
    path = write(tmp_path, f"{line()}\n\n{line(key='k1', value='v1')}\nnot read", packed)
    one, two = read("task.x.path", path, 2)
    assert one == Example((("k1", "v1"), ("k3", 'v"3')), "k2", "v2")
    assert two.key == "k1" and two.values == ["v1", "v2", 'v"3']


@pytest.mark.parametrize("query", ["last", "both", "first"])
def test_a_prompt_is_the_layout_with_the_record_at_its_index(query):
    example = Example((("k1", "v1"), ("k3", 'v"3')), "k2", "v2")
    for index in range(3):
        records = [["k1", "v1"], ["k3", 'v"3']]
        records.insert(index, ["k2", "v2"])
        text, at = example.prompt(index, query)
        front, data, back = re.fullmatch(
            r"(.*\n\n)JSON data:\n(\{.*\})\n\n(.*)", text, re.DOTALL
        ).groups()
        assert list(json.loads(data).items()) == [tuple(r) for r in records]
        assert data.count(",\n ") == 2
        assert front == f"{INSTRUCTION}\n\n" + 'Key: "k2"\n\n' * (query != "last")
        assert back == 'Key: "k2"\n' * (query != "first") + "Corresponding value:"
        assert text[at:].startswith('"k2": "v2"')


def test_the_first_records_are_the_question_and_the_first_distractors():
    example = generate(9, 36, 0, 3)
    for records in (1, 4, 9):
        fewer = example.first(records)
        assert (fewer.key, fewer.value) == (example.key, example.value)
        assert fewer.distractors == example.distractors[: records - 1]


BAD = [
    *("", "\n \n", f"{line()}\n{{", b"\xff\xfe", "[" * 100_000, "[1]"),
    *(line(key=...), line(value=...), line(key="k9"), line(key=["k2"]), line(value="v3")),
    *(
        line(ordered_kv_records=records)
        for records in (
            *(..., [], {"k2": "v2"}, [["k2"]], [["k2", 2]], [["k2", ""]], [["k2", "\ud800"]]),
            [*RECORDS, ["k1", "v9"]],
        )
    ),
    f"{line()}\n{line(ordered_kv_records=RECORDS[:2])}",
    gzip.compress(line().encode() * 50, mtime=0)[:-20],
    b"\x1f\x8bnothing",
]


def refused(path):
    with pytest.raises(UserError) as error:
        read("task.x.path", path, 10)
    assert error.value.option == "task.x.path" and "\n" not in str(error.value)


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_a_bad_file_is_one_line(tmp_path, text):
    refused(write(tmp_path, text))


@pytest.mark.parametrize("name", ["missing.jsonl", "", "nul\0"])
def test_a_file_that_is_not_there_is_one_line(tmp_path, name):
    refused(f"{tmp_path}/{name}")
