"""Direct extrapolation: no change. The baseline of every extension."""

from extrap.extensions.base import Extension, Reader
from extrap.model.gpt import GPT


class Direct(Extension):
    """No change: the extended model is the model."""

    def __call__(self, model: GPT) -> Reader:
        return model
