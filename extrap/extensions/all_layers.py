"""An extension on every layer, local ones too: the control that breaks the rule of layers.py.

Public engines scale the windows of mixed models so by mistake; this shows the cost.
"""

from extrap.extensions.base import SchemeExtension
from extrap.model.scheme import Scheme


class AllLayers(SchemeExtension):
    """An extension applied to every layer, to the local layers of a mixed stack as well.

    Args:
        method: the extension

    On a stack of equal layers it does what the method does.
    """

    layers = "all"

    def __init__(self, method: SchemeExtension):
        self.method = method
        self.factor = method.factor
        self.tuned_at = method.tuned_at

    def effective(self, n: int, length: int) -> float:
        return self.method.effective(n, length)

    def extend(self, scheme: Scheme) -> Scheme:
        return self.method.extend(scheme)
