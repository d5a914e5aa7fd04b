"""Folds of rows in Triton, for ``rows_benchmark.py``: a program takes one segment and a block of features, some rows at a time."""

import triton
import triton.language as tl

ROWS = 8  # rows that a program reads at a time


@triton.jit
def fold_rows(x, value, column, offsets, out, num_features: tl.constexpr, rows: tl.constexpr, width: tl.constexpr,
              gathers: tl.constexpr):  # fmt: skip
    segment = tl.program_id(0)
    feature = tl.program_id(1) * width + tl.arange(0, width)
    is_feature = feature < num_features
    begin = tl.load(offsets + segment)
    end = tl.load(offsets + segment + 1)
    total = tl.zeros([rows, width], tl.float32)
    for first in range(begin, end, rows):
        row = first + tl.arange(0, rows)
        place = row.to(tl.int64)
        if gathers:
            place = tl.load(column + row, mask=row < end, other=0).to(tl.int64)
        mask = (row < end)[:, None] & is_feature[None, :]
        part = tl.load(x + place[:, None] * num_features + feature[None, :], mask=mask, other=0).to(tl.float32)
        if gathers:
            part *= tl.load(value + row, mask=row < end, other=0)[:, None]
        total += part
    tl.store(out + segment.to(tl.int64) * num_features + feature, tl.sum(total, axis=0), mask=is_feature)


@triton.jit
def softmax_rows(x, offsets, out, num_features: tl.constexpr, rows: tl.constexpr, width: tl.constexpr):
    segment = tl.program_id(0)
    feature = tl.program_id(1) * width + tl.arange(0, width)
    is_feature = feature < num_features
    begin = tl.load(offsets + segment)
    end = tl.load(offsets + segment + 1)
    top = tl.full([width], float("-inf"), tl.float32)
    total = tl.zeros([width], tl.float32)
    for first in range(begin, end, rows):
        row = first + tl.arange(0, rows)
        mask = (row < end)[:, None] & is_feature[None, :]
        part = tl.load(x + row.to(tl.int64)[:, None] * num_features + feature[None, :], mask=mask, other=float("-inf"))
        higher = tl.maximum(top, tl.max(part, axis=0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(part - higher[None, :]), axis=0)
        top = higher
    for first in range(begin, end, rows):
        row = first + tl.arange(0, rows)
        mask = (row < end)[:, None] & is_feature[None, :]
        place = row.to(tl.int64)[:, None] * num_features + feature[None, :]
        part = tl.load(x + place, mask=mask, other=0)
        tl.store(out + place, tl.exp(part - top[None, :]) / total[None, :], mask=mask)


def call(torch, work):
    """A call that computes a ``Work`` of ``rows_benchmark.py``."""
    width = min(triton.next_power_of_2(work.num_features), 128)
    grid = (work.num_segments, triton.cdiv(work.num_features, width))
    words = dict(num_features=work.num_features, rows=ROWS if work.name != "softmax" else 32, width=width, num_warps=1)
    if work.name == "softmax":
        out = torch.empty_like(work.x)

        def compute():
            softmax_rows[grid](work.x, work.narrow_offsets, out, **words)
            return out

    else:
        out = torch.empty(work.num_segments, work.num_features, device="cuda")

        def compute():
            fold_rows[grid](work.x, work.value, work.column, work.narrow_offsets, out, gathers=work.gathers, **words)
            return out

    return compute
