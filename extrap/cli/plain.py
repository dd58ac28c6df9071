"""Values that JSON can hold, and the text of them that commands print with `--json`."""

import json
import math

import numpy as np


def as_json(values: dict) -> str:
    """One object; raises ValueError for nan and infinity, of which `plain` makes others."""
    return json.dumps(values, indent=1, allow_nan=False)


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
