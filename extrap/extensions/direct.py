"""Direct extrapolation: change nothing. The baseline of every extension."""

from extrap.extension import Extension, Reader
from extrap.gpt import GPT


class Direct(Extension):
    def __call__(self, model: GPT) -> Reader:
        return model
