"""Published records: what is read, and what a prompt looks like. Bad files are cases of
tests/faults/cases_files.py.
"""

import gzip
import json
import re

import pytest

from extrap.data.trials.json_prompt import INSTRUCTION, Example, generate, read

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
    assert one == Example((("k1", "v1"), ("k3", r"v\"3")), "k2", "v2"), "as JSON writes them"
    assert two.key == "k1" and two.values == ["v1", "v2", r"v\"3"]


@pytest.mark.parametrize("query", ["last", "both", "first"])
def test_a_prompt_is_the_layout_with_the_record_at_its_index(query):
    example = Example((("k1", "v1"), ("k3", r"v\"3")), "k2", "v2")
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
