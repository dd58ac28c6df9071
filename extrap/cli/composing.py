"""The configuration of one job, composed inside a Python process: `extrap WORDS` without a command
line. Whatever Hydra holds there of another program stays as it was.
"""

from argparse import Namespace
from collections.abc import Sequence

from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from extrap.cli import app, config_guard, schema
from extrap.cli.composed import Composed
from extrap.cli.hydra_errors import explain
from extrap.cli.sweep.grid import selected
from extrap.cli.words import readable
from extrap.utils.errors import UserError
from extrap.utils.paths import conf_dir


def composed(words: Sequence[str]) -> Composed:
    """Returns what `extrap WORDS` composes. Raises UserError for words that make a sweep, and as
    the command line does.
    """
    schema.register()
    app.find_plugins()
    words, hydra = readable(list(words)), GlobalHydra.instance().hydra
    before, GlobalHydra.instance().hydra = HydraConfig.instance().cfg, None
    try:
        cfg = _one_job(words)
        HydraConfig.instance().set_config(cfg)
        return app.whole(cfg, conf_dir())
    finally:
        HydraConfig.instance().cfg = before
        GlobalHydra.instance().hydra = hydra


def _one_job(words: list[str]) -> DictConfig:
    given = Namespace(overrides=words, config_path=None, config_name=None, config_dir=None)
    given.hydra_help = False
    try:
        cfg = config_guard.checked(conf_dir(), given)
        swept = [
            one.input_line
            for one in OverridesParser.create().parse_overrides(words)
            if one.is_sweep_override()
        ]
    except UserError:
        raise
    except Exception as error:
        if (line := explain(error, words, conf_dir())) is None:
            raise
        raise UserError(line) from None
    assert cfg is not None  # as where the command line only prints
    if selected(cfg, "grid"):
        swept.append("sweep.grid")
    if swept:
        raise UserError(f"{swept[0]}: makes a sweep of several jobs; give one value")
    return cfg
