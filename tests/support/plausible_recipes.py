"""Plausible rows of runs whose labels name options: recipes, steps of training, windows, tuning,
widths of dependencies.
"""

from tests.support.plausible import L, identity, row, run_rows

SEEDS = (0, 1, 2)


def labelled(scheme: str, label: str, seed: int, **more) -> list[dict]:
    """Returns the rows of a scheme under another label, whose hash the run has in its name."""
    rows = run_rows(scheme, seed, **more)
    return [row | {"scheme": label, "run": f"{label}-cafe0123-s{seed}"} for row in rows]


def dispute_rows() -> list[dict]:
    """Returns two schemes at two numbers of steps, two windows, and a scheme before and after
    tuning at L.
    """
    labels = [(s, f"{s}_steps{n}", "text") for s in ("rope", "alibi") for n in (375, 750)]
    labels += [("kerple-log", f"rnope-swa_share{share}", "mixture") for share in (0.125, 0.5)]
    labels += [("t5", f"t5{how}", "mixture") for how in ("", "-full-direct-x1", "-lora-direct-x1")]
    return [
        row
        for scheme, label, data in labels
        for seed in SEEDS
        for row in labelled(scheme, label, seed, data=data)
    ]


def grid_rows(schemes=("rope", "alibi"), lengths=(64,)) -> list[dict]:
    """Returns schemes under four recipes, which change nothing but the label."""
    return [
        row | {"train_length": length, "length": (row.get("length") or 0) * length // 64 or None}
        for length in lengths
        for scheme in schemes
        for layers in (2, 4)
        for rate in (0.001, 0.003)
        for row in labelled(scheme, f"{scheme}_layers{layers}_heads2_lr{rate}", 0)
    ]


def base_rows() -> list[dict]:
    """Returns runs of RoPE under three bases, whose labels name them."""
    labels = [f"rope_base{base}" for base in (100.0, 1000.0, 10000.0)]
    return [row for label in labels for seed in SEEDS for row in labelled("rope", label, seed)]


def recipe_rows(recipes=range(1, 10), schemes=("rope", "alibi")) -> list[dict]:
    """Returns schemes under numbered recipes, which change nothing but the label."""
    labels = [(scheme, f"{scheme}_recipe{number}") for scheme in schemes for number in recipes]
    return [row for scheme, label in labels for row in labelled(scheme, label, 0)]


def band_rows(slope: float = -1.0, widths=(4, 8, 16)) -> list[dict]:
    """Returns the bands of two heads, an octave apart, whose logarithms follow that of the width;
    each seed has a slope of its own, .1 from that of the next.
    """
    return [
        identity(label := f"rope_width{width}", seed)
        | {"run": f"{label}-cafe0123-s{seed}"}
        | row("rotary", "text", L, "band", (1 + head) * width ** (slope + 0.1 * (seed - 1)),
              layer=0, head=head)
        for width in widths for seed in SEEDS for head in (0, 1)
    ]  # fmt: skip
