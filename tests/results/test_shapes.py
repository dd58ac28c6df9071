"""findings.yaml and numbers.yaml of any shape: read, or one line that names file and field."""

from pathlib import Path

import pytest

from extrap.results.findings import numbers, statement
from extrap.utils.errors import UserError

ONE = "{id: a, says: A., source: s, rows: {task: kv}, below: 0.5"
FINDINGS = {
    "over: [scheme], statistic: spread": "over: expected text",
    "over: spread, statistic: [spread]": "statistic: expected text",
    "unit: [[seed]]": "unit: expected a list of columns",
    "twin: [a]": "twin: expected text",
    "note: {a: b}": "note: expected text",
    "badly_put: 5": "badly_put: expected text",
    "note: a <!-- /found -->": "note: holds markup of HTML",
    "badly_put: <script>": "badly_put: holds markup of HTML",
    'note: "a\\u0007"': "note: holds unprintable characters",
    "below: .nan": "expected either above or below, with a number",
    "terms: []": "terms: expected a list of selections",
    "terms: [{times: .inf}]": "terms: expected selections",
    "terms: [{5: a, b: c}]": "rows: expected columns and their values",
    "rows: {seed: .nan}": "seed: expected a value or a list of values",
    f"rows: {{seed: {10**30}}}": "seed: expected a value or a list of values",
}
SENTENCE = "found:\n- "
NUMBERS = {
    "[a]": "expected lists of sentences by name",
    "5: []": "expected lists of sentences by name",
    "common: [a]": "common: expected a mapping or null",
    "running: soon": "running: expected true or false",
    "not_measured: 5": "not_measured: expected a list of text",
    "models: [{study: a}]": "models: expected study, layers, scheme of each",
    "models: [{study: a, layers: b, scheme: [c]}]": "layers: expected a whole number",
    "found: a": "found: expected a list of mappings",
    "found: [a]": "found: expected a list of mappings",
    SENTENCE + "{says: a}": "a sentence needs says and each",
    SENTENCE + "{says: 5, each: []}": "says: expected text",
    SENTENCE + "{says: a <script>, each: []}": "says: holds markup of HTML",
    SENTENCE + "{says: <!-- /found -->, each: []}": "says: holds markup of HTML",
    SENTENCE + "{says: a, each: 5}": "each: expected a list of mappings",
    SENTENCE + "{says: '{}', each: [5]}": "each: expected a list of mappings",
    SENTENCE + "{says: '{}', each: [{}], take: [low]}": "take: expected text",
    SENTENCE + "{says: '{}', each: [{study: 5}]}": "study: expected text",
    SENTENCE + "{says: '{}', each: [{finding: []}]}": "finding: expected text",
    SENTENCE + "{says: '{}', each: [{count: nope}]}": "count: expected one of at, axis",
    SENTENCE + "{says: '{}', each: [{count: seed, above: x}]}": "above: expected a number",
}


def refused(said: str, where: Path, call) -> str:
    with pytest.raises(UserError) as found:
        call()
    line = str(found.value)
    assert line.startswith(str(where)) and said in line and len(line.splitlines()) == 1
    return line


@pytest.mark.parametrize("field", FINDINGS)
def test_statements(field, tmp_path):
    path = tmp_path / statement.FILE
    own = field.partition(":")[0]
    known = ONE.replace(", below: 0.5", "") if own == "below" else ONE
    known = known.replace(", rows: {task: kv}", "") if own == "rows" else known
    path.write_text(f"statements:\n- {known}, {field}}}\n")
    line = refused(FINDINGS[field], path, lambda: statement.read(tmp_path))
    assert ": a: " in line and ("holds" in line or ", got " in line), "statement and value"


@pytest.mark.parametrize("text", NUMBERS)
def test_sentences(text, tmp_path):
    path = tmp_path / numbers.FILE
    path.write_text(text)
    refused(NUMBERS[text], path, lambda: numbers.read(path))


def test_a_field_that_common_gives(tmp_path):
    """Fields of `common` reach every sentence: they are checked where they meet."""
    path = tmp_path / numbers.FILE
    path.write_text("common: {take: [low]}\nfound:\n- {says: '{}', each: [{task: kv}]}\n")
    page = "<!-- found -->\n<!-- /found -->"
    refused("take: expected text", path, lambda: numbers.filled(page, tmp_path, None, None))
