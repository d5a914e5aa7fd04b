"""Times running results of rows of K features on a GPU, beside a copy of the same bytes and JAX's associative_scan.

    python scan_rows_benchmark.py [--log2 28] [--features 16,64,256] [--works recurrence,average,sum] [--rounds 21] [--no-jax]

Sequences are of 100 to 8000 rows by lot, about 2^LOG2 numbers a column. ``recurrence`` is h = decay * h + input, ``average`` the exponential average,
``sum`` the running sum; all of f32. First each is compared with the host, and 20 runs must give the same bits. Times are medians of rounds between
events on the device, ``spread`` is the range of the middle half. A copy reads as many columns as the scan and writes one; ``times`` is the time
over the copy's. JAX scans pairs (decay, input), whose decay is 0 where a sequence begins; its results are compared too. It needs torch, and JAX
unless ``--no-jax``.
"""

import argparse
import statistics

import numpy as np

OPERATORS = {
    "recurrence": """operator recurrence(decay: row f32, input: row f32) -> each f32 {
  state { decay: f32 = 1; h: f32 = 0 }
  lift { decay = decay; h = input }
  combine(a, b) { decay = a.decay * b.decay; h = a.h * b.decay + b.h }
  scan(before, through) through.h
}""",
    "average": """operator average(x: row f32) -> each f32 {
  state { keep: f32 = 1; mean: f32 = 0 }
  lift { keep = position == 0 ? 0.0 : 0.9; mean = position == 0 ? x : x * 0.1 }
  combine(a, b) { keep = a.keep * b.keep; mean = a.mean * b.keep + b.mean }
  scan(before, through) through.mean
}""",
    "sum": """operator total(x: row f32) -> each f32 {
  state sum: f32 = 0
  lift x
  combine(a, b) a + b
  scan(before, through) through
}""",
}
LEAST, MOST = 100, 8000  # rows of a sequence


def offsets_of(num_rows, seed=7):
    """Offsets of sequences of ``LEAST`` to ``MOST`` rows by lot, together ``num_rows``; the last one may be shorter."""
    lengths = np.random.default_rng(seed).integers(LEAST, MOST + 1, num_rows // LEAST + 1)
    ends = np.cumsum(lengths)
    return np.concatenate([[0], ends[ends < num_rows], [num_rows]]).astype(np.int32)


def pairs_of(name, columns, offsets):
    """The decay and the input of the recurrence that a work is, as arrays of NumPy."""
    first = np.zeros((len(columns[0]), 1), bool)
    first[offsets[:-1]] = True
    x = columns[-1]
    if name == "recurrence":
        return np.where(first, 0, columns[0]), x
    if name == "average":
        return np.where(first, 0, np.float32(0.9)) + 0 * x, np.where(first, x, x * np.float32(0.1))
    return np.where(first, 0, np.float32(1)) + 0 * x, x


def by_loop(name, columns, offsets):
    """What a loop over rows gives, in f64."""
    decay, given = (part.astype(np.float64) for part in pairs_of(name, columns, offsets))
    out = np.empty_like(given)
    state = np.zeros(given.shape[1])
    for row in range(len(given)):
        state = out[row] = decay[row] * state + given[row]
    return out


def is_right(found, wanted):
    return bool(np.linalg.norm(found - wanted) <= 1e-4 * np.linalg.norm(wanted))


def columns_of(torch, name, num_rows, num_features):
    torch.manual_seed(3)
    x = torch.randn(num_rows, num_features, device="cuda")
    return (torch.rand(num_rows, num_features, device="cuda") * 0.5 + 0.5, x) if name == "recurrence" else (x,)


def times_of(torch, work, rounds):
    """The median in ms and the range of the middle half."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    pairs = [tuple(torch.cuda.Event(enable_timing=True) for _ in range(2)) for _ in range(rounds)]
    for begin, end in pairs:
        begin.record()
        work()
        end.record()
    torch.cuda.synchronize()
    times = sorted(begin.elapsed_time(end) for begin, end in pairs)
    return statistics.median(times), times[3 * rounds // 4] - times[rounds // 4]


def jax_times(name, columns, offsets, wanted, rounds):
    """The median in ms of JAX's associative_scan of the pairs; None where the results are wrong."""
    import time

    import jax

    pairs = [jax.numpy.asarray(part) for part in pairs_of(name, [c.cpu().numpy() for c in columns], offsets)]
    scan = jax.jit(lambda a, b: jax.lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b))[1])
    if not is_right(np.asarray(scan(*pairs)), wanted):
        return None
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        scan(*pairs).block_until_ready()
        taken.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(taken)


def check(sf, torch, name, columns, offsets):
    """Compares the first sequences with the host's loop, and 20 runs with the first."""
    op = sf.operator(OPERATORS[name])
    few = offsets[:5]
    parts = [column[: few[-1]] for column in columns]
    first = op(*parts, offsets=torch.from_numpy(few).cuda())
    if not is_right(first.cpu().numpy(), by_loop(name, [part.cpu().numpy() for part in parts], few)):
        raise SystemExit(f"{name}: results differ from those of a loop")
    places = torch.from_numpy(offsets).cuda()
    whole = op(*columns, offsets=places)
    for _ in range(20):
        if not torch.equal(op(*columns, offsets=places).view(torch.int32), whole.view(torch.int32)):
            raise SystemExit(f"{name}: bits differ from run to run")
    return whole.cpu().numpy()


def main(arguments=None):
    words = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    words.add_argument("--log2", type=int, default=28)
    words.add_argument("--features", default="16,64,256")
    words.add_argument("--works", default=",".join(OPERATORS))
    words.add_argument("--rounds", type=int, default=21)
    words.add_argument("--no-jax", action="store_true")
    words = words.parse_args(arguments)
    names = words.works.split(",")
    for name in names:
        if name not in OPERATORS:
            raise SystemExit(f"there is no work '{name}'; works are {', '.join(OPERATORS)}")
    try:
        import torch
    except ImportError:
        raise SystemExit("it needs torch") from None
    if not torch.cuda.is_available():
        raise SystemExit("it needs a GPU")
    import segfold as sf

    print(f"{torch.cuda.get_device_name()}, 2^{words.log2} numbers a column, sequences of {LEAST} to {MOST} rows")
    print("| work | K | ms | spread | copy ms | times | JAX ms | stage |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
    for name in names:
        for num_features in map(int, words.features.split(",")):
            num_rows = (1 << words.log2) // num_features
            offsets = offsets_of(num_rows)
            columns = columns_of(torch, name, num_rows, num_features)
            wanted = check(sf, torch, name, columns, offsets)
            places = torch.from_numpy(offsets).cuda()
            plan = sf.plan(sf.operator(OPERATORS[name]), *columns, offsets=places)
            ms, spread = times_of(torch, lambda: plan(*columns, offsets=places), words.rounds)
            into = torch.empty_like(columns[0])
            copy = (lambda: into.copy_(columns[0])) if len(columns) == 1 else (lambda: torch.add(*columns, out=into))
            floor, _ = times_of(torch, copy, words.rounds)
            of_jax = None if words.no_jax else jax_times(name, columns, offsets, wanted, words.rounds)
            shown = "" if words.no_jax else "wrong" if of_jax is None else f"{of_jax:.3f}"
            print(
                f"| {name} | {num_features} | {ms:.3f} | {spread:.3f} | {floor:.3f} | {ms / floor:.2f} | {shown} | {plan.stage} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
