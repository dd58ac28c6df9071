"""The study of recipes: which options each numbered recipe has (conf/experiment/recipe)."""

from typing import NamedTuple


class Recipe(NamedTuple):
    """The options of a recipe.

    Args:
        weight_decay: train.weight_decay
        dropout: where a tenth is dropped: nowhere, at the outputs or at the inputs of projections
        optimizer: train.optimizer
        rate: train.lr, the peak rate
    """

    weight_decay: float
    dropout: str
    optimizer: str
    rate: float


RECIPES = {
    1: Recipe(0.1, "none", "adamw", 0.003),
    2: Recipe(0.1, "outputs", "adamw", 0.0015),
    3: Recipe(0.1, "inputs", "muon", 0.006),
    4: Recipe(0.0, "none", "muon", 0.0015),
    5: Recipe(0.0, "outputs", "adamw", 0.006),
    6: Recipe(0.0, "inputs", "adamw", 0.003),
    7: Recipe(0.3, "none", "adamw", 0.006),
    8: Recipe(0.3, "outputs", "muon", 0.003),
    9: Recipe(0.3, "inputs", "adamw", 0.0015),
}
OWN = 1
"""The bench's own recipe."""
