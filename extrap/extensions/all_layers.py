"""An extension on every layer, local ones too: the rule of layers.py, broken on purpose.

Public engines scale the windows of mixed models so by mistake; this is the control that shows what
it costs.
"""

from extrap.extensions.base import SchemeExtension
from extrap.model.scheme import Scheme


class AllLayers(SchemeExtension):
    """method: what acts on every layer. On stacks whose layers are all alike it is the method."""

    layers = "all"

    def __init__(self, method: SchemeExtension):
        self.method, self.factor, self.tuned_at = method, method.factor, method.tuned_at

    def effective(self, n: int, length: int) -> float:
        return self.method.effective(n, length)

    def extend(self, scheme: Scheme) -> Scheme:
        return self.method.extend(scheme)
