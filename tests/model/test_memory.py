"""Peak memory of a process that reads 16 times the training length, for every scheme; its slope is
in tests/contracts/test_schemes.py.
"""

import subprocess
import sys
from pathlib import Path

import pytest

READ = r"""
import re, resource, sys, warnings, torch
warnings.simplefilter("ignore")
torch.set_num_threads(1)
from tests.support.discover import gpt, names
for name in names("scheme"):
    model = gpt(name, dtype=torch.float32, dim=64, vocab=577)
    length = int(min(16 * 64, model.scheme.limit))
    with torch.inference_mode():
        model(torch.zeros(4, length, dtype=torch.long), last=64)
# ru_maxrss counts what the process that started this one held at that moment.
if sys.platform == "linux":
    print(re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())[1])
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.turns
def test_sixteen_times_the_training_length_stays_under_two_gigabytes():
    """Batches as the tasks form them: 4096 tokens at a time."""
    here = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=here, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 2 * 2**30
