"""Draws stay: rows of committed studies are about the sequences that were drawn for them."""

import pytest

from tests.support.draws import CASES, drawn


@pytest.mark.parametrize("case", CASES, ids=[case["of"] for case in CASES])
def test_draws_stay(case):
    assert drawn(case) == case["drawn"]
