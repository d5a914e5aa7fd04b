"""Runs many `segfold bench` processes side by side, for draw.py and tests/benchmark/fresh_workloads.py.

Each GPU has several benches at a time, which prepare, compile and check on processors of their own. The program lets only one of
them at a time measure on the GPU.
"""

import os
import pathlib
import queue
import subprocess
import tempfile
import threading
import time


def add_arguments(parser):
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--gpus", default=os.environ.get("CUDA_VISIBLE_DEVICES", "0"), help="0,1: numbers of GPUs")
    parser.add_argument("--beside", type=int, help="benches at a time for each GPU; without it one for every two processors")
    parser.add_argument("--minutes", type=float, default=8)


def run(asked, jobs, file, flags=()):
    """Runs the jobs until the time is over. A job is the list of arguments of one bench. Appends the rows of each job to the file
    file(job), and yields the job with the finished process."""
    until = time.monotonic() + 60 * asked.minutes
    processors = sorted(os.sched_getaffinity(0))
    gpus = [""] if asked.backend == "cpu" else asked.gpus.split(",")
    beside = 1 if asked.backend == "cpu" else asked.beside or max(1, len(processors) // (2 * len(gpus)))
    own = len(processors) // (beside * len(gpus))
    waiting, finished = queue.Queue(1), queue.Queue()

    def work(slot, folder):
        gpu, cores = gpus[slot % len(gpus)], processors[slot * own:(slot + 1) * own] or processors
        rates = pathlib.Path(folder) / f"rates{slot}.csv"
        while job := waiting.get():
            rates.unlink(missing_ok=True)
            words = ["taskset", "-c", ",".join(map(str, cores)), asked.program, "bench", *job, "--backend", asked.backend, "--peers", "none",
                     "--no-tune", "--repeat", "9", "--rates", str(rates), *flags]
            try:
                done = subprocess.run(words, capture_output=True, text=True, timeout=max(0.1, until - time.monotonic()), check=False,
                                      env={**os.environ, **({"CUDA_VISIBLE_DEVICES": gpu} if gpu else {})})
            except subprocess.TimeoutExpired:
                done = None
            finished.put((job, done, rates.read_text() if rates.exists() else ""))
        finished.put(None)

    def feed():
        for job in jobs:
            if time.monotonic() > until:
                break
            waiting.put(job)
        for _ in range(beside * len(gpus)):
            waiting.put(None)

    with tempfile.TemporaryDirectory() as folder:
        for slot in range(beside * len(gpus)):
            threading.Thread(target=work, args=(slot, folder), daemon=True).start()
        threading.Thread(target=feed, daemon=True).start()
        ended = 0
        while ended < beside * len(gpus):
            if (one := finished.get()) is None:
                ended += 1
                continue
            job, done, rows = one
            if rows:
                with open(file(job), "a") as table:
                    table.writelines(rows.splitlines(keepends=True)[0 if table.tell() == 0 else 1:])
            if done and (done.returncode or done.stderr.strip()):
                print(f"exit {done.returncode} of {' '.join(job)}: {done.stderr.strip()[-600:]}", flush=True)
            if done:
                yield job, done
