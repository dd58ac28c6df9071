"""Key-value retrieval with keys and values of several tokens, which has to bind tokens together: extrap.data.wide."""

from collections.abc import Sequence

from extrap.data.trials.keyvalue import DEPTHS
from extrap.data.wide import WideForm
from extrap.tasks.scoring.depth_grid import Grid


class KVWide(Grid):
    """Accuracy of whole values by length and depth, protocol records. width: tokens of a key and of a value; pool: key ids that keys
    are made of, both as in training. The other options and the rows: extrap.tasks.scoring.depth_grid.
    """

    name = "kv-wide"

    def __init__(
        self,
        multiples: Sequence[float] = (1, 2, 4),
        depths: Sequence[float] = DEPTHS,
        trials: int = 200,
        batch_tokens: int = 4096,
        width: int = 2,
        pool: int = 16,
    ):
        super().__init__(multiples, depths, trials, batch_tokens)
        self.width, self.pool = width, pool

    def forms(self) -> dict[str, WideForm]:
        return {"records": WideForm(self.width, self.pool)}
