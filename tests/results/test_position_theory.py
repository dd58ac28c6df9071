"""Theory of influence over positions: against matrix powers, its limit, rows of known curves."""

import numpy as np
import pandas as pd
import pytest

from extrap.studies.reference.position_theory import (
    agreement,
    by_record,
    density,
    influence,
    predicted,
)


@pytest.mark.parametrize("layers", [1, 2, 4, 8])
@pytest.mark.parametrize("a", [0.5, 0.2, 1.0])
def test_influence_is_the_last_row_of_a_matrix_power(layers, a):
    n = 30
    M = np.array([[1 / (i + 1) if j <= i else 0 for j in range(n)] for i in range(n)])
    N = (1 - a) * np.eye(n) + a * M
    power = np.eye(n)
    for _ in range(layers):
        power = power @ N
    found = influence(n, layers, a)
    np.testing.assert_allclose(found, power[-1], atol=1e-14)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_the_density_is_its_limit(layers):
    n, x = 200_000, np.array([0.02, 0.2, 0.5, 0.9])
    found = n * influence(n, layers, 0.5)[(x * n).astype(int)]
    np.testing.assert_allclose(found, density(x, layers, 0.5), rtol=1e-3)


@pytest.mark.parametrize("a", [0.02, 0.3, 0.9])
def test_the_weight_of_attention_is_read_off_the_last_position(a):
    at = [0, 5, 11, 29]
    curve = pd.Series(influence(30, 3, a)[at], index=[float(t) for t in at])
    np.testing.assert_allclose(predicted(curve, 30, 3), curve, rtol=1e-9)
    curve.iloc[:3] = 1.0  # what the others are plays no part
    np.testing.assert_allclose(predicted(curve, 30, 3)[0], influence(30, 3, a)[0], rtol=1e-9)


def drawn(curve, layers, scheme="nope", run="nope-a-s0", length=40):
    return [
        {"task": "diagnostics", "metric": "influence", "protocol": f"untrained_{layers}_layers",
         "length": length, "train_length": 40, "scheme": scheme, "extension": "direct",
         "data": "mixture", "run": run, "seed": int(run[-1]), "at": float(at), "value": value}
        for at, value in curve
    ]  # fmt: skip


def test_agreement_is_a_rank_correlation_by_layers_and_the_mean_over_seeds():
    at = [0, 3, 10, 20, 30, 39]  # of a record each
    theory = influence(40, 4, 0.3)[at]
    rows = drawn(zip(at, theory, strict=True), 4)
    wrong = theory[[4, 3, 2, 1, 0, 5]]  # rises before its last position: 1 - 6 * 40 / (6 * 35)
    rows += drawn(zip(at, wrong, strict=True), 4, run="nope-a-s1")
    rows += drawn(zip(at, influence(40, 2, 0.3)[at], strict=True), 2)
    rows += drawn(zip(at, -theory, strict=True), 2, length=80)  # not the training length
    rows += [rows[0] | {"protocol": "trained_records", "value": 9.0}]
    table = agreement(pd.DataFrame(rows))
    found = table.loc["nope", "direct"].to_dict()
    assert found == {2: pytest.approx(1), 4: pytest.approx((1 - 1 / 7) / 2)}


def test_agreement_of_another_model_has_a_line_of_its_own():
    at = [0, 3, 10, 20, 30, 39]
    theory = influence(40, 4, 0.3)[at]
    rows = drawn(zip(at, theory, strict=True), 4)
    wrong = theory[[4, 3, 2, 1, 0, 5]]
    rows += drawn(zip(at, wrong, strict=True), 4, run="nope-b-s0")
    found = agreement(pd.DataFrame(rows))[4].xs("direct", level="extension").to_dict()
    assert found == {"nope [a]": pytest.approx(1), "nope [b]": pytest.approx(-1 / 7)}


def test_a_record_is_the_mean_of_its_key_and_its_value():
    curve = pd.Series([9.0, 1, 2, 5, 7], index=[0.0, 1, 2, 4, 9])
    assert by_record(curve, 10).to_dict() == {0: 9, 1.5: 1.5, 4: 5, 9: 7}
