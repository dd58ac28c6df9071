"""Libraries that transformers reads a checkpoint with: of quantised folders, and accelerate."""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from extrap.utils.errors import UserError

LIBRARIES = {
    "bitsandbytes": ("bitsandbytes", "accelerate"),
    "gptq": ("optimum", "gptqmodel"),
    "awq": ("gptqmodel", "accelerate"),
    "compressed-tensors": ("compressed_tensors",),
    "fp8": ("accelerate",),
    "hqq": ("hqq", "accelerate"),
    "mxfp4": ("accelerate",),
    "quanto": ("optimum.quanto", "accelerate"),
    "torchao": ("torchao",),
    "bitnet": ("accelerate",),
    "aqlm": ("aqlm", "accelerate"),
    "eetq": ("kernels", "accelerate"),
    "fbgemm_fp8": ("fbgemm_gpu", "accelerate"),
    "spqr": ("spqr_quant", "accelerate"),
    "vptq": ("vptq", "accelerate"),
}
"""By quant_method of config.json: the modules that transformers reads it with."""
PACKAGES = {"optimum.quanto": "optimum-quanto", "compressed_tensors": "compressed-tensors"}
"""By module: the package, if its name is another one."""


def check_library(settings: Mapping[str, Any], place: str) -> str | None:
    """Returns the quant_method of config.json, None for weights in floating point. Raises UserError
    for an unknown one, and for one whose library is not installed.
    """
    own = settings.get("quantization_config")
    if own is None:
        return None
    method = own.get("quant_method") if isinstance(own, Mapping) else None
    if method is None and isinstance(own, Mapping):  # the first folders of bitsandbytes
        method = "bitsandbytes" if own.get("load_in_4bit") or own.get("load_in_8bit") else None
    option = f"quantization_config.quant_method={method!s:.40}"
    if method not in LIBRARIES:
        problem = f"{place}: expected one of {', '.join(sorted(LIBRARIES))}"
        remedy = "give a checkpoint in floating point, or a .gguf file"
        raise UserError(option, problem=problem, remedy=remedy)
    for module in LIBRARIES[method]:
        if not _installed(module):
            package = PACKAGES.get(module, module).replace("_", "-")
            problem = f"{place} needs the package {package}"
            raise UserError(option, problem=problem, remedy=f"pip install {package}")
    return method


def check_accelerate(device_map: str) -> None:
    """Raises UserError if accelerate, which lays out a model, is not installed."""
    if not _installed("accelerate"):
        problem = "needs the package accelerate"
        raise UserError("model.device_map", device_map, problem, "pip install accelerate")


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
