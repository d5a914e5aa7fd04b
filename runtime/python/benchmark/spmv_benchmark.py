"""How fast a sparse matrix times a vector is on a GPU: segfold's operator ``spmv`` beside cuSPARSE, in one run on the same arrays.

    python spmv_benchmark.py [--texts FOLDER] [--megabytes M] [--side N] [--rounds R] [--stages]

Matrices are CSR with 32-bit offsets and columns and values of f32. Those of a power law are counts in the texts (*.py) of FOLDER, by
default what is installed beside this Python, the first M megabytes of them (64): how often two words stand at most four words apart, and
how often a word stands in a file. Regular ones are stencils of 27 and 7 points on a grid of N^3 (160).

Each contestant multiplies ten times in a round, one contestant after the other; printed are the medians of the rounds (15), GB/s of the
compulsory bytes (the matrix, x and y, each once) and the times over the best of cuSPARSE's algorithms. Results are compared with sums
in f64; a difference ends with exit code 1. It needs torch, for arrays and events, and cuSPARSE, which comes along with torch.
``segfold, trusted`` does not check that columns lie inside of x, as cuSPARSE does not either. Plans are told the longest row, as
cuSPARSE looks at the matrix beforehand; ``blind`` is one that is not, where it takes another stage.
"""

import argparse
import ctypes
import glob
import importlib.util
import os
import re
import statistics
import sys
import sysconfig

import numpy as np

WINDOW = 4  # words that are at most so far apart count as a pair
CALLS = 10  # calls in a round


class Matrix:
    """A matrix in CSR, on the host."""

    def __init__(self, name, rows, columns, num_rows, num_columns, values=None):
        self.name, self.num_rows, self.num_columns = name, num_rows, num_columns
        self.columns = columns.astype(np.int32)
        counts = np.bincount(rows, minlength=num_rows)
        self.offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        self.values = np.ones(len(rows), np.float32) if values is None else values.astype(np.float32)
        self.longest = int(counts.max())

    def __str__(self):
        entries = len(self.columns)
        return (f"{self.name}: {self.num_rows} x {self.num_columns}, {entries} entries, {entries / self.num_rows:.1f} a row in the "
                f"mean, {self.longest} in the longest")  # fmt: skip

    @property
    def bytes_moved(self):
        return 8 * len(self.columns) + 4 * (self.num_rows + 1) + 4 * self.num_rows + 4 * self.num_columns


def words_of(folder, megabytes):
    """Numbers of the words in the texts below a folder, counted from 0 as they first occur, and the file of each; -1 lies between files."""
    numbers, words, files = {}, [], []
    left = megabytes * 1_000_000
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "**", "*.py"), recursive=True)):
        if left <= 0:
            break
        with open(path, "rb") as file:
            text = file.read(left)
        left -= len(text)
        found = [numbers.setdefault(word, len(numbers)) for word in re.findall(rb"[A-Za-z_][A-Za-z_0-9]+", text)]
        if found:
            words.append(np.array(found + [-1] * WINDOW, np.int64))
            files.append(len(words[-1]))
    if not words:
        raise SystemExit(f"{folder} holds no words in files *.py")
    return np.concatenate(words), np.repeat(np.arange(len(files)), files), len(numbers), len(files)


def counted(name, rows, columns, num_rows, num_columns):
    """A matrix that counts how often each pair occurs."""
    keys, counts = np.unique(rows * num_columns + columns, return_counts=True)
    return Matrix(name, keys // num_columns, keys % num_columns, num_rows, num_columns, counts)


def text_matrices(folder, megabytes):
    words, files, num_words, num_files = words_of(folder, megabytes)
    rows, columns = [], []
    for apart in range(1, WINDOW + 1):
        both = (words[:-apart] >= 0) & (words[apart:] >= 0)
        earlier, later = words[:-apart][both], words[apart:][both]
        rows += [earlier, later]
        columns += [later, earlier]
    yield counted("words near words", np.concatenate(rows), np.concatenate(columns), num_words, num_words)
    there = words >= 0
    yield counted("words in files", words[there], files[there], num_words, num_files)


def stencil(points, side):
    """The grid's points, each with its neighbours inside of the grid: all 27, or the 7 along the axes."""
    steps = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    if points == 7:
        steps = [step for step in steps if sum(map(abs, step)) <= 1]
    place = np.arange(side**3, dtype=np.int32)
    x, y, z = place // (side * side), place // side % side, place % side
    columns = np.empty((side**3, len(steps)), np.int32)
    for k, (dx, dy, dz) in enumerate(steps):
        inside = (x + dx >= 0) & (x + dx < side) & (y + dy >= 0) & (y + dy < side) & (z + dz >= 0) & (z + dz < side)
        columns[:, k] = np.where(inside, place + (dx * side + dy) * side + dz, -1)
    there = columns >= 0
    rows = np.repeat(place, there.sum(axis=1))
    return Matrix(f"stencil of {points} points, {side}^3", rows, columns[there], side**3, side**3)


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class CuSparse:
    """The functions of cuSPARSE's C interface that multiply a CSR matrix with a vector."""

    ALGORITHMS = {"default": 0, "CSR_ALG1": 2, "CSR_ALG2": 3}
    INDEX_32, BASE_ZERO, FLOAT_32 = 2, 0, 0

    def __init__(self):
        self.library = ctypes.CDLL(find_cusparse())
        self.handle = ctypes.c_void_p()
        self.call("cusparseCreate", ctypes.byref(self.handle))
        version = ctypes.c_int()
        self.call("cusparseGetVersion", self.handle, ctypes.byref(version))
        self.version = f"{version.value // 1000}.{version.value // 100 % 10}.{version.value % 100}"

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} gives status {status}")

    def product(self, torch, matrix, algorithm):
        """Makes a call that multiplies, after cuSPARSE's preprocessing. ``matrix`` is a DeviceMatrix."""
        a, x, y = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        sizes = [ctypes.c_int64(size) for size in (matrix.num_rows, matrix.num_columns, len(matrix.column))]
        self.call("cusparseCreateCsr", ctypes.byref(a), *sizes, pointer(matrix.offsets), pointer(matrix.column),
                  pointer(matrix.value), self.INDEX_32, self.INDEX_32, self.BASE_ZERO, self.FLOAT_32)  # fmt: skip
        self.call("cusparseCreateDnVec", ctypes.byref(x), sizes[1], pointer(matrix.x), self.FLOAT_32)
        out = torch.empty(matrix.num_rows, device="cuda")
        self.call("cusparseCreateDnVec", ctypes.byref(y), sizes[0], pointer(out), self.FLOAT_32)
        one, zero, bytes_needed = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_size_t()
        arguments = (self.handle, 0, ctypes.byref(one), a, x, ctypes.byref(zero), y, self.FLOAT_32, self.ALGORITHMS[algorithm])
        self.call("cusparseSpMV_bufferSize", *arguments, ctypes.byref(bytes_needed))
        buffer = torch.empty(max(bytes_needed.value, 16), dtype=torch.uint8, device="cuda")
        arguments = (*arguments, pointer(buffer))
        self.call("cusparseSetStream", self.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        if hasattr(self.library, "cusparseSpMV_preprocess"):
            self.call("cusparseSpMV_preprocess", *arguments)
        multiply = self.library.cusparseSpMV

        def call(keep=(one, zero, buffer)):
            if multiply(*arguments) != 0:
                raise RuntimeError("cusparseSpMV fails")
            return out

        return call


def find_cusparse():
    """The library of an installed wheel, or of the system."""
    for package in ("nvidia/cu13", "nvidia/cusparse"):
        for folder in sys.path:
            for path in sorted(glob.glob(os.path.join(folder, package, "lib", "libcusparse.so*"))):
                return path
    return "libcusparse.so.12"


class DeviceMatrix:
    """The matrix and a vector, on the GPU."""

    def __init__(self, torch, matrix):
        self.num_rows, self.num_columns, self.longest = matrix.num_rows, matrix.num_columns, matrix.longest
        self.value, self.column, self.offsets = (
            torch.from_numpy(array).cuda() for array in (matrix.values, matrix.columns, matrix.offsets)
        )
        self.x = torch.rand(matrix.num_columns, device="cuda")

    def is_right(self, torch, found):
        """Compares with sums in f64, within the rounding error of a sum of that many values."""
        lengths = torch.diff(self.offsets).long()
        terms = self.value.double() * self.x.double()[self.column.long()]
        wanted = torch.segment_reduce(terms, "sum", lengths=lengths, axis=0, initial=0)
        bound = 1e-6 * lengths.clamp(min=8).double().sqrt() * wanted + 1e-6  # all terms are positive
        return bool(((found.double() - wanted).abs() <= bound).all())


def segfold_products(sf, matrix, stages):
    """Calls of the plan that segfold chooses, with and without the check of columns; with ``stages``, also one call of each stage."""
    arrays = dict(value=matrix.value, column=matrix.column, x=matrix.x, offsets=matrix.offsets)
    op = sf.standard.spmv.typed("f32")

    def product(**words):
        plan = sf.plan(op, **arrays, backend="cuda", **words)
        out = matrix.value.new_empty(matrix.num_rows)
        return plan, lambda: plan(**arrays, out=out)

    chosen, call = product(longest=matrix.longest)
    yield f"segfold: {chosen.stage}", call
    yield f"segfold, trusted: {chosen.stage}", product(longest=matrix.longest, trust_tables=True)[1]
    blind, call = product(trust_tables=True)
    if blind.stage != chosen.stage:
        yield f"segfold, trusted, blind: {blind.stage}", call
    for stage in stages:
        if stage == chosen.stage:
            continue
        try:
            yield f"  {stage}, trusted", product(trust_tables=True, stage=stage)[1]
        except sf.InputError:
            pass  # the stage cannot serve


def measure(torch, contestants, rounds):
    """Median milliseconds of a call, by name. The queue is filled before the first call of a round begins."""
    taken = {name: [] for name in contestants}
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for number in range(rounds + 2):
        for name, call in contestants.items():
            torch.cuda._sleep(1_000_000)
            begin.record()
            for _ in range(CALLS):
                call()
            end.record()
            end.synchronize()
            if number >= 2:
                taken[name].append(begin.elapsed_time(end) / CALLS)
    return {name: statistics.median(times) for name, times in taken.items()}


def compare(torch, sf, cusparse, matrix, rounds, stages):
    """Prints a matrix's table. Returns False if a result is wrong."""
    on_device = DeviceMatrix(torch, matrix)
    contestants = dict(segfold_products(sf, on_device, stages))
    for algorithm in cusparse.ALGORITHMS:
        contestants[f"cuSPARSE {algorithm}"] = cusparse.product(torch, on_device, algorithm)
    rights = {name: on_device.is_right(torch, call()) for name, call in contestants.items()}
    times = measure(torch, contestants, rounds)
    best = min(time for name, time in times.items() if name.startswith("cuSPARSE"))
    print(f"\n{matrix}\n{'':42} {'ms':>8} {'GB/s':>7} {'x cuSPARSE':>10}")
    for name, time in times.items():
        print(f"{name:42} {time:8.4f} {matrix.bytes_moved / time / 1e6:7.0f} {time / best:10.3f}"
              f"{'' if rights[name] else '  wrong results'}", flush=True)  # fmt: skip
    return all(rights.values())


def matrices(words):
    yield from text_matrices(words.texts, words.megabytes)
    yield stencil(27, words.side)
    yield stencil(7, words.side)


STAGES = ("thread_per_segment", "group_per_segment", "warp_per_segment", "block_per_segment", "warp_stream", "lean_stream",
          "gather_tiles", "tile_scan")  # fmt: skip


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", default=sysconfig.get_paths()["purelib"])
    parser.add_argument("--megabytes", type=int, default=64)
    parser.add_argument("--side", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--stages", action="store_true", help="time the other stages too")
    words = parser.parse_args(arguments)
    if words.megabytes < 1 or words.rounds < 1 or not 2 <= words.side <= 400:
        parser.error("a megabyte and a round are the least, and the side is 2 to 400")
    if importlib.util.find_spec("torch") is None:
        parser.error("torch is not installed, and it brings cuSPARSE along")
    import torch

    if not torch.cuda.is_available():
        parser.error("torch finds no GPU")
    import segfold as sf

    cusparse = CuSparse()
    print(f"{torch.cuda.get_device_name()}, cuSPARSE {cusparse.version}, torch {torch.__version__}, {words.rounds} rounds")
    stages = STAGES if words.stages else ()
    is_right = [compare(torch, sf, cusparse, matrix, words.rounds, stages) for matrix in matrices(words)]
    return 0 if all(is_right) else 1


if __name__ == "__main__":
    sys.exit(main())
