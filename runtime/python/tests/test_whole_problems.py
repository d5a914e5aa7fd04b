"""Whole problems by lot, against loops of Python that know nothing of the language: products of operators that are associative
by construction and mostly do not commute, over columns of any integer type, segments of any form, and any stage. Where there is a GPU,
that folds them too; SEGFOLD_WHOLE_PROBLEMS=200 tries more than six."""

import itertools
import os
import random
import warnings

import numpy as np
import pytest

import segfold as sf

TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
STAGES = ("thread_per_segment", "warp_per_segment", "group_per_segment", "block_per_segment", "tile_scan",
          "warp_stream", "lean_stream", "gather_tiles", "run_stream", "run_tiles", "grid_reduce", "pairs_cascade", "tree_last_block", None)
BORDERS = (0, 0, 1, 1, 2, 3, 7, 31, 32, 33, 64, 127, 128, 129, 255, 256, 257, 600, 1025)


def dtype_of(name):
    return np.dtype({"i": "int", "u": "uint"}[name[0]] + name[1:])


def wrap(name, value):
    bits = int(name[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if name[0] == "i" and value >> (bits - 1) else value


# A piece of an operator: fields of the state as (name, type, identity, lift, combine), and what a loop over the values of a column makes
# of them. {x} is the column; {t} a type by lot, into which values are converted.


def affine(t):
    def loop(values):
        slope, shift = 1, 0
        for x in values:
            slope, shift = wrap(t, slope * (2 * x + 1)), wrap(t, (2 * x + 1) * shift + x)
        return slope, shift
    return [("slope", t, "1", "{t}({x}) * 2 + 1", "b.slope * a.slope"), ("shift", t, "0", "{t}({x})", "b.slope * a.shift + b.shift")], loop


def last_bytes(_):
    def loop(values):
        word = 0
        for x in values:
            word = (word << 8 | x & 255) & (1 << 64) - 1
        return min(len(values), 8), word
    return [("count", "i8", "0", "1", "min(i8(8), a.count + b.count)"),
            ("word", "u64", "0", "u64({x}) & 255", "b.count >= 8 ? b.word : a.word << u64(b.count) * 8 | b.word")], loop


def transitions(_):
    def loop(values):
        places = [0, 1, 2, 3]
        for x in values:
            places = [(x & 255) >> 2 * place & 3 for place in places]
        return (sum(place << 2 * k for k, place in enumerate(places)),)
    after = " | ".join(f"(b.map >> 2 * (a.map >> {2 * k} & 3) & 3) << {2 * k}" for k in range(4))
    return [("map", "u8", "228", "u8({x})", after)], loop


def runs(t):
    def loop(values):
        return (wrap("u16", sum(k == 0 or values[k - 1] != x for k, x in enumerate(values))),
                values[0] if values else 0, values[-1] if values else 0, bool(values))
    return [("runs", "u16", "0", "1", "a.runs + b.runs - (a.any && b.any && a.last == b.first ? 1 : 0)"),
            ("first", t, "0", "{t}({x})", "a.any ? a.first : b.first"), ("last", t, "0", "{t}({x})", "b.any ? b.last : a.last"),
            ("any", "bool", "false", "true", "a.any || b.any")], loop


def brackets(_):
    def loop(values):
        closed = opened = 0
        for x in values:
            met = min(opened, x & 1)
            closed, opened = closed + (x & 1) - met, opened - met + (x >> 1 & 3)
        return closed, opened
    return [("closed", "i32", "0", "i32(u8({x}) & 1)", "a.closed + b.closed - min(a.opened, b.closed)"),
            ("opened", "i32", "0", "i32(u8({x}) >> 1 & 3)", "a.opened + b.opened - min(a.opened, b.closed)")], loop


def sums_since(t):
    def loop(values):
        total, is_reset = 0, False
        for x in values:
            total, is_reset = (x, True) if x & 7 == 0 else (wrap(t, total + x), is_reset)
        return total, is_reset
    return [("total", t, "0", "{t}({x})", "b.reset ? b.total : a.total + b.total"),
            ("reset", "bool", "false", "(u8({x}) & 7) == 0", "a.reset || b.reset")], loop


def top_two(t):
    least = wrap(t, 1 << int(t[1:]) - 1) if t[0] == "i" else 0
    return [("top", t, "lowest({t})", "{t}({x})", "max(a.top, b.top)"),
            ("next", t, "lowest({t})", "lowest({t})", "max(min(a.top, b.top), max(a.next, b.next))")
            ], lambda values: tuple(sorted([least, least, *values])[:-3:-1])


PIECES = (affine, last_bytes, transitions, runs, brackets, sums_since, top_two)


class Problem:
    def __init__(self, lot):
        self.columns = [lot.choice(TYPES) for _ in range(lot.randint(1, 2))]
        self.parts = []
        fields = []
        for number in range(lot.randint(1, 3)):
            column, t = lot.randrange(len(self.columns)), lot.choice(TYPES)
            made, loop = lot.choice(PIECES)(t)
            self.parts.append((column, t, loop))
            for name, of, identity, lift, combine in made:
                for other, *_ in made:
                    combine = combine.replace(f"a.{other}", f"a.@{other}{number}").replace(f"b.{other}", f"b.@{other}{number}")
                fields.append((f"{name}{number}", of, identity.format(t=t), lift.format(t=t, x=f"x{column}"), combine.replace("@", "")))
        self.has_identity = lot.random() < 0.7
        state, lift, combine = ("; ".join(each) for each in (
            [f"{name}: {of}" + (f" = {identity}" if self.has_identity else "") for name, of, identity, *_ in fields],
            [f"{name} = {value}" for name, _, _, value, _ in fields], [f"{name} = {value}" for name, *_, value in fields]))
        self.num_fields = len(fields)
        self.text = (f"operator whole({', '.join(f'x{k}: {of}' for k, of in enumerate(self.columns))}) {{\n"
                     f"  state {{ {state} }}\n  lift {{ {lift} }}\n  combine(a, b) {{ {combine} }}\n}}\n")

    def expected(self, arrays, segments):
        values = [array.tolist() for array in arrays]
        rows = [[found for column, t, loop in self.parts for found in loop([wrap(t, x) for x in values[column][begin:end]])]
                for begin, end in segments]
        return [[row[k] for row in rows] for k in range(self.num_fields)]


def lengths_by_lot(lot, has_empty):
    lengths = [lot.choice(BORDERS) for _ in range(lot.randint(0, 12))]
    lengths += [lot.choice((0, 1))] * lot.choice((0, 0, 40, 300)) + [lot.choice(BORDERS)]
    return [length for length in lengths if length or has_empty]


def segments_by_lot(lot, lengths):
    """The words of a call, begins and ends, and how many elements there are."""
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    n, segments = int(offsets[-1]), list(zip(offsets[:-1].tolist(), offsets[1:].tolist()))
    index = dtype_of(lot.choice([t for t in TYPES if np.iinfo(dtype_of(t)).max >= n + 20]))
    form = lot.choice(["offsets", "offsets", "lengths", "ranges"] + (["flags", "keys"] * 2 if n and 0 not in lengths else []))
    if form == "offsets":
        return {form: offsets.astype(index)}, segments, n
    if form == "lengths":
        return {form: np.array(lengths, index)}, segments, n
    if form == "ranges":
        begins = [lot.randint(0, n + 20 - length) for length in lengths]
        segments = [(begin, begin + length) for begin, length in zip(begins, lengths)]
        return {form: tuple(np.array([segment[k] for segment in segments], index) for k in (0, 1))}, segments, n + 20
    if form == "flags":
        flags = np.zeros(n, lot.choice((np.bool_, np.int8, np.uint64)))
        flags[offsets[:-1]] = 1
        return {form: flags}, segments, n
    keys = (np.arange(len(lengths)) % 2 * lot.randint(1, 100)).astype(dtype_of(lot.choice(TYPES)))
    return {form: np.repeat(keys, lengths)}, segments, n


def numbers_by_lot(lot, name, n):
    low, high = np.iinfo(dtype_of(name)).min, np.iinfo(dtype_of(name)).max
    values = [lot.choice((lot.randint(low, high), lot.randint(0, 3), low, high)) for _ in range(n)]
    begin = lot.randint(0, 3)  # arrays begin anywhere in a vector
    return np.array([0] * begin + values, dtype_of(name))[begin:]


def agree(found, words, segments, expected):
    fields = dict(zip(found._fields, found)) if isinstance(found, tuple) else {"result": found}
    if "keys" in words:
        np.testing.assert_array_equal(fields.pop("keys"), words["keys"][[begin for begin, _ in segments]])
    assert len(fields) == len(expected)
    for (name, array), values in zip(fields.items(), expected):
        np.testing.assert_array_equal(array, np.array(values, array.dtype), name)


@pytest.mark.parametrize("seed", range(int(os.environ.get("SEGFOLD_WHOLE_PROBLEMS", "6"))))
def test_whole_problems_are_folded_as_loops_fold_them(seed):
    lot = random.Random(f"{os.environ.get('SEGFOLD_TEST_DRAW', '')} {seed}")
    problem = Problem(lot)
    op = sf.operator(problem.text)
    assert sf.operator(op.text).text == op.text
    report = sf.check(op, seconds=0.1, prove=0.2)
    assert all(report), f"{report}\n{problem.text}"
    words, segments, n = segments_by_lot(lot, lengths_by_lot(lot, problem.has_identity))
    arrays = [numbers_by_lot(lot, name, n) for name in problem.columns]
    expected = problem.expected(arrays, segments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sf.FoldWarning)
        agree(op(*arrays, **words, backend="reference"), words, segments, expected)
        backends = ("simt", "cuda") if sf.devices() else ("simt",)
        for backend, stage in itertools.product(backends, lot.sample(STAGES, 4)):
            try:
                plan = sf.plan(op, *arrays, **words, backend=backend, stage=stage)
            except sf.InputError:  # a stage that takes other forms, or smaller states
                continue
            agree(plan(*arrays, **words), words, segments, expected)
        if n and "ranges" not in words:
            parts = list(sf.stream(op, *arrays, **words, memory=1 << 17, backend="simt"))
            is_tuple = isinstance(parts[0], tuple)
            joined = type(parts[0])(*map(np.concatenate, zip(*parts))) if is_tuple else np.concatenate(parts)
            agree(joined, words, segments, expected)
