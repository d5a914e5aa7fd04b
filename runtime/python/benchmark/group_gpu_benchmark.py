"""Times folds of groups in any order on a GPU, beside torch and JAX, as multiples of reading number and value once.

    python group_gpu_benchmark.py [--elements 2^26] [--groups 16,1024,8192,2^20,2^23] [--no-jax]

Each value is a float32, each number an int32. First every fold is compared with the host's, and 50 runs must give the
same bits. Times are medians of 21 runs between events on the device; `spread` is the range of the middle half.
"""

import argparse
import statistics

import numpy as np
import segfold as sf
import torch

AFFINE = """operator affine_of_one(x: f32) -> (scale: f32, shift: f32) {
  state { scale: f32 = 1; shift: f32 = 0 }
  lift { scale = 0.5 + x * 0.01; shift = x }
  combine(a, b) { scale = a.scale * b.scale; shift = a.shift * b.scale + b.shift }
}"""
OPERATORS = {
    "sum": sf.standard.sum,
    "i32 sum": sf.standard.sum,
    "max": sf.standard.max,
    "argmax": sf.standard.argmax,
    "mean_variance": sf.standard.mean_variance,
    "affine maps": sf.operator(AFFINE),
}


def drawn(count, num_groups, lie, seed=7):
    """Numbers of groups: all as likely, or the first ones more often by the law of Zipf."""
    torch.manual_seed(seed)
    if lie == "uniform":
        return torch.randint(0, num_groups, (count,), dtype=torch.int32, device="cuda")
    place = torch.rand(count, device="cuda") * float(np.log(num_groups + 1))
    return (torch.exp(place) - 1).to(torch.int32).clamp_(0, num_groups - 1)


def times_of(work, runs=21):
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(runs)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    times = sorted(begin.elapsed_time(end) for begin, end in pairs)
    return statistics.median(times), times[3 * runs // 4] - times[runs // 4]


def check(op, name, x, ids, num_groups):
    """Compares with the fold on the host, and 50 runs with the first."""
    as_tuple = lambda results: results if isinstance(results, tuple) else (results,)
    first = as_tuple(op(x, groups=ids, num_groups=num_groups))
    host = as_tuple(op(x.cpu().numpy(), groups=ids.cpu().numpy(), num_groups=num_groups))
    for found, wanted in zip(first, host):
        found = found.cpu().numpy()
        same = np.array_equal(found, wanted, equal_nan=True)
        assert same or np.allclose(found, wanted, rtol=1e-3, atol=1e-3, equal_nan=True), (name, num_groups)
    for _ in range(50):
        for found, before in zip(as_tuple(op(x, groups=ids, num_groups=num_groups)), first):
            assert torch.equal(found.view(torch.uint8), before.view(torch.uint8)), (name, num_groups, "bits differ")


def number(text):
    base, _, power = text.partition("^")
    return int(base) ** int(power) if power else int(base)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--elements", type=number, default=1 << 26)
    words.add_argument("--groups", default="16,1024,8192,2^20,2^23")
    words.add_argument("--operators", default=",".join(OPERATORS))
    words.add_argument("--lies", default="uniform,zipf")
    words.add_argument("--no-jax", action="store_true")
    words.add_argument("--no-check", action="store_true")
    words = words.parse_args()
    n = words.elements
    torch.manual_seed(1)
    values = torch.randint(-8, 8, (n,), device="cuda").to(torch.float32)
    both = torch.empty(2 * n, device="cuda")
    read = sf.plan(sf.standard.sum, both)
    floor, _ = times_of(lambda: read(both))
    print(f"{torch.cuda.get_device_name()}, {n} elements; number and value are read in {floor:.4f} ms")
    print("| operator | groups | numbers | ms | spread | times | torch | JAX | stage | scratch MB |")
    print("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |", flush=True)
    for lie in words.lies.split(","):
        for num_groups in map(number, words.groups.split(",")):
            ids = drawn(n, num_groups, lie)
            wide = ids.to(torch.int64)
            for name in words.operators.split(","):
                op, x = OPERATORS[name], values.to(torch.int32) if name == "i32 sum" else values
                if not words.no_check:
                    few = min(n, 1 << 20)
                    check(op, name, x[:few], ids[:few], num_groups)
                try:
                    plan = sf.plan(op, x, groups=ids, num_groups=num_groups)
                    stage, scratch = plan.stage, plan.scratch_bytes / 1e6
                    ms, spread = times_of(lambda: plan(x, groups=ids, num_groups=num_groups))
                except sf.InputError:
                    stage, scratch = "sorted", 0
                    ms, spread = times_of(lambda: op(x, groups=ids, num_groups=num_groups), 7)
                torch_ms = jax_ms = None
                if name == "sum":
                    into = torch.zeros(num_groups, device="cuda")
                    torch_ms, _ = times_of(lambda: into.index_add_(0, wide, x), 5)
                if name == "max":
                    into = torch.full((num_groups,), -np.inf, device="cuda")
                    torch_ms, _ = times_of(lambda: into.scatter_reduce_(0, wide, x, "amax"), 5)
                if name == "sum" and not words.no_jax:
                    import jax
                    import time

                    jx, ji = jax.numpy.from_dlpack(x), jax.numpy.from_dlpack(ids)
                    fold = jax.jit(lambda v, i: jax.ops.segment_sum(v, i, num_segments=num_groups))
                    fold(jx, ji).block_until_ready()
                    begin = time.perf_counter()
                    for _ in range(5):
                        last = fold(jx, ji)
                    last.block_until_ready()
                    jax_ms = (time.perf_counter() - begin) / 5 * 1e3
                times = lambda t: "" if t is None else f"{t / floor:.1f}"
                print(
                    f"| {name} | {num_groups} | {lie} | {ms:.3f} | {spread:.3f} | {ms / floor:.2f} | "
                    f"{times(torch_ms)} | {times(jax_ms)} | {stage} | {scratch:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
