"""Times running results of columns on a GPU by `segfold bench`, beside a copy of the same bytes.

    python scan_benchmark.py PROGRAM FOLDER [--peers cub,thrust] [--earlier KERNELS] [--log2 27] [--seconds 85]

Bench by bench, until the seconds are over. FOLDER gets `rows.csv`, rates of stages for kernels/ranks/rows, and `settings.csv`, rates of
configurations for kernels/ranks/settings, as kernels/ranks/draw.py appends them; `bench.jsonl` has each measurement. The table, printed last, has
for each workload the share of a copy's rate that each plan reaches. Few elements lie in the cache; theirs are microseconds.
--earlier names a folder with earlier stages (`segfold bench --kernels`), which are timed too. --peers names the libraries that are timed beside the
plan of a run; nvcc compiles each for about 20 seconds, once.
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

TILES = [f"running_tiles:near,items_per_thread={items},block_threads={threads}" for items, threads in ((16, 256), (16, 128), (8, 256), (32, 128))]
WIDE = [f"running_tiles:near,items_per_thread={items},block_threads={threads}" for items, threads in ((32, 256), (16, 256), (32, 128))]
SEGMENTS = [f"running_segments:near,items_per_thread={items},block_threads={threads}" for items, threads in ((16, 256), (16, 128), (8, 128))]


def jobs(log2):
    """Yields operators, the layout with flags of its own, the logarithm of the number of elements, and plans; no plans: every stage in the configuration of a run."""
    for layout in ("whole", "uniform=32", "uniform=1048576", "uniform=1024"):
        yield "sum_f32", layout, log2, []
    yield "sum_f32", "geometric:mean=32", log2, TILES
    for layout in ("uniform=200", "uniform=8", "uniform=16384"):
        yield "sum_f32", layout, log2, []
    for form in ("keys", "flags"):
        yield "sum_f32", f"uniform=32 --given-as {form}", log2, TILES[:2]
    yield "affine_u32", "geometric:mean=32", log2 - 1, TILES
    yield "max_subarray_f32,mean_variance_f32", "geometric:mean=32", log2 - 1, TILES
    yield "sum_f16,sum_i8", "uniform=1024", log2, WIDE + SEGMENTS[:1]
    for few in (12, 14, 16, 18, 20):
        yield "sum_f32", "whole", few, [f"running_tiles:near,items_per_thread={i},block_threads={t}" for i, t in ((16, 256), (8, 128), (4, 64))]
    yield "sum_f32", "whole", log2, TILES
    yield "sum_f32", "uniform=32", log2, SEGMENTS + TILES[:2]
    yield "sum_f32", "zipf:exponent=1.9", log2, TILES[:2]
    yield "affine_f32", "uniform=32", log2 - 1, SEGMENTS + TILES[:2]


def copy_rate(num_bytes, rounds=11):
    """Bytes a second that the driver's copy within the GPU's memory reads and writes; None without a GPU."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None

    def call(name, *arguments):
        if getattr(cuda, name)(*arguments):
            raise SystemExit(f"{name} failed")

    context, events, arrays, ms = ctypes.c_void_p(), [ctypes.c_void_p() for _ in range(2)], [ctypes.c_uint64() for _ in range(2)], ctypes.c_float()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    for array, event in zip(arrays, events):
        call("cuMemAlloc_v2", ctypes.byref(array), ctypes.c_size_t(num_bytes))
        call("cuEventCreate", ctypes.byref(event), 0)
    times = []
    for _ in range(rounds + 3):
        call("cuEventRecord", events[0], None)
        call("cuMemcpyDtoDAsync_v2", arrays[1], arrays[0], ctypes.c_size_t(num_bytes), None)
        call("cuEventRecord", events[1], None)
        call("cuEventSynchronize", events[1])
        call("cuEventElapsedTime", ctypes.byref(ms), *events)
        times.append(ms.value)
    for array in arrays:
        call("cuMemFree_v2", array)
    call("cuDevicePrimaryCtxRelease_v2", 0)
    return 2e3 * num_bytes / statistics.median(times[3:])


def main():
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("program")
    words.add_argument("folder", type=pathlib.Path)
    words.add_argument("--earlier", help="a folder with earlier stages")
    words.add_argument("--peers", default="none")
    words.add_argument("--log2", type=int, default=27)
    words.add_argument("--seconds", type=float, default=85)
    words.add_argument("--backend", default="cuda")
    asked = words.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + asked.seconds
    rate = copy_rate(4 << asked.log2) if asked.backend == "cuda" else None
    lines = []

    def bench(operators, layout, log2, plans, earlier):
        rates = "earlier.csv" if earlier else "settings.csv" if plans else "rows.csv"
        command = [asked.program, "bench", operators, "--scan", "--layout", *layout.split(), "--elements", str(2**log2), "--backend", asked.backend]
        command += ["--peers", "none" if plans or earlier else asked.peers, "--no-tune", "--repeat", "11", "--json", "--rates", str(asked.folder / rates)]
        command += ["--log", str(asked.folder / "bench.jsonl")]
        command += [word for plan in plans for word in ("--plan", plan)] + (["--kernels", asked.earlier] if earlier else [])
        left = until - time.monotonic()
        if left < 3:
            return False
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            return False
        works = json.loads(done.stdout).get("workloads") if done.stdout.startswith("{") else None
        if works is None:
            lines.append(f"| {operators} | {layout} | 2^{log2} | exit {done.returncode}: {(done.stderr or done.stdout).strip()[:200]} |")
        for work in works or []:
            for entry in work["entries"]:
                if entry["outcome"] != "measured":
                    continue
                moved, low = work["bytes"]["columns"] + work["bytes"]["layout"] + work["bytes"]["results"], entry["milliseconds"]["median"]
                share = f"{moved / low * 1e3 / rate:.3f}" if rate and log2 > 22 else f"{low * 1e3:.1f} us"
                name = ("earlier " if earlier else "") + entry["name"] + " " + entry["configuration"].replace("items_per_thread=", "items=")
                right = "" if entry["agreement"]["agrees"] else " WRONG"
                lines.append(f"| {work['operator']} | {layout} | 2^{log2} | {name.strip()} | {low:.4f} | {share}{right} |")
        return True

    for operators, layout, log2, plans in jobs(asked.log2):
        if not bench(operators, layout, log2, plans, False):
            break
        if asked.earlier and not plans and not bench(operators, layout, log2, ["running_tiles"], True):
            break
    print(f"copy {rate / 1e9:.0f} GB/s" if rate else "no copy was timed")
    print("| operator | layout | elements | plan | ms | of copy |\n| --- | --- | --- | --- | ---: | ---: |")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
