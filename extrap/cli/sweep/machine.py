"""The GPUs of this machine, as the command of their driver lists them: this process opens none."""

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from extrap.utils.errors import UserError

SECONDS = 60.0
"""Seconds that a driver has to answer."""

NVIDIA, AMD, BELOW = "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"
"""Variables that choose devices. Of those of AMD HIP's counts among the devices that ROCr's leaves
(https://rocm.docs.amd.com/en/latest/conceptual/gpu-isolation.html).
"""
ROCM = ("rocm-smi", "--showid")
ASK = {NVIDIA: ("nvidia-smi", "-L"), AMD: ROCM, BELOW: ROCM}
"""The command that lists the devices, by the variable that chooses among them."""

OF_ROCM = re.compile(r"^(?:GPU\[|card)(\d+)()")
LISTED = {
    NVIDIA: re.compile(r"^(?:GPU|\s+MIG).*?(\d+): .*\(UUID: ((?:GPU|MIG)-[\w/-]+)\)"),
    AMD: OF_ROCM,
    BELOW: OF_ROCM,
}
"""A line of the list: the index of a device, and its UUID."""


@dataclass(frozen=True)
class Device:
    """A GPU, or a part of one (MIG).

    Args:
        variable: the variable that gives devices to a process
        word: names this device there
        name: for people
        key: the same whichever word names the device
    """

    variable: str
    word: str
    name: str
    key: str


def devices() -> list[Device]:
    """Returns the devices that this process may use: those of CUDA_VISIBLE_DEVICES,
    HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES if one is set, else all. Raises UserError for a
    device that is not there.
    """
    for variable in ASK:
        if (words := os.environ.get(variable)) is not None:
            return _chosen(variable, words)
    return next(filter(None, map(_listed, ASK)), [])


def environment(taken: Sequence[Device]) -> dict[str, str]:
    """Returns the variable through which a process sees these devices alone."""
    return {taken[0].variable: ",".join(device.word for device in taken)} if taken else {}


def there(device: Device) -> bool:
    """True if the driver still lists a device, and if no driver lists devices by such names."""
    known = [one.key for one in _listed(device.variable)]
    alike = any(key.isdecimal() == device.key.isdecimal() for key in known)
    return not alike or device.key in known


def _listed(variable: str) -> list[Device]:
    """Returns all devices of a driver, [] without the driver. MIG parts replace their GPU."""
    try:
        answer = subprocess.run(
            ASK[variable],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return []
    found: dict[str, Device] = {}
    whole = of = ""
    for line in answer.splitlines():
        if (match := LISTED[variable].match(line)) is None:
            continue
        index, uuid = match.groups()
        if uuid.startswith("MIG"):
            found.pop(whole, None)
            name = f"{of} part {index}"
        else:
            whole, of = uuid or index, f"GPU {index}"
            name = of
        word = uuid or index
        found[word] = Device(variable, word, name, word)
    return list(found.values())


def _chosen(variable: str, words: str) -> list[Device]:
    """Returns the devices that a variable names. A negative number ends its list."""
    known, found = _listed(variable), []
    if variable == AMD and (below := os.environ.get(BELOW)) is not None:
        known = _chosen(BELOW, below)
    for word in dict.fromkeys(filter(None, words.replace(" ", "").split(","))):
        if word.startswith("-"):
            break
        whole = [device for device in known if not device.key.startswith("MIG")]
        if word.isdecimal():
            same = whole[int(word) : int(word) + 1]
            absent = len(whole) == len(known) > 0 and not same
        else:
            same = [device for device in known if device.key.startswith(word)]
            absent = any(not device.key.isdecimal() for device in known) and not same
        if absent:
            problem = f"{word} is none of the {len(known)} devices of this machine"
            raise UserError(variable, words, problem, "name devices that are there, or unset it")
        name = same[0].name if same else f"GPU {word[:12]}"
        found.append(Device(variable, word, name, same[0].key if same else word))
    return found
