"""What is looked at before any work starts, so that a mistake costs seconds: every option, every
name of a file, every task.
"""

import re
import warnings
from functools import partial

from extrap.model.gpt import GPT
from extrap.runs.choices import applicable
from extrap.runs.folder import fingerprint
from extrap.runs.job import Job
from extrap.runs.limits import check_memory
from extrap.runs.probe import check_scheme
from extrap.tasks.base import Diagnostic
from extrap.utils.errors import NotApplicable, UserError

STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._,=+-]{0,99}")
# characters of a file's name without its ending; file systems take 255 bytes, and what is being
# written has a longer name
LONGEST = 220
_PROBED: set[str] = set()  # fingerprints of schemes that this process has tried out


def check(job: Job) -> None:
    """Raises UserError for anything that cannot work, and warns of tasks that are left out."""
    _ = job.optim, job.corpus, job.extension, job.trainer, job.dashboard, job.linear
    if not job.published:
        _ = job.batches
        check_memory(job.params)
        _probe(job, fingerprint([job.config["scheme"], job.config["model"], job.length]))
    _names(job)
    if job.unasked:
        warnings.warn(
            f"task=[{','.join(job.task_names)}]: options of {', '.join(job.unasked)} are left "
            "aside",
            UserWarning,
            stacklevel=1,
        )
    for error in job.refused.values():
        warnings.warn(f"{error}; the other tasks are asked", UserWarning, stacklevel=1)
    _pair(job)
    if job.tuned is not None:
        job.tuned.check()


def _probe(job: Job, once: str) -> None:
    """Raises UserError for a scheme that cannot be trained; jobs of a sweep that share a scheme
    share the probe, too.
    """
    if once not in _PROBED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice is given where the model is built for good
            model = job.model()
        check_scheme(model, job.choices["scheme"])
        _PROBED.add(once)


def _names(job: Job) -> None:
    """Raises UserError for choices that would not make one name of a file below the folders of runs
    and results.
    """
    for option, value in (("data", job.data_name), ("extension", job.extension_stem)):
        if not STEM.fullmatch(value):
            raise UserError(
                f"{option}={value}: its name and changed options become names of files; use fewer "
                "of them, and no slashes"
            )
    for task in job.task_names:
        most = max(
            len(f"{name}__{job.extension_stem}__{task}") for name in (job.study, job.run.name)
        )
        if most > LONGEST:
            raise UserError(
                f"label={job.label} study={job.study} task.{task}: a file name of {most} "
                "characters; shorten one"
            )


def _pair(job: Job) -> None:
    """Raises NotApplicable, with what works instead, for an extension that makes no sense on the
    scheme.
    """
    model, name = job.model("meta"), job.choices["extension"]
    try:
        extended = job.extension(model)
    except NotApplicable as error:
        raise NotApplicable(
            f"extension={name}: {error.why}", partial(_instead, job, model)
        ) from None
    inside = [name for name, task in job.tasks.items() if isinstance(task, Diagnostic)]
    if inside and not isinstance(extended, GPT):
        raise NotApplicable(
            f"task={inside[0]}: looks inside a model, and extension={name} reads with several "
            "windows of one; leave one of the two out"
        )


def _instead(job: Job, model: GPT) -> str:
    return (
        f"with scheme={job.choices['scheme']} work "
        f"{', '.join(applicable(model, job.config['plugins']))}"
    )
