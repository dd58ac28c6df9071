"""Stage train: trains the run of a job, or continues it; the weights go into the run folder."""

import os
import sys
from contextlib import nullcontext
from dataclasses import replace

from extrap.runs.training import light_start as light_start  # isort: skip  (before Lightning)
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.callbacks import Callback
from lightning.pytorch.utilities.exceptions import SIGTERMException

from extrap.extensions.interpolation import spread
from extrap.runs import checkpoint
from extrap.runs.finetuned import Training
from extrap.runs.folder import write_json
from extrap.runs.foreseen import calibrate, worth
from extrap.runs.job import Job
from extrap.runs.training import devices
from extrap.runs.training.callbacks import Curve, Diverged, RandomState, Schooling
from extrap.runs.training.feed import feed
from extrap.runs.training.lightning_module import Lit
from extrap.runs.training.meter import share_of_peak
from extrap.runs.training.options import recomputed
from extrap.runs.training.trainer import Checkpoints, quiet, rejected, trainer
from extrap.utils.errors import UserError
from extrap.utils.progress import Progress, tell


def train(job: Job, wait: bool = True) -> None:
    """Trains the run of a job, its parent first, unless they are finished. A loss that is not
    finite marks the run diverged. wait=False: raises lock.Held while another process trains one of
    them.
    """
    if job.run.trained:
        return
    if devices.first():
        job.source.note()
    for training in job.trainings:
        run, own = training.run, training is job.training
        if run.trained:
            continue
        with run.alone(wait) if devices.first() else nullcontext():
            if run.trained:  # maybe by another process, while this one waited
                continue
            try:
                _train(job, training)
            except torch.OutOfMemoryError as error:
                raise too_large(job, error) from None
        if not own:  # rows of the parent come to its page in another job
            job.dashboard.finish()


def _train(job: Job, training: Training) -> None:
    run = training.run
    if devices.first():
        run.claim()
        run.unmark()
        job.show(training)
        warn(job, training)
    lit, curve, why = _fit(job, training)
    whole = lit.trainer.strategy.lightning_module_state_dict()  # in shards every process must call
    weights = {name.removeprefix("model."): tensor for name, tensor in whole.items()}
    if not devices.first():
        return
    if not why and not all(bool(w.isfinite().all()) for w in weights.values()):
        why = f"the weights are not finite at step {lit.trainer.global_step}"
    if why:
        print(f"extrap: {run.name}: {why}; the run is marked diverged", file=sys.stderr)
    write_json(run.curve, {"points": curve.points})
    checkpoint.save(training.end(weights), run.weights)
    options = job.source.trainer
    spent = curve.cost(lit.trainer.world_size)
    device = lit.trainer.strategy.root_device  # Lightning moved the model to the CPU as it ended
    if spent.tokens_per_second is not None:
        share = share_of_peak(curve.work, device, options.precision)
        spent = replace(spent, share_of_peak=share)
    run.mark("diverged" if why else "trained", lit.trainer.global_step, spent.plain())
    job.dashboard.spent(spent.plain())
    run.checkpoint.unlink(missing_ok=True)


def too_large(job: Job, error: torch.OutOfMemoryError) -> UserError:
    """Returns the error about a device without memory for a step."""
    problem = f"the device has no memory for a step ({str(error).splitlines()[0]:.100})"
    remedy = f"give {recomputed(job.source.config['trainer'])}"
    if not any(os.path.lexists(one.run.checkpoint) for one in job.trainings):
        remedy += ", +trainer.accumulate_grad_batches=2 or a smaller data.tokens"
    return UserError("trainer.accelerator", job.source.trainer.accelerator, problem, remedy)


def warn(job: Job, training: Training) -> None:
    """Prints the time and the memory of a training that is worth a calibration. A sweep
    also shows the line if the training takes more than a day or lacks memory. A model in shards
    has no line: nothing here measures the part that one device holds.
    """
    tell("")
    options = job.source.trainer
    if options.strategy == "fsdp":
        return
    on = job.source.device
    if training.run.checkpoint.exists() or not worth(training, job.source.params, options):
        return
    pace = calibrate(training, options, on)
    warning = pace.warning(recomputed(job.source.config["trainer"]))
    print(f"extrap: {training.run.name}: {warning or pace.line()}", file=sys.stderr)
    tell(warning or "")


def _fit(job: Job, training: Training) -> tuple[Lit, Curve, str]:
    """Returns the trained module, its curve, and why the run diverged, or ""."""
    run, optim, options = training.run, training.optim, job.source.trainer
    model, mixture = training.begin().to(job.source.dtype), training.batches.mixture
    shorter = spread(model.scheme) if mixture.spread else None
    lit = Lit(model, optim, mixture.weights, options.compile, options.recompute, shorter)
    switches, why = training.batches.switches(), ""
    shown = Progress(training.verb, optim.steps) if devices.first() else nullcontext()
    with quiet(), shown as progress:
        curve = Curve(optim.log_every, progress, options.gpus)
        callbacks: list[Callback] = [curve, Schooling(switches), RandomState()]
        logger = job.dashboard.lightning() if devices.first() else False
        made = trainer(options, optim, run.folder, callbacks, logger, [Checkpoints(lit)])
        loader = feed(training.batches, lit, switches, optim.steps, options)
        before = run.checkpoint if os.path.lexists(run.checkpoint) else None
        try:
            made.fit(lit, loader, ckpt_path=before, weights_only=True)
        except Diverged as error:
            why = str(error)
        except MisconfigurationException as error:  # what a Trainer looks at as it starts
            raise rejected(options, error) from None
        except SIGTERMException:
            # Lightning would end the process with the exit code of success
            raise KeyboardInterrupt from None
    if not why and made.global_step < optim.steps:
        problem = f"ended at step {made.global_step} of train.steps={optim.steps}"
        raise UserError("trainer", problem=problem, remedy="leave limits out of the trainer")
    return lit, curve, why


def check(job: Job, sweep: bool) -> None:
    """Raises UserError for a trainer that Lightning or this machine lacks. The jobs of a sweep may
    run elsewhere, and its launcher knows their devices.
    """
    options = job.source.trainer
    for training in job.trainings:
        devices.check(options, training.batches.mixture, sweep)
    options = devices.anywhere(options) if sweep else options
    last = job.trainings[-1]
    with quiet():
        trainer(options, last.optim, last.run.folder, sweep=sweep)
