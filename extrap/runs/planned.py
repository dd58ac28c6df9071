"""What is measured of a job, under which hashes, and what of it is there already."""

from extrap.results import rows
from extrap.runs.folder import identity_hash
from extrap.runs.job import Job
from extrap.runs.layout import CURVE, USED, ResultFile
from extrap.utils.errors import UserError

PLAIN = {"_target_": "extrap.extensions.direct.Direct"}


def result_file(job: Job, task: str) -> ResultFile:
    return ResultFile(job.study, job.run.name, job.extension_stem, task)


def config_hash(job: Job, task: str) -> str:
    """Identity of what one task measures of a job: run, extension, options, study."""
    identity = {
        "run": job.run.identity,
        "extension": PLAIN if task == CURVE else job.config["extension"],
        "task": job.config["task"].get(task, {}),
        "study": job.study,
    }
    return identity_hash(identity)


def finished(job: Job, task: str) -> bool:
    file = result_file(job, task)
    return job.run.evaluated(file.note, config_hash(job, task), file.rows)


def evaluated(job: Job) -> bool:
    """Whether nothing is left to measure."""
    tasks = [CURVE] if job.run.state.get("state") == "diverged" else planned(job)
    return all(finished(job, task) for task in tasks)


def measured(job: Job) -> bool:
    """Whether rows of all that is asked lie here under the hashes that this job would give them,
    wherever they were made.

    Says nothing about weights, and nothing about the commit that measured. A diverged run has its
    curve alone. A damaged file is none.
    """
    try:
        curve = _measured(job, CURVE)
        diverged = any(row["metric"] == "diverged_at" for row in curve)
        return diverged or all(_measured(job, task) for task in planned(job))
    except UserError:
        return False


def _measured(job: Job, task: str) -> list[dict]:
    """The rows of one task, where all of them are those of this job."""
    file = result_file(job, task).rows
    found = rows.records([file]) if file.is_file() else []
    of_job = (job.run.name, config_hash(job, task))
    return found if all((row["run"], row["config"]) == of_job for row in found) else []


def planned(job: Job) -> dict[str, str]:
    """Everything that is measured of a job, with the hash of its configuration."""
    return {
        task: config_hash(job, task)
        for task in (
            *([] if job.as_published else [CURVE]),
            *([USED] if reports_used(job) else []),
            *job.task_names,
        )
    }


def reports_used(job: Job) -> bool:
    """Under an extension, and of a checkpoint always: it may bring a scaling of its own."""
    return job.published or job.config["extension"] != PLAIN
