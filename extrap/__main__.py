import os
import sys

from extrap.cli.commands import main

if __name__ == "__main__":
    main()
    # Taking the interpreter apart takes over a second of processor time after torch, and all that a
    # job writes is on the disk by now. W&B has something left to do on the way out.
    if "wandb" not in sys.modules:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
