"""Jobs on the devices of a pretended machine: a fake `nvidia-smi` lists them, jobs write down which
of them they see.
"""

import os
from collections import Counter
from dataclasses import replace
from importlib import import_module
from itertools import accumulate, count
from pathlib import Path

import pytest

from extrap.cli.sweep import machine, pool
from extrap.cli.sweep.display import Status, line
from extrap.cli.sweep.machine import Device
from extrap.cli.sweep.process import Process, State
from extrap.cli.sweep.slots import OPTION, Slots
from extrap.runs.cost import PER_DEVICE
from extrap.runs.study import Entry
from extrap.utils.cores import SHARE
from extrap.utils.errors import UserError

PARTS = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-a)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-b)
  MIG 1g.5gb      Device  0: (UUID: MIG-c)
  MIG 3g.20gb     Device  1: (UUID: MIG-GPU-b/7/0)
"""


ROCM = """\

============================ ROCm System Management Interface ============================
=========================================== ID ===========================================
GPU[0]\t\t: Device Name: \t\tAMD Instinct MI210
GPU[0]\t\t: Device ID: \t\t0x740f
GPU[1]\t\t: Device Name: \t\tAMD Instinct MI210
GPU[1]\t\t: Device ID: \t\t0x740f
==========================================================================================
================================== End of ROCm SMI Log ===================================
"""
"""In the form of ROCm 6: several lines for each device."""


def listed(number: int) -> str:
    return "".join(f"GPU {n}: NVIDIA H100 (UUID: GPU-{n}{n}{n})\n" for n in range(number))


@pytest.fixture
def driver(elsewhere, monkeypatch) -> Path:
    """The list of eight devices that the pretended driver prints."""
    file, command = elsewhere / "devices.txt", elsewhere / "bin" / "nvidia-smi"
    file.write_text(listed(8))
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\n[ "$1" = -L ] && cat {file}\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
    for variable in machine.ASK:
        monkeypatch.delenv(variable, raising=False)
    return file


class Once(Entry):
    """A job with work left until it has written its file."""

    def missing(self) -> list[str]:
        return [] if Path(f"{self.run}.done").exists() else ["work"]


def jobs(number: int, script: str, gpus: int = 1) -> list[Process]:
    """Jobs 0, 1, ..., whose script ends by itself; each says where it starts and that it ends."""
    whole = (
        'echo "start $N $CUDA_VISIBLE_DEVICES" >> events; {}; '
        'echo "end $N $CUDA_VISIBLE_DEVICES" >> events; touch $N.done'
    )
    return [
        Process(
            f"job={n}", ["sh", "-c", f"N={n}; {whole.format(script)}"],
            Once("s", str(n), "direct", {}), gpus=gpus,
        )
        for n in range(number)
    ]  # fmt: skip


def run(started: list[Process], per_device: int = 1) -> list[list[str]]:
    """Runs jobs on the devices of this machine, and returns what they wrote."""
    known = machine.devices()
    with Slots(known, per_device) as slots:
        pool.run(started, len(known) * per_device, Status(started), slots)
    return [event.split() for event in Path("events").read_text().splitlines()]


def most_at_once(events: list[list[str]]) -> Counter[str]:
    """Returns how many jobs had a device at once, at most."""
    now, most = Counter[str](), Counter[str]()
    for what, _, devices in events:
        for device in devices.split(","):
            now[device] += 1 if what == "start" else -1
            most[device] = max(most[device], now[device])
    return most


def test_24_jobs_on_8_devices_never_share_one_and_a_killed_job_gives_its_own_back(driver, capfd):
    dies = 'echo "end $N $CUDA_VISIBLE_DEVICES" >> events; kill -9 $$'
    script = f"if [ $N = 5 ] && [ ! -e once ]; then touch once; {dies}; fi; sleep 0.3"
    started = jobs(24, script)
    events = run(started)
    assert Counter(job.state for job in started) == {State.DONE: 23, State.FAILED: 1}
    assert most_at_once(events) == {f"GPU-{n}{n}{n}": 1 for n in range(8)}
    [lost] = {device for _, n, device in events if n == "5"}
    after = events[events.index(["end", "5", lost]) + 1 :]
    assert lost in [device for _, _, device in after], "nobody got its device"
    assert "[1/24] start job=0  (on GPU 0, log: runs/0/log.txt)" in capfd.readouterr().err
    started = jobs(24, script)
    assert run(started)[len(events) :] == [["start", "5", "GPU-000"], ["end", "5", "GPU-000"]]
    assert Counter(job.state for job in started) == {State.DONE: 1, State.SKIPPED: 23}


@pytest.mark.parametrize("per_device, gpus, most", [(3, 1, 3), (1, 2, 1)])
def test_devices_are_packed_and_taken_together(driver, per_device, gpus, most):
    driver.write_text(listed(2))
    events = run(jobs(8, "sleep 0.3", gpus), per_device)
    assert most_at_once(events) == {"GPU-000": most, "GPU-111": most}
    assert {len(devices.split(",")) for _, _, devices in events} == {gpus}


def test_two_sweeps_share_the_devices_and_pack_them_alike(driver, monkeypatch):
    driver.write_text(listed(2))
    known = machine.devices()
    processes = count(1)
    monkeypatch.setattr(os, "getpid", lambda: next(processes))  # of another sweep each time
    with Slots(known) as one, Slots(known) as other:
        assert [one.take(1), other.take(2)] == [known[:1], None]
        assert other.take(1) == known[1:] and one.take(1) is None
        with pytest.raises(UserError, match="has a sweep here with 1 jobs on a device") as found:
            Slots(known, 4).__enter__()
        assert found.value.option == OPTION
        one.give(known[:1])
        assert other.take(1) == known[:1]
    with Slots(known, 4) as later:
        assert later.take(2) == known


def test_a_job_whose_device_vanishes_goes_to_another(driver, capfd):
    driver.write_text(listed(2))
    last = driver.with_name("last.txt")
    last.write_text(listed(2).splitlines()[1])
    started = jobs(3, f"[ $CUDA_VISIBLE_DEVICES = GPU-111 ] || {{ mv {last} {driver}; exit 3; }}")
    assert [device for what, _, device in run(started) if what == "end"] == ["GPU-111"] * 3
    assert [job.state for job in started] == [State.DONE] * 3
    assert "GPU 0 has vanished from the list of its driver" in capfd.readouterr().err


def test_jobs_fail_once_too_few_devices_are_left(driver):
    driver.write_text(listed(1))
    started = jobs(2, f"echo 'GPU 7: NVIDIA H100 (UUID: GPU-7)' > {driver}; exit 3")
    run(started)
    assert [job.reason for job in started] == [
        "GPU 0 has vanished from the list of its driver",
        "needs 1 of the 0 devices that are left",
    ]


@pytest.mark.parametrize(
    "variable, words, seen",
    [
        (None, "", ["GPU-a", "MIG-c", "MIG-GPU-b/7/0"]),
        ("CUDA_VISIBLE_DEVICES", "0", ["0"]),
        ("CUDA_VISIBLE_DEVICES", "MIG-c, GPU-a", ["MIG-c", "GPU-a"]),
        ("CUDA_VISIBLE_DEVICES", "0,-1,1", ["0"]),
        ("CUDA_VISIBLE_DEVICES", "", []),
        ("HIP_VISIBLE_DEVICES", "2,3", ["2", "3"]),
        ("ROCR_VISIBLE_DEVICES", "2,GPU-4b2c", ["2", "GPU-4b2c"]),
    ],
)
def test_the_devices_of_a_process_are_those_that_it_was_given(
    driver, monkeypatch, variable, words, seen
):
    driver.write_text(PARTS)
    if variable:
        monkeypatch.setenv(variable, words)
    found = machine.devices()
    assert [device.word for device in found] == seen
    if found:
        expected = {variable or "CUDA_VISIBLE_DEVICES": ",".join(seen)}
        assert machine.environment(found) == expected


def test_the_devices_of_rocm_are_listed_once_each(driver, monkeypatch):
    driver.write_text("")
    file, command = driver.with_name("rocm.txt"), driver.with_name("bin") / "rocm-smi"
    file.write_text(ROCM)
    command.write_text(f'#!/bin/sh\n[ "$1" = --showid ] && cat {file}\n')
    command.chmod(0o755)
    found = machine.devices()
    assert [device.name for device in found] == ["GPU 0", "GPU 1"]
    assert machine.environment(found) == {"HIP_VISIBLE_DEVICES": "0,1"}
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "1")
    assert machine.devices() == [Device("ROCR_VISIBLE_DEVICES", "1", "GPU 1", "1")]
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "0")  # counts among those of ROCr
    assert machine.devices() == [Device("HIP_VISIBLE_DEVICES", "0", "GPU 1", "1")]
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "1")
    with pytest.raises(UserError, match="1 is none of the 1 devices of this machine"):
        machine.devices()
    monkeypatch.delenv("HIP_VISIBLE_DEVICES")
    monkeypatch.setenv("ROCR_VISIBLE_DEVICES", "GPU-4b2c")  # rocm-smi lists no such names
    assert [machine.there(device) for device in machine.devices()] == [True]


def test_the_same_device_under_two_names_is_one(driver, monkeypatch):
    driver.write_text(PARTS)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    [device] = machine.devices()
    assert (device.name, device.key) == ("GPU 0", "GPU-a")
    assert line(
        [Process("a", [], Once("s", "a", "direct", {}), State.RUNNING, devices=[device])], 1
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-x")
    with pytest.raises(UserError, match="GPU-x is none of the 3 devices of this machine"):
        machine.devices()


@pytest.mark.parametrize(
    "here, job, given, option, said",
    [
        (0, {"gpus": 1}, {}, "trainer.accelerator", "set CUDA_VISIBLE_DEVICES where no"),
        (2, {"gpus": 4}, {}, "trainer.devices", "this machine shows 2; give 2 or fewer"),
        (8, {"gpus": 1}, {"n_jobs": 9}, "hydra.launcher.n_jobs", "8 devices hold 8 jobs of 1 each"),
        (8, {"nodes": 2}, {}, "trainer.num_nodes", "this sweep has one machine"),
    ],
)
def test_jobs_that_this_machine_cannot_hold(driver, here, job, given, option, said):
    driver.write_text(listed(here))
    launcher = import_module("hydra_plugins.extrap_local.launcher").LocalLauncher
    made = launcher(**({"n_jobs": None, "per_device": 1} | given))
    with pytest.raises(UserError, match=said) as found:
        made.check([Process("a", [], Once("s", "a", "direct", {}), **job)])
    assert found.value.option == option


@pytest.mark.parametrize(
    "gpus, per_device, most, told",
    [(3, 1, 2, "trainer.devices=3: 3 devices a job leave 2 of 8 idle"), (4, 2, 4, "")],
)
def test_the_launcher_gives_each_job_its_devices(driver, capfd, gpus, per_device, most, told):
    """Each says what it was told of them: its log names the devices that it sees."""
    script = 'echo "on $EXTRAP_DEVICE, $EXTRAP_PER_DEVICE on each"; sleep 0.5'
    started = [replace(one, processes=gpus) for one in jobs(8, script, gpus)]
    launcher = import_module("hydra_plugins.extrap_local.launcher").LocalLauncher
    made = launcher(n_jobs=None, per_device=per_device)
    made.jobs_of_file = None
    made.check(started)
    made.run(started)
    assert {job.state for job in started} == {State.DONE}
    assert capfd.readouterr().err.startswith(f"extrap: {told}" if told else "[1/8] start")
    events = [event.split() for event in Path("events").read_text().splitlines()]
    assert {*most_at_once(events).values()} == {per_device}
    running = accumulate(1 if what == "start" else -1 for what, _, _ in events)
    assert max(running) == most
    for _, n, devices in events:
        names = ", ".join(f"GPU {device[-1]}" for device in devices.split(","))
        log = Path("runs", n, "log.txt").read_text()
        assert f"\non {names}, {per_device} on each\n" in log
    assert not {PER_DEVICE, SHARE} & {*os.environ}


@pytest.mark.parametrize("gpus, per_device, places", [(1, 1, 8), (4, 1, 2), (4, 3, 6)])
def test_a_sweep_foretells_as_many_jobs_side_by_side_as_run(driver, gpus, per_device, places):
    driver.write_text(listed(8))
    launcher = import_module("hydra_plugins.extrap_local.launcher").LocalLauncher
    made = launcher(n_jobs=None, per_device=per_device)
    several = [Process("a", [], Once("s", "a", "direct", {}), gpus=gpus, processes=gpus)] * 16
    made.check(several)
    assert made._places(several) == places
