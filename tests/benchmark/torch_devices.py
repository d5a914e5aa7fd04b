"""What a user of torch reaches on several GPUs: torch.segment_reduce on each rank's part, borders by NCCL.

    torchrun --nproc-per-node 2 torch_devices.py [ELEMENTS [ROUNDS]]
    python torch_devices.py [ELEMENTS [ROUNDS]]            starts a process for each GPU by itself
    TORCH_DEVICES=cpu:3 python torch_devices.py 2^20       three processes without GPUs, to try it

Sums of f32 that are small integers, 2^32 elements or the power of two that fits, in the layouts whole, uniform 32,
uniform 1024 and geometric 32. Rounds begin together, and a time is that of the host's clock until all results of a
rank are there, the longest of the ranks'; printed are the median and the quartiles of one GPU's rounds, which holds
all of it, and of all GPUs'.

What torch does not do here: other operators than sum, mean, min, max and prod; borders are sums, which are added
in any order, so that nothing that keeps the order of elements could be joined this way; segments longer than two
parts need another join than this one. Whole is torch.sum, which rounds in another order than segment_reduce.
"""

import os
import socket
import statistics
import sys
import time

LAYOUTS = ("whole", "uniform=32", "uniform=1024", "geometric:mean=32")
WARM_UPS = 3


def offsets_of(torch, layout, num_elements, device):
    """The offsets of all segments, the same on each rank; None for the whole."""
    if layout == "whole":
        return None
    if layout.startswith("uniform="):
        length = int(layout.split("=")[1])
        return torch.arange(0, num_elements + 1, length, dtype=torch.int64, device=device)
    mean = int(layout.split("=")[1])
    generator = torch.Generator(device=device).manual_seed(7)
    lengths = torch.empty(num_elements // mean * 101 // 100 + 64, dtype=torch.float32, device=device)
    lengths.geometric_(1 / mean, generator=generator)
    ends = torch.cumsum(lengths.to(torch.int64), 0)
    ends = ends[ends < num_elements]
    zero = torch.zeros(1, dtype=torch.int64, device=device)
    return torch.cat((zero, ends, torch.full((1,), num_elements, dtype=torch.int64, device=device)))


def part_of(torch, offsets, begin, end):
    """Offsets of the pieces of segments in a part, counted from its begin; whether its begin cuts a segment."""
    first = int(torch.searchsorted(offsets, begin, right=True)) - 1
    last = int(torch.searchsorted(offsets, end, right=False))
    pieces = offsets[first : last + 1].clamp(begin, end) - begin
    return pieces, int(offsets[first]) < begin


class Fold:
    """The sums of one part, and the join of the segments that cuts have cut."""

    def __init__(self, torch, values, offsets, begin, end, rank, size):
        self.torch, self.values, self.rank, self.size = torch, values, rank, size
        self.pieces, self.is_cut = (None, begin > 0) if offsets is None else part_of(torch, offsets, begin, end)
        if size > 1:
            flags = torch.zeros(size, device=values.device)
            torch.distributed.all_gather_into_tensor(
                flags, torch.full((1,), float(self.is_cut), device=values.device))
            self.next_is_cut = rank + 1 < size and bool(flags[rank + 1].item())
            self.borders = torch.empty(2 * size, device=values.device)

    def run(self):
        torch = self.torch
        if self.pieces is None:
            sums = self.values.sum().reshape(1)
        else:
            sums = torch.segment_reduce(self.values, "sum", offsets=self.pieces, axis=0, unsafe=True)
        if self.size > 1:
            border = torch.stack((sums[0], sums[-1]))
            torch.distributed.all_gather_into_tensor(self.borders, border)
            if self.pieces is None:
                sums = self.borders[::2].sum().reshape(1)
            else:
                # A segment belongs to the rank in which it ends.
                if self.is_cut:
                    sums[0] += self.borders[2 * self.rank - 1]
                if self.next_is_cut:
                    sums = sums[:-1]
        synchronize(torch)
        return sums


def synchronize(torch):
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def measure(torch, fold, rounds, meets):
    seconds = []
    for turn in range(-WARM_UPS, rounds):
        if meets:
            torch.distributed.barrier()
        synchronize(torch)
        begin = time.perf_counter()
        sums = fold.run()
        if turn >= 0:
            seconds.append(time.perf_counter() - begin)
    if meets:
        longest = torch.tensor(seconds, dtype=torch.float64, device=sums.device)
        torch.distributed.all_reduce(longest, op=torch.distributed.ReduceOp.MAX)
        seconds = longest.tolist()
    return seconds, sums


def text_of(seconds):
    if len(seconds) < 2:
        return f"{seconds[0] * 1e3:8.3f}"
    low, median, high = statistics.quantiles(seconds, n=4, method="inclusive")
    return f"{median * 1e3:8.3f} ({low * 1e3:.3f} - {high * 1e3:.3f})"


def values_of(torch, begin, end, device):
    values = torch.empty(end - begin, dtype=torch.float32, device=device)
    step = 1 << 26
    for at in range(begin, end, step):
        index = torch.arange(at, min(at + step, end), dtype=torch.int64, device=device)
        values[at - begin : at - begin + len(index)] = (index * 7 % 5 - 2).to(torch.float32)
    return values


def work(rank, size, num_elements, rounds):
    import torch

    if os.environ.get("TORCH_DEVICES", "").startswith("cpu"):
        device, memory = torch.device("cpu"), 1 << 40
        torch.distributed.init_process_group("gloo", rank=rank, world_size=size)
    else:
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", rank)))
        torch.cuda.set_device(device)
        torch.distributed.init_process_group("nccl", rank=rank, world_size=size, device_id=device)
        memory = torch.cuda.get_device_properties(device).total_memory
    asked = num_elements
    # One GPU holds all values, offsets of 8 bytes and sums of 4 for each 32 elements, and what makes them.
    while num_elements * 4 * 2.2 > memory:
        num_elements //= 2
    if rank == 0:
        less = "" if num_elements == asked else f" ({asked} do not fit)"
        by = ".".join(map(str, torch.cuda.nccl.version())) if device.type == "cuda" else "none, but gloo"
        print(f"torch {torch.__version__}, NCCL {by}, sums alone, borders added in any order: "
              f"{num_elements} elements of f32{less}, {rounds} rounds, {size} GPUs")
        print(f"{'layout':<26} {'one GPU, ms':>26} {'all, ms':>26} {'times':>6}")
    begin, end = num_elements * rank // size, num_elements * (rank + 1) // size
    for layout in LAYOUTS:
        offsets = offsets_of(torch, layout, num_elements, device)
        fold = Fold(torch, values_of(torch, begin, end, device), offsets, begin, end, rank, size)
        shared, sums = measure(torch, fold, rounds, True)
        total = sums.double().sum() if offsets is not None else sums.double().sum() / size
        torch.distributed.all_reduce(total)
        counts = torch.tensor([float(len(sums))], dtype=torch.float64, device=device)
        torch.distributed.all_reduce(counts)
        del fold, sums
        torch.cuda.empty_cache()
        if rank == 0:
            fold = Fold(torch, values_of(torch, 0, num_elements, device), offsets, 0, num_elements, 0, 1)
            alone, sums = measure(torch, fold, rounds, False)
            num_segments = 1 if offsets is None else len(offsets) - 1
            is_equal = float(total) == float(sums.double().sum()) and (
                offsets is None or int(counts) == num_segments)
            times = statistics.median(alone) / statistics.median(shared)
            print(f"{layout:<26} {text_of(alone):>26} {text_of(shared):>26} {times:6.3f} "
                  f"{'equal totals' if is_equal else 'DIFFERENT'}", flush=True)
            del fold, sums
        del offsets
        torch.cuda.empty_cache()
        torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main():
    text = sys.argv[1] if len(sys.argv) > 1 else "2^32"
    num_elements = 1 << int(text[2:]) if text.startswith("2^") else int(text)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    if "RANK" in os.environ:
        work(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), num_elements, rounds)
        return 0
    import torch

    size = torch.cuda.device_count()
    if (asked := os.environ.get("TORCH_DEVICES", "")).startswith("cpu:"):
        size = int(asked[4:])
    if size == 0:
        print("torch finds no GPU")
        return 77
    with socket.socket() as free:
        free.bind(("localhost", 0))
        os.environ.update(MASTER_ADDR="localhost", MASTER_PORT=str(free.getsockname()[1]))
    torch.multiprocessing.spawn(work, args=(size, num_elements, rounds), nprocs=size)
    return 0


if __name__ == "__main__":
    sys.exit(main())
