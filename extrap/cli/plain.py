"""Values that JSON can hold, and the exit codes of the commands that print them."""

import math

import numpy as np

EXITS = (
    "Exit codes: 0 done; 2 a mistake, told in lines on stderr; 141 the reader of a pipe stopped."
)


def plain(value):
    """A number, text, mapping or named tuple as JSON has it: null for nan, "inf" for infinity."""
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else f"{value:g}"
    return value
