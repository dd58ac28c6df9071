"""A real SLURM of one or more nodes on the loopback: munge, a controller and the daemons of nodes,
each with its files in a folder of its own, without cgroups and without accounting.
"""

import ctypes
import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from extrap.cli.sweep.process import PR_SET_PDEATHSIG
from tests.support.program import until

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "scancel")
PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
CORES = 4  # that the node says it has

CONFIGURATION = """\
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmctldPort={controller}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
ReturnToService=0
KillWait=1
GresTypes=gpu
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""
NODE = (
    "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cores} "
    "Gres=gpu:1 State=UNKNOWN\n"
)


def missing() -> str:
    """The programs that this machine lacks; empty where it has all."""
    return " and ".join(name for name in PROGRAMS if shutil.which(name, path=PLACES) is None)


def _ports(count: int) -> list[int]:
    with ExitStack() as open_:
        taken = [open_.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


@dataclass(frozen=True)
class Cluster:
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What has to stand in the environment of a program that asks this cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": PLACES}

    def __call__(self, *command: str) -> str:
        """Returns what a command of SLURM prints."""
        environment = os.environ | self.environment
        asked = {"capture_output": True, "text": True, "timeout": 60}
        return subprocess.run(command, env=environment, check=True, **asked).stdout

    def jobs(self) -> dict[str, str]:
        """Returns the states of the jobs that have not ended, by number."""
        lines = self("squeue", "--array", "--noheader", "--format=%i %T").splitlines()
        return dict(line.split() for line in lines)

    def down(self) -> None:
        """Takes the node down, and returns when the processes of its jobs are gone."""
        self("scontrol", "update", f"NodeName={_host()}", "State=DOWN", "Reason=test")
        until(lambda: not self.processes(), 60)

    def up(self) -> None:
        """Brings the node back; a node that answers may have come back by itself."""
        with suppress(subprocess.CalledProcessError):
            self("scontrol", "update", f"NodeName={_host()}", "State=RESUME")

    def clear(self) -> None:
        """Ends every job, and returns when its processes are gone."""
        self.up()
        self("scancel", f"--user={getpass.getuser()}")
        until(lambda: not self.jobs() and not self.processes(), 60)

    def processes(self, of: str = "slurmstepd: [", task: str = "") -> list[int]:
        """Returns the processes of this cluster whose command line begins with `of` (by default the
        steps of jobs, under the daemon of the node); task: those of a task of an array alone.
        """
        marks = [f"SLURM_CONF={self.folder}/slurm.conf", f"SLURM_ARRAY_TASK_ID={task}"]
        found = []
        for place in Path("/proc").glob("[0-9]*"):
            try:
                words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                variables = (place / "environ").read_bytes().decode(errors="replace").split("\0")
            except OSError:  # it has just ended
                continue
            if words.startswith(of) and set(marks[: 2 if task else 1]) <= set(variables):
                found.append(int(place.name))
        return found


@contextmanager
def started(folder: Path, nodes: Sequence[str] = ()) -> Iterator[Cluster]:
    """Starts the daemons below `folder`, and ends them and every job. nodes: their names, by
    default this host's. Several need a SLURM that was built with --enable-multiple-slurmd, as
    Debian's is.
    """
    host, nodes = _host(), nodes or [_host()]
    controller, *ports = _ports(1 + len(nodes))
    (folder / "state").mkdir()
    for node in nodes:
        (folder / f"spool-{node}").mkdir()
    key = folder / "key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o400)
    text = CONFIGURATION.format(
        host=host, user=getpass.getuser(), folder=folder, controller=controller,
    )  # fmt: skip
    for node, port in zip(nodes, ports, strict=True):
        text += NODE.format(node=node, host=host, port=port, cores=CORES)
    (folder / "slurm.conf").write_text(text)
    (folder / "gres.conf").write_text("AutoDetect=off\nName=gpu File=/dev/null\n")
    cluster = Cluster(folder)
    munge = {
        "--key-file": "key", "--socket": "munge.socket", "--pid-file": "munged.pid",
        "--log-file": "munged.log", "--seed-file": "seed",
    }  # fmt: skip
    words = [f"{option}={folder / name}" for option, name in munge.items()]
    with ExitStack() as ends:
        ends.enter_context(_daemon(cluster, "munged", "--foreground", "--force", *words))
        until((folder / "munge.socket").exists, 60)
        ends.enter_context(_daemon(cluster, "slurmctld", "-D"))
        for node in nodes:
            ends.enter_context(_daemon(cluster, "slurmd", "-D", "-N", node))
        until(lambda: _idle(cluster) == len(nodes), 60)
        ends.callback(cluster.clear)
        yield cluster


def _die_with_the_tests() -> None:
    """Ends this process when the tests end, however they end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def _daemon(cluster: Cluster, name: str, *words: str) -> Iterator[None]:
    place = shutil.which(name, path=PLACES)
    with open(cluster.folder / f"{name}.out", "ab") as log:
        daemon = subprocess.Popen(
            [str(place), *words],
            cwd=cluster.folder,
            env=os.environ | cluster.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=_die_with_the_tests,  # noqa: PLW1509  no other thread forks here
        )
    try:
        yield
    finally:
        daemon.terminate()
        try:
            daemon.wait(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


def _idle(cluster: Cluster) -> int:
    """Returns the number of nodes that are idle."""
    try:
        return cluster("sinfo", "--Node", "--noheader", "--format=%N %T").count(" idle")
    except subprocess.CalledProcessError:  # the controller does not answer yet
        time.sleep(0.2)
        return 0


def _host() -> str:
    return socket.gethostname().partition(".")[0]
