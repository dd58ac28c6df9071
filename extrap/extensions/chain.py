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
        self.first = first
        self.then = then
        self.tuned_at = then.tuned_at if first.tuned_at is None else first.tuned_at

    def __call__(self, model: GPT) -> Reader:
        extended = self.first(model)
        return self.then(extended)

    def effective(self, n: int, length: int) -> float:
        of_first = self.first.effective(n, length)
        of_then = self.then.effective(n, length)
        return max(of_first, of_then)
