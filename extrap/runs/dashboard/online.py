"""Whether W&B can be reached now, found out without a question and within a time limit."""

import os
import threading
import urllib.error
import urllib.request

from extrap.runs.dashboard import library
from extrap.runs.dashboard.reason import reason


def obstacle(timeout: float) -> str | None:
    """Why nothing can be sent; None where nothing is known to be in the way. Takes `timeout`
    seconds at most.

    wandb itself asks for a key where there is a terminal, and tries for minutes to reach a server
    that does not answer.
    """
    if (mode := os.environ.get("WANDB_MODE", "online")) != "online":
        return f"WANDB_MODE={mode} in the environment"
    wandb = library.wandb()
    try:
        settings = wandb.setup(settings=wandb.Settings(silent=True)).settings
        if not wandb.login(prompt=False, verify=False):
            return "no W&B key on this machine (`wandb login` stores one)"
    except Exception as error:  # a key that is none
        return reason(error)
    return _unanswered(settings.base_url, timeout)


def _unanswered(url: str, timeout: float) -> str | None:
    found: list[str | None] = []
    late = f"{url} does not answer within {timeout:g} s"

    def ask() -> None:
        try:
            urllib.request.urlopen(url, timeout=timeout).close()
            found.append(None)
        except urllib.error.HTTPError:  # an answer, too
            found.append(None)
        except OSError as error:
            reason = getattr(error, "reason", error)
            found.append(
                late if isinstance(reason, TimeoutError) else f"{url} cannot be reached ({reason})"
            )

    # A thread, because no time limit holds while a name is looked up.
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout)
    return found[0] if found else late
