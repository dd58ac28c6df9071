"""What is measured of a job, under which hashes, and what of it is there already."""

from extrap.results import left_out, rows
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
    curve alone. A damaged file is none; one that the study leaves out of git is not missed.
    """
    try:
        curve = _measured(job, CURVE) or []
        diverged = any(row["metric"] == "diverged_at" for row in curve)
        unkept = left_out.tasks(left_out.rules(job.results))
        return diverged or all(
            task in unkept or _measured(job, task) is not None for task in planned(job)
        )
    except UserError:
        return False


def _measured(job: Job, task: str) -> list[dict] | None:
    """The rows of one task, where there are such and all of them are those of this job. A method
    that puts nothing in force has a file without rows.
    """
    file = result_file(job, task).rows
    found = rows.records([file]) if file.is_file() else []
    of_job = (job.run.name, config_hash(job, task))
    empty = task == USED and file.is_file()
    same = all((row["run"], row["config"]) == of_job for row in found)
    return found if same and (found or empty) else None


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
