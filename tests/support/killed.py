"""A machine that goes down in the middle of a training."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from extrap.runs.training.callbacks import Curve


class Stop(Exception):
    """What ends the step."""


@contextmanager
def killed(monkeypatch: pytest.MonkeyPatch, step: int) -> Iterator[None]:
    """Training inside dies once this step is done and reported."""
    with monkeypatch.context() as patched:
        tell = Curve.on_train_batch_end

        def die(self, trainer, *args):
            tell(self, trainer, *args)
            if trainer.global_step == step:
                raise Stop

        patched.setattr(Curve, "on_train_batch_end", die)
        with pytest.raises(Stop):
            yield
