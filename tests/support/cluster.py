"""A SLURM cluster of one node, as commands on the PATH: what submitit calls, and no more."""

from pathlib import Path

SBATCH = """\
for script; do :; done
cp "$script" "$CLUSTER/script.sh"
last=$(sed -n 's/^#SBATCH --array=0-\\([0-9]*\\).*/\\1/p' "$script")
for task in $(seq 0 "${last:-0}"); do "$CLUSTER/start" "$task" "${last:+array}"; done
echo "Submitted batch job 4242"
"""

START = """\
export SLURM_JOB_ID=4242 SLURM_NTASKS=1 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0
export SLURM_JOB_NUM_NODES=1 SLURM_JOB_NODELIST=here
if [ "$2" = array ]; then export SLURM_ARRAY_JOB_ID=4242 SLURM_ARRAY_TASK_ID=$1; fi
export CLUSTER_TASK="$1" CLUSTER_KIND="$2"
setsid sh "$CLUSTER/script.sh" > "$CLUSTER/node-$1.log" 2>&1 < /dev/null &
"""

SRUN = """\
while true; do case "$1" in --output|--error) shift 2;; -*) shift;; *) break;; esac; done
echo $$ > "$CLUSTER/pid-$CLUSTER_TASK"
exec "$@"
"""

SCONTROL = """\
case "$1" in
  requeue) echo "$2" >> "$CLUSTER/requeued"; "$CLUSTER/start" "$CLUSTER_TASK" "$CLUSTER_KIND";;
  show) echo here;;
esac
"""

SACCT = 'echo "JobID|State|NodeList"\n'


def build(folder: Path) -> dict[str, str]:
    """Puts the commands below `folder`; what has to stand in the environment for them."""
    commands = {
        "sbatch": SBATCH,
        "start": START,
        "srun": SRUN,
        "scontrol": SCONTROL,
        "sacct": SACCT,
        "scancel": "",
    }
    folder.mkdir()
    for name, text in commands.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}")
        (folder / name).chmod(0o755)
    return {"CLUSTER": str(folder)}
