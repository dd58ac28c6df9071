"""Two extensions, one after the other."""

from extrap.extensions.base import Extension, Reader, SchemeExtension
from extrap.model.gpt import GPT


class Chain(Extension):
    """Two extensions, one after the other: NTK with log-n, say.

    Args:
        first: the extension of the scheme that acts first
        then: the extension of the extended model

    Rows record the greater factor.
    """

    def __init__(self, first: SchemeExtension, then: Extension):
        self.first, self.then = first, then

    def __call__(self, model: GPT) -> Reader:
        return self.then(self.first(model))

    def effective(self, n: int, length: int) -> float:
        return max(extension.effective(n, length) for extension in (self.first, self.then))
