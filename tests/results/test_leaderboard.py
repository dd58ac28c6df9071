"""The leaderboard: effective length with its interval, accuracy at 4 L, perplexity, sizes."""

import numpy as np

from extrap.results.findings.verdict import table
from extrap.results.leaderboard import HEAD, leaderboard
from extrap.results.rows import frame
from tests.results.test_verdict import row

FOUND = {"rope": (1.0, 0.9, 0.1), "alibi": (1.0, 1.0, 0.95), "learned": (1.0,)}


def loss(scheme: str, seed: int, multiple: float) -> dict:
    return row(
        scheme, seed, multiple, np.log(5.0), task="nll", metric="nll", protocol="sliding",
        depth=None, status="ok",
    )  # fmt: skip


def board(below: tuple = ()) -> list[tuple[str, ...]]:
    rows = [
        row(scheme, seed, multiple, min(1.0, value + 0.001 * seed),
            status="not trained" if (scheme, seed) in below else "ok")
        for scheme, values in FOUND.items()
        for multiple, value in zip((1, 2, 4), values, strict=False)
        for seed in range(3)
    ]  # fmt: skip
    rows += [loss(scheme, seed, m) for scheme in FOUND for seed in range(3) for m in (1, 4)]
    return leaderboard([(table(frame(rows)), 2)])


def test_the_furthest_scheme_comes_first_with_its_numbers():
    head, *lines = board()
    assert head == HEAD and [line[0] for line in lines] == ["alibi", "rope", "learned"]
    alibi = dict(zip(HEAD, lines[0], strict=True))
    assert alibi["effective length, tokens"] == "≥ 256" and alibi["layers"] == "2"
    assert alibi["found at 4 L"].startswith(".95 [.9") and alibi["seeds"] == "3"
    assert alibi["perplexity at L, 4 L"] == "5.0, 5.0" and alibi["parameters"] == "170,000"
    assert lines[1][3].startswith("134 ["), "128 * 2^(.05 / .8)"


def test_a_learned_table_ends_and_a_seed_below_the_gate_is_counted():
    lines = {line[0]: line for line in board((("rope", 1),))[1:]}
    assert lines["learned"][3:5] == ("64, no position past L", "-")
    assert lines["rope"][-1] == "3, 1 below the gate"
