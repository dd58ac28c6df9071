"""Which split of the cores between jobs and threads trains the most: `python benchmarks/split.py
[option=value ...]`.

For every split of the cores of this machine into jobs x threads, so many processes train the same
configuration at once. Printed are the windows per second of all of them together and the ratio to
one job on all cores; then the processor time of a window, which says the same where other work
shares the machine. Rounds are interleaved and the best of each split counts.
"""

import multiprocessing
import os
import sys
import time

ROUNDS, STEPS, WARMUP = 3, 20, 3


def train(words: list[str], threads: int, start, seconds) -> None:
    """STEPS steps of the configuration after a few to warm up; puts (seconds, seconds of the
    processor).
    """
    import torch
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    from extrap.cli import config_schema
    from extrap.runs.job import make
    from extrap.runs.training.batch_shares import share
    from extrap.runs.training.lightning_module import Lit
    from extrap.utils.paths import conf_dir

    torch.set_num_threads(threads)
    config_schema.register()
    with initialize_config_dir(conf_dir(), version_base="1.3"):
        cfg = compose("config", [*words, "logger=none"], return_hydra_config=True)
    plain = OmegaConf.to_container(cfg, resolve=False, enum_to_str=True)
    del plain["sweep"]
    job = make(plain, plain.pop("hydra")["runtime"]["choices"])
    lit = Lit(job.source.model(), job.training.optim, job.training.batches.mixture.weights)
    optimizer = lit.configure_optimizers()["optimizer"]
    batches = [share(job.training.batches[t], 0, 1) for t in range(WARMUP + STEPS)]
    for t, batch in enumerate(batches):
        if t == WARMUP:
            start.wait()
            began, used = time.perf_counter(), time.process_time()
        optimizer.zero_grad()
        lit.training_step(batch, t).backward()
        optimizer.step()
    seconds.put((time.perf_counter() - began, time.process_time() - used, len(batch.tokens)))


def together(words: list[str], jobs: int, threads: int) -> tuple[float, float]:
    """Windows per second of all jobs, and windows per second of processor time."""
    context = multiprocessing.get_context("spawn")
    start, seconds = context.Barrier(jobs), context.Queue()
    os.environ["OMP_NUM_THREADS"] = str(threads)
    processes = [
        context.Process(target=train, args=(words, threads, start, seconds)) for _ in range(jobs)
    ]
    for process in processes:
        process.start()
    found = [seconds.get() for _ in processes]
    for process in processes:
        process.join()
    wall, used, windows = (sum(column) for column in zip(*found, strict=True))
    return STEPS * windows / (wall / jobs), STEPS * windows / used


def main() -> None:
    from extrap.utils.cores import cores

    splits = [(n, cores() // n) for n in range(1, cores() + 1) if cores() % n == 0]
    best = dict.fromkeys(splits, (0.0, 0.0))
    for _ in range(ROUNDS):
        for split in splits:
            best[split] = tuple(
                max(pair) for pair in zip(best[split], together(sys.argv[1:], *split), strict=True)
            )
    print(
        f"{cores()} cores, {' '.join(sys.argv[1:]) or 'defaults'}: best of {ROUNDS} rounds of "
        f"{STEPS} steps"
    )
    wall, used = best[splits[0]]
    for jobs, threads in splits:
        a, b = best[jobs, threads]
        print(
            f"  {jobs} jobs x {threads} threads: {a:6.0f} windows/s ({a / wall:.2f}x), {b:6.0f} "
            f"per processor second ({b / used:.2f}x)"
        )


if __name__ == "__main__":
    main()
