"""Folds of rows of K features on a GPU: ``segfold bench`` beside what PyTorch, cuSPARSE and Triton have, on the same segments.

    python rows_benchmark.py [--program SEGFOLD] [--works NAME,...] [--features K,...] [--layouts NAME,...] [--log2 N] [--rounds R]

Works are sums of f32 rows, of bf16 rows into f32, of f32 or bf16 rows that are gathered from a table of n rows and weighted (SpMM), and softmax;
n * K is about 2^N (28). Layouts are ``equal`` (32 rows each), ``geometric`` (of mean 32) and ``zipf`` (P(length >= l) = l^-0.9, cut at n / 8).
Offsets and columns are made here and given to all; values are random, each program's own. Printed are medians and quartiles in ms of R
rounds (9), and the compulsory bytes in that time as a share of the read rate that ``segfold bench`` measures; a row counts each time
that it is gathered. Results of peers are compared with sums in f64: a relative
difference in the 2-norm above 2e-5 (f32) or 6e-3 (bf16) is shown as wrong. Those of segfold are held against its reference; where they
differ the exit code is 1. It needs torch; Triton and cuSPARSE come along with it.
"""

import argparse
import ctypes
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

OPERATORS = {
    "sum": "operator sum_rows(x: row f32) -> f32 { state sum: f32 = 0 lift x combine(a, b) a + b laws commutative }",
    "sum_bf16": "operator sum_rows(x: row bf16) -> f32 { state sum: f32 = 0 lift f32(x) combine(a, b) a + b laws commutative }",
    "gather": "operator spmm(value: f32, column: i32, x: table row f32) -> f32 "
    "{ state sum: f32 = 0 lift value * x[column] combine(a, b) a + b laws commutative }",
    "gather_bf16": "operator spmm(value: f32, column: i32, x: table row bf16) -> f32 "
    "{ state sum: f32 = 0 lift value * f32(x[column]) combine(a, b) a + b laws commutative }",
    "softmax": """operator softmax_rows(x: row f32) -> each f32 {
  state { greatest: f32 = -inf; sum: f32 = 0 }
  lift { greatest = isnan(x) ? -inf : x; sum = isnan(x) ? nan : 1 }
  combine(a, b) {
    let ahead = b.greatest - a.greatest;
    let scale = exp(min(ahead > 0 ? -ahead : ahead, 0));
    greatest = max(a.greatest, b.greatest);
    sum = ahead > 0 ? a.sum * scale + b.sum : a.sum + b.sum * scale
  }
  map { let share = 1 / sum; result = exp(x - greatest) * share }
  laws commutative
}""",
}
LAYOUTS = ("equal", "geometric", "zipf")


def lengths_of(layout, num_rows, seed=7):
    """Lengths of segments that add up to ``num_rows``; empty ones are among those of ``geometric``."""
    random = np.random.default_rng(seed)
    if layout == "equal":
        return np.full(num_rows // 32, 32, np.int64)
    lengths = np.empty(0, np.int64)
    while lengths.sum() < num_rows:
        if layout == "geometric":
            more = random.geometric(1 / 33, num_rows // 32 + 16) - 1
        else:
            more = np.minimum(random.random(num_rows // 8 + 16) ** (-1 / 0.9), max(num_rows // 8, 1)).astype(np.int64)
        lengths = np.concatenate([lengths, more])
    ends = np.minimum(np.cumsum(lengths), num_rows)
    count = int(np.searchsorted(ends, num_rows)) + 1
    return np.diff(ends[:count], prepend=0)


def columns_of(num_rows):
    return np.random.default_rng(3).integers(0, num_rows, num_rows, dtype=np.int32)


class Work:
    """The arrays of one problem on the GPU, and results in f64 to compare with."""

    def __init__(self, torch, name, lengths, num_features):
        self.torch, self.name, self.num_features = torch, name, num_features
        self.num_rows, self.num_segments = int(lengths.sum()), len(lengths)
        self.lengths = torch.from_numpy(lengths).cuda()
        self.offsets = torch.cat([self.lengths.new_zeros(1), self.lengths.cumsum(0)])
        self.narrow_offsets = self.offsets.int()
        self.segments = torch.repeat_interleave(torch.arange(self.num_segments, device="cuda"), self.lengths)
        self.gathers = name.startswith("gather")
        dtype = torch.bfloat16 if name.endswith("bf16") else torch.float32
        self.x = torch.randn(self.num_rows, num_features, device="cuda", dtype=dtype)
        self.column = torch.from_numpy(columns_of(self.num_rows)).cuda()
        self.value = torch.rand(self.num_rows, device="cuda")

    def is_right(self, found):
        wanted = self.wanted()
        error = (found.double() - wanted).norm() / wanted.norm()
        return bool(error <= (6e-3 if self.name.endswith("bf16") else 2e-5))

    def wanted(self):
        """The right results in f64, computed a few features at a time."""
        torch, parts = self.torch, []
        for first in range(0, self.num_features, 8):
            part = self.x[:, first : first + 8].double()
            if self.gathers:
                part = part[self.column.long()] * self.value.double()[:, None]
            if self.name == "softmax":
                part = part.exp()
            sums = part.new_zeros(self.num_segments, part.shape[1]).index_add_(0, self.segments, part)
            parts.append(part / sums[self.segments] if self.name == "softmax" else sums)
        return torch.cat(parts, dim=1)


def torch_peers(torch, work):
    """Calls of PyTorch's own functions, by name."""
    x, segments = work.x, work.segments
    zeros = (work.num_segments, work.num_features)

    def reduce(values, how):
        return torch.segment_reduce(values, how, offsets=work.offsets, axis=0, initial=0 if how == "sum" else -torch.inf)

    if work.name == "softmax":

        def composed():
            powers = (x - reduce(x, "max")[segments]).exp()
            return powers / reduce(powers, "sum")[segments]

        def scattered():
            places = segments[:, None].expand_as(x)
            top = x.new_full(zeros, -torch.inf).scatter_reduce(0, places, x, "amax")
            powers = (x - top[segments]).exp()
            return powers / x.new_zeros(zeros).index_add_(0, segments, powers)[segments]

        return {"torch segment_reduce, composed": composed, "torch scatter_reduce, composed": scattered}
    bag = torch.nn.functional.embedding_bag
    if work.gathers:
        words = dict(mode="sum", include_last_offset=True, per_sample_weights=work.value.to(x.dtype))
        return {"torch embedding_bag": lambda: bag(work.column, x, work.narrow_offsets, **words)}
    places = torch.arange(work.num_rows, device="cuda", dtype=torch.int32)
    return {
        "torch segment_reduce": lambda: reduce(x, "sum"),
        "torch embedding_bag": lambda: bag(places, x, work.narrow_offsets, mode="sum", include_last_offset=True),
        "torch index_add": lambda: x.new_zeros(zeros).index_add_(0, segments, x),
    }


def cusparse_peers(torch, work):
    """The product of a CSR matrix (the segments) and the rows by cuSPARSE, after its preprocessing."""
    if work.name == "softmax":
        return {}
    path = pathlib.Path(__file__).with_name("spmv_benchmark.py")
    spec = importlib.util.spec_from_file_location("spmv_benchmark", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    library = module.CuSparse()
    if work.gathers:
        value, column = work.value.to(work.x.dtype), work.column
    else:
        value = torch.ones(work.num_rows, device="cuda", dtype=work.x.dtype)
        column = torch.arange(work.num_rows, device="cuda", dtype=torch.int32)
    kinds = {torch.float32: 0, torch.bfloat16: 14}  # CUDA_R_32F, CUDA_R_16BF
    by_rows, wide = 2, ctypes.c_int64
    pointer = module.pointer

    def product(algorithm):
        a, b, c = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        out = torch.empty(work.num_segments, work.num_features, device="cuda")
        library.call("cusparseCreateCsr", ctypes.byref(a), wide(work.num_segments), wide(work.num_rows), wide(work.num_rows),
                     pointer(work.narrow_offsets), pointer(column), pointer(value), library.INDEX_32, library.INDEX_32,
                     library.BASE_ZERO, kinds[value.dtype])  # fmt: skip
        for matrix, of in ((b, work.x), (c, out)):
            library.call("cusparseCreateDnMat", ctypes.byref(matrix), wide(of.shape[0]), wide(of.shape[1]), wide(of.shape[1]),
                         pointer(of), kinds[of.dtype], by_rows)  # fmt: skip
        one, zero, bytes_needed = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_size_t()
        arguments = (library.handle, 0, 0, ctypes.byref(one), a, b, ctypes.byref(zero), c, library.FLOAT_32, algorithm)
        library.call("cusparseSpMM_bufferSize", *arguments, ctypes.byref(bytes_needed))
        buffer = torch.empty(max(bytes_needed.value, 16), dtype=torch.uint8, device="cuda")
        arguments = (*arguments, pointer(buffer))
        library.call("cusparseSetStream", library.handle, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
        library.call("cusparseSpMM_preprocess", *arguments)

        def call(keep=(one, zero, buffer, value, column)):
            library.call("cusparseSpMM", *arguments)
            return out

        return call

    return {f"cuSPARSE SpMM {name}": product(number) for name, number in (("CSR_ALG2", 6), ("CSR_ALG3", 12))}


def triton_peers(torch, work):
    """A Triton program for each segment and block of features, the usual way to write such kernels."""
    if importlib.util.find_spec("triton") is None:
        print("triton is not installed")
        return {}
    path = pathlib.Path(__file__).with_name("rows_in_triton.py")
    spec = importlib.util.spec_from_file_location("rows_in_triton", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"Triton": module.call(torch, work)}


def measure(torch, call, rounds):
    """Quartiles of the milliseconds of a call, after two untimed calls. A slow call is timed once."""
    taken = []
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    for _ in range(rounds + 2):
        begin.record()
        call()
        end.record()
        end.synchronize()
        taken.append(begin.elapsed_time(end))
        if len(taken) > 1 and taken[-1] > 50:
            return [taken[-1]] * 3
    return np.percentile(taken[2:], [25, 50, 75])


def bench(words, name, offsets, num_features):
    """Runs ``segfold bench``. Returns its JSON document, and the entry of the plan that a run takes."""
    with tempfile.TemporaryDirectory() as folder:
        operator, file = os.path.join(folder, "operator.seg"), os.path.join(folder, "offsets.npy")
        pathlib.Path(operator).write_text(OPERATORS[name])
        np.save(file, offsets.astype(np.int32))
        columns = []
        if name.startswith("gather"):
            columns = ["--input", "column=" + os.path.join(folder, "column.npy")]
            np.save(os.path.join(folder, "column.npy"), columns_of(int(offsets[-1])))
        command = [words.program, "bench", operator, "--layout", f"offsets={file}", "--features", str(num_features), "--peers", "none",
                   "--backend", "cuda", "--json", "--repeat", str(words.rounds), *columns]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
    document = json.loads(done.stdout)
    if "workloads" not in document:
        raise SystemExit(document["message"])
    entries = document["workloads"][0]["entries"]
    return document, next(entry for entry in entries if entry["chosen"])


def compare(torch, words, name, layout, num_features):
    """Prints the table of one problem. Returns False if segfold's results are wrong."""
    lengths = lengths_of(layout, 2**words.log2 // num_features // 32 * 32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    document, chosen = bench(words, name, offsets, num_features)
    ceiling = document["machine"]["ceiling_bytes_per_second"]
    num_bytes = sum(document["workloads"][0]["bytes"][part] for part in ("columns", "layout", "results"))
    if name.startswith("gather"):
        num_bytes += int(lengths.sum()) * num_features * (2 if name.endswith("bf16") else 4)
    is_right = chosen["agreement"]["agrees"]
    print(f"\n{name}, K = {num_features}, {layout}: {int(lengths.sum())} rows, {len(lengths)} segments, {lengths.max()} in the longest")
    print(f"{document['machine']['driver']}, {document['machine']['compiler']}, read rate {ceiling / 1e9:.0f} GB/s")
    quartiles = [chosen["milliseconds"][which] for which in ("low", "median", "high")]
    rows = [(f"segfold: {chosen['name']}", quartiles, is_right)]
    work = Work(torch, name, lengths, num_features)
    for peers in (torch_peers, cusparse_peers, triton_peers):
        try:
            calls = peers(torch, work)
        except (RuntimeError, OSError) as error:
            print(f"{peers.__name__}: {error}")
            continue
        for peer, call in calls.items():
            try:
                rows.append((peer, measure(torch, call, words.rounds), work.is_right(call())))
            except RuntimeError as error:
                print(f"{peer}: {str(error).splitlines()[0]}")
    for peer, (low, time, high), right in rows:
        share = num_bytes / time / 1e-3 / ceiling
        print(f"{peer:38} {time:9.4f} ms ({low:.4f} - {high:.4f}) {share:7.3f}{'' if right else '  wrong results'}", flush=True)
    return is_right


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="./segfold")
    parser.add_argument("--works", default=",".join(OPERATORS))
    parser.add_argument("--features", default="8,64,256")
    parser.add_argument("--layouts", default=",".join(LAYOUTS))
    parser.add_argument("--log2", type=int, default=28)
    parser.add_argument("--rounds", type=int, default=9)
    words = parser.parse_args(arguments)
    for given, known in ((words.works, OPERATORS), (words.layouts, LAYOUTS)):
        if not set(given.split(",")) <= set(known):
            parser.error(f"{given} is not among {', '.join(known)}")
    if words.rounds < 1 or not 12 <= words.log2 <= 32:
        parser.error("a round is the least, and --log2 is 12 to 32")
    if importlib.util.find_spec("torch") is None:
        parser.error("torch is not installed")
    import torch

    if not torch.cuda.is_available():
        parser.error("torch finds no GPU")
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {words.rounds} rounds")
    is_right = [
        compare(torch, words, name, layout, int(num_features))
        for name in words.works.split(",")
        for num_features in words.features.split(",")
        for layout in words.layouts.split(",")
    ]
    return 0 if all(is_right) else 1


if __name__ == "__main__":
    sys.exit(main())
