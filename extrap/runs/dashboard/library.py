"""The library wandb, with its settings from code, the user's environment and the user's home. It
runs no git, which would read the working folder, and reports errors to its makers online alone.

wandb also reads `./wandb/settings`, a file of the working folder that may come from a stranger: it
chooses the server, makes requests during an offline run (`x_stats_open_metrics_endpoints`) and puts
files elsewhere (`x_sync_dir_suffix`). Read here: wandb 0.31, `Settings.read_system_settings`.
"""

import os
import re
from pathlib import Path
from typing import Any

from extrap.utils.errors import first_line


def wandb(online: bool = False) -> Any:
    """Returns the library, which from then on takes no settings from the working folder and runs no
    git there. online: False keeps it from sending reports to its makers, as it would offline, too.
    """
    os.environ["WANDB_DISABLE_GIT"] = "true"  # settings of a run come too late: setup runs git
    if not online:
        os.environ["WANDB_ERROR_REPORTING"] = "false"
    import wandb
    from wandb.sdk.lib.settings_file import SettingsFiles
    from wandb.sdk.wandb_settings import Settings

    def read_system_settings(self: Any) -> Any:
        home = self.settings_system and Path(self.settings_system)
        return SettingsFiles(global_settings=home, local_settings=Path(os.devnull))

    if not hasattr(Settings, "read_system_settings"):
        raise RuntimeError(
            f"wandb {wandb.__version__} reads ./wandb/settings in a way that extrap does not know; "
            "install a version below 1"
        )
    Settings.read_system_settings = read_system_settings
    return wandb


def check_folder(folder: Path) -> None:
    """Raises ValueError for a folder whose name is not UTF-8: wandb would print a traceback a line
    of its log.
    """
    try:
        str(folder).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{folder}: wandb needs a folder with a name in UTF-8") from None


def name_in_sweep(run_id: str, project: str, by_agent: bool) -> None:
    """Names the page of a run of W&B's own sweeps, the same for each evaluation: in a sweep,
    wandb.init itself takes no names. The agent, through the environment, names the project, and
    the page if by_agent is True.
    """
    agent = os.environ.get("WANDB_RUN_ID") if by_agent else None
    project = os.environ.get("WANDB_PROJECT") or project
    library = wandb()
    library.setup(settings=library.Settings(run_id=agent or run_id, project=project))


def log_in() -> None:
    """Finds the user's key. wandb itself would ask for one on a terminal. Raises ConnectionError
    without a key and under WANDB_MODE.
    """
    if (mode := os.environ.get("WANDB_MODE", "online")) != "online":
        raise ConnectionError(f"WANDB_MODE={mode} in the environment")
    library = wandb(online=True)
    library.setup(settings=library.Settings(silent=True))
    if not library.login(prompt=False, verify=False):
        raise ConnectionError("no W&B key on this machine (`wandb login` stores one)")


def reason(error: BaseException) -> str:
    """Returns the first line of a library's error; of an invalid form, field and problem."""
    lines = [line.strip() for line in str(error).splitlines()]
    if len(lines) > 2 and re.match(r"\d+ validation errors? for ", lines[0]):
        return f"{lines[1]}: {lines[2].partition(' [type=')[0]}"
    return first_line(error)
