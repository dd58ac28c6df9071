"""The state of a Python process that a call from a notebook or from another program leaves as it
found it.
"""

import logging
import os
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from hydra._internal.sources_registry import SourcesRegistry
from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.core.singleton import Singleton
from omegaconf.basecontainer import BaseContainer

SHARED: tuple[Any, ...] = (Plugins, SourcesRegistry, ConfigStore)
"""Objects of Hydra that both sides use; of the ConfigStore, extrap gets a copy of its files."""


@contextmanager
def own_hydra() -> Iterator[None]:
    """Inside, Hydra knows no program, job, version or reference of the caller."""
    path = list(sys.path)
    find_plugins()
    shared = {kind: kind.instance() for kind in SHARED}
    before, resolvers = dict(Singleton._instances), dict(BaseContainer._resolvers)
    store = shared[ConfigStore]
    files, store.repo = store.repo, deepcopy(store.repo)
    _become(Singleton._instances, shared)
    try:
        yield
    finally:
        store.repo = files
        _become(BaseContainer._resolvers, resolvers)
        _become(Singleton._instances, before)
        sys.path[:] = path


@contextmanager
def own_settings() -> Iterator[None]:
    """Inside, threads, the environment, loggers, warnings and generators of random numbers may be
    set, and tensors are made as in a new process; at the end all is as before.
    """
    import torch

    known = logging.root.manager.loggerDict.values()
    levels = [(one, one.level) for one in known if isinstance(one, logging.Logger)]
    shown = warnings.formatwarning
    threads, environment = torch.get_num_threads(), dict(os.environ)
    with _own_draws(), _own_numbers(), warnings.catch_warnings():
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            warnings.formatwarning = shown
            for logger, level in levels:
                logger.setLevel(level)
            if os.environ != environment:
                _become(os.environ, environment)


@contextmanager
def _own_draws() -> Iterator[None]:
    import numpy as np
    import torch

    python, arrays, tensors = random.getstate(), np.random.get_state(), torch.get_rng_state()
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else []
    try:
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)
        torch.set_rng_state(tensors)
        if devices:
            torch.cuda.set_rng_state_all(devices)


@contextmanager
def _own_numbers() -> Iterator[None]:
    """Inside, a tensor made without a type and a device is float32 on the CPU, no autocast is on,
    and products are in full precision: the type of a run is an option of the run.
    """
    import torch

    with ExitStack() as stack:
        stack.callback(torch.set_default_dtype, torch.get_default_dtype())
        stack.callback(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        torch.set_default_dtype(torch.float32)
        torch.set_float32_matmul_precision("highest")
        if torch.empty(0).device.type != "cpu":
            stack.enter_context(torch.device("cpu"))
        for device in ("cpu", "cuda"):
            if torch.is_autocast_enabled(device):
                stack.enter_context(torch.autocast(device, enabled=False))
        yield


def find_plugins() -> None:
    """Puts the launchers of extrap where Hydra looks for plug-ins."""
    if (folder := str(Path(__file__).parent / "_plugins")) not in sys.path:
        sys.path.append(folder)


def _become(table: Any, content: Any) -> None:
    table.clear()
    table.update(content)
