"""An extension on every layer, local ones too: the control that breaks the rule of layers.py.

Public engines scale the windows of mixed models so by mistake; this shows the cost.
"""

from extrap.extensions.base import SchemeExtension
from extrap.extensions.pose import PoSE
from extrap.model.scheme import Scheme


class AllLayers(SchemeExtension):
    """An extension applied to every layer, to the local layers of a mixed stack as well.

    Args:
        method: the extension

    On a stack of equal layers it does what the method does. Raises ValueError for PoSE and its
    kind: PoSE(AllLayers(method)) tunes all layers.
    """

    layers = "all"

    def __init__(self, method: SchemeExtension):
        if isinstance(method, PoSE):
            problem = "acts by a method of its own, which keeps to the global layers"
            raise ValueError(f"method={type(method).__name__}: {problem}; put AllLayers inside it")
        self.method = method
        self.factor = method.factor
        self.tuned_at = method.tuned_at

    def effective(self, n: int, length: int) -> float:
        return self.method.effective(n, length)

    def extend(self, scheme: Scheme) -> Scheme:
        return self.method.extend(scheme)
