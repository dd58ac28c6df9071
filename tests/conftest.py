"""What all tests share: one thread, and the components discovered from the configuration folder."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("WANDB_MODE", "offline")

import torch

torch.set_num_threads(1)
