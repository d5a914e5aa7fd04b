"""Folds inside torch's graphs: an operator of ``torch.library`` that ``torch.compile`` keeps whole, with gradients.

``segfold.torch.fold(op, x, offsets=o)`` returns the results of ``op(x, offsets=o)``, with gradients. ``segfold.torch.function(op)`` is
the same fold as a function of tensors alone, for code that ``torch.compile`` compiles. Elsewhere, ``op(x, offsets=o)`` costs less.
"""

import functools

import torch as _torch
from torch.autograd.forward_ad import unpack_dual as _unpack_dual

from . import _segfold
from ._functional import arrays_given, facts, gradient_by_steps, operator_of_text, segments_given
from ._gradient import _gradient

__all__ = ["fold", "function"]

_LAYOUTS = ("offsets", "lengths", "keys", "flags", "ranges")
_DTYPES = {
    "bool": _torch.bool, "i8": _torch.int8, "i16": _torch.int16, "i32": _torch.int32, "i64": _torch.int64,
    "u8": _torch.uint8, "f16": _torch.float16, "bf16": _torch.bfloat16, "f32": _torch.float32, "f64": _torch.float64,
    "u16": getattr(_torch, "uint16", None), "u32": getattr(_torch, "uint32", None), "u64": getattr(_torch, "uint64", None),
}  # fmt: skip


def _require_tensor(value, name):
    if not isinstance(value, _torch.Tensor):
        raise _segfold.InputError(f"'{name}' is a {type(value).__name__}, and a tensor is needed; give torch.as_tensor({name})")


def _require_one_column(keys):
    if isinstance(keys, (tuple, list)):
        given, rows = f"are a {type(keys).__name__}", "torch.stack(keys, 1)"
    elif isinstance(keys, _torch.Tensor) and keys.ndim == 2:
        given, rows = f"have shape {tuple(keys.shape)}", "keys"
    else:
        return
    raise _segfold.InputError(
        f"'keys' {given}, and one key for each element is needed here; give torch.unique({rows}, dim=0, return_inverse=True)[1]"
    )


@functools.lru_cache(maxsize=None)
def function(op):
    """The operator as a function of tensors, which ``torch.compile`` keeps in one graph; see :func:`fold`."""
    if not isinstance(op, _segfold.Operator):
        raise TypeError(f"an operator is needed, as sf.standard.sum, and {op!r} is given")
    parameters = tuple(name for name, _, _ in op.parameters)
    scalars = tuple((i, _DTYPES.get(type)) for i, (name, type, _) in enumerate(op.parameters) if name in op.scalars)
    places = [i for i, name in enumerate(parameters) if name not in op.scalars]
    open_places = tuple(i for i in places if op.parameters[i][1] == "T")
    by_dtype = {_DTYPES[type]: facts(op.typed(type)) for type in op.types if _DTYPES[type] is not None}
    fixed = None if op.is_generic else facts(op)
    signature, op_name = op.signature, op.name

    def folded(*columns, offsets=None, lengths=None, keys=None, flags=None, ranges=None, uniform=None, **named):
        if "sort_keys" in named:
            raise TypeError("segfold.torch.fold takes no sort_keys=; order = torch.argsort(keys, stable=True) sorts, and columns[order] have gradients")
        arrays = arrays_given(parameters, op_name, signature, columns, named)
        layout, segments = segments_given(tuple(zip(_LAYOUTS, (offsets, lengths, keys, flags, ranges))), uniform)
        if layout == "keys":
            _require_one_column(keys)
        for value in segments:
            _require_tensor(value, layout)
        for i in places:
            _require_tensor(arrays[i], parameters[i])
        model = arrays[(open_places or places)[0]]
        for i, dtype in scalars:
            if not isinstance(arrays[i], _torch.Tensor):
                wanted = dtype or model.dtype
                if isinstance(arrays[i], float) and not wanted.is_floating_point:  # new_full would truncate it
                    raise _segfold.InputError(f"'{parameters[i]}' is {arrays[i]!r}, and the operator takes a value of {wanted} there")
                arrays[i] = model.new_full((1,), arrays[i], dtype=wanted)
        known = fixed or by_dtype.get(arrays[open_places[0]].dtype)
        if known is None:
            listed = ", ".join(str(dtype) for dtype in by_dtype)
            raise _segfold.InputError(f"'{parameters[open_places[0]]}' is {arrays[open_places[0]].dtype}; {op_name} takes {listed}")
        if not _torch.compiler.is_compiling() and any(_unpack_dual(array).tangent is not None for array in arrays):
            raise RuntimeError(f"operator {op_name} has no derivative of forward mode here; gradients are those of backward()")
        text, plain, with_keys, count = known
        results = _torch.ops.segfold.fold(text, arrays, layout, segments, uniform or 0)
        if layout == "keys":
            return with_keys(*results)
        return results[0] if count == 1 else plain(*results)

    folded.__name__ = folded.__qualname__ = op_name
    folded.__doc__ = f"Folds tensors by {signature}; see segfold.torch.fold."
    return folded


def fold(op, *columns, **words):
    """Folds tensors like ``op(*columns, ...)``. Columns are given by position or by name, segments by any argument of a call.

    Returns a tensor, or a named tuple of tensors. Gradients are those of :func:`segfold.gradient`, whose operators run in
    ``backward()``; these have gradients too. Sums of a column or of a product of two also have gradients by a column
    of numbers beside rows, summed over the features. Raises the errors of the call, and RuntimeError with the reason for a
    gradient that is not made, as by a table that is not read at ``[segment]``, in forward mode.
    ``torch.func.vmap`` folds the entries of a batch in turn.
    """
    return function(op)(*columns, **words)


@_torch.library.custom_op(
    "segfold::fold",
    mutates_args=(),
    schema="(str text, Tensor[] arrays, str layout, Tensor[] segments, SymInt uniform) -> Tensor[]",
)
def _fold(text, arrays, layout, segments, uniform):
    words = {}
    if layout == "uniform":
        words["uniform"] = int(uniform)
    elif layout == "ranges":
        words["ranges"] = tuple(segments)
    elif layout != "whole":
        words[layout] = segments[0]
    results = operator_of_text(text)(*(array.detach() for array in arrays), **words)
    return list(results) if isinstance(results, tuple) else [results]


@_fold.register_fake
def _(text, arrays, layout, segments, uniform):
    op = operator_of_text(text)
    column = next(
        array for array, (name, _, is_table) in zip(arrays, op.parameters) if not is_table and name not in op.scalars
    )
    if layout == "whole":
        length = 1
    elif layout == "uniform":
        length = column.shape[0] // uniform
    elif layout == "offsets":
        length = segments[0].shape[0] - 1
    elif layout in ("lengths", "ranges"):
        length = segments[0].shape[0]
    else:  # known only after the fold
        length = _torch.library.get_ctx().new_dynamic_size()
    row = [array.shape[1] for array, (name, _, _) in zip(arrays, op.parameters) if name in op.rows][:1]
    results = [
        column.new_empty((column.shape[0] if name in op.outputs else length, *row), dtype=_DTYPES[type]) for name, type in op.results
    ]
    if layout == "keys":
        results.insert(0, segments[0].new_empty((length,)))
    return results


def _setup(ctx, inputs, output):
    text, arrays, layout, segments, uniform = inputs
    ctx.text, ctx.layout, ctx.uniform, ctx.num_arrays = text, layout, uniform, len(arrays)
    ctx.save_for_backward(*arrays, *segments)


def _backward(ctx, gradients):
    op = operator_of_text(ctx.text)
    factors = _segfold.factors_of_sum(op)
    saved = ctx.saved_tensors  # read once: torch.utils.checkpoint allows no second read
    arrays, segments = saved[: ctx.num_arrays], saved[ctx.num_arrays :]
    if factors is None or ctx.layout == "ranges":
        return None, _by_operators(ctx, op, gradients, arrays, segments), None, [None] * len(segments), None
    names = [name for name, _, _ in op.parameters]
    num_elements = arrays[names.index(factors[0])].shape[0]
    of_each = _spread(gradients[-1], num_elements, ctx.layout, segments, ctx.uniform)
    found = [None] * len(arrays)
    for i, name in enumerate(factors):
        others = [arrays[names.index(other)] for j, other in enumerate(factors) if j != i]
        part = of_each
        for other in others:  # a number beside rows applies to every feature
            part = part * (other if other.dim() == part.dim() else other.unsqueeze(1))
        at = names.index(name)
        if arrays[at].dim() < part.dim():
            part = part.sum(1)
        found[at] = part if found[at] is None else found[at] + part
    return None, found, None, [None] * len(segments), None


def _by_operators(ctx, op, gradients, arrays, segments):
    """The gradients by all arrays that need one, by the operators of each."""
    results = [name for name, _ in op.results]
    of_results = dict(zip(results, gradients[-len(results) :]))
    contiguous = {name: gradient.contiguous() for name, gradient in of_results.items() if gradient is not None}

    def run(step, parts):
        return _torch.ops.segfold.fold(step._origin()[1], parts, ctx.layout, list(segments), ctx.uniform)

    found = [None] * len(arrays)
    for at, (name, _, is_table) in enumerate(op.parameters):
        if not ctx.needs_input_grad[1][at]:
            continue
        try:
            if _segfold.has_zero_gradient(op, name):
                continue
            made = _gradient(op, name)
        except _segfold.InputError as error:
            raise RuntimeError(str(error)) from error
        gradient = gradient_by_steps(made, op, arrays, contiguous, run)
        if is_table and name not in op.scalars and len(gradient) < len(arrays[at]):  # entries behind those of the segments are not read
            gradient = _torch.cat([gradient, gradient.new_zeros(len(arrays[at]) - len(gradient), *gradient.shape[1:])])
        found[at] = gradient
    return found


def _spread(gradient, num_elements, layout, segments, uniform):
    """The gradient of each element: its segment's gradient, or a row of it if rows are summed."""
    if layout == "whole":
        return gradient.expand(num_elements, *gradient.shape[1:])
    if layout == "uniform":
        return gradient.repeat_interleave(uniform, dim=0, output_size=num_elements)
    if layout == "offsets":
        return gradient.repeat_interleave(segments[0].long().diff(), dim=0, output_size=num_elements)
    if layout == "lengths":
        return gradient.repeat_interleave(segments[0].long(), dim=0, output_size=num_elements)
    if layout == "flags":
        begins = segments[0] != 0
    else:
        keys = segments[0]
        if keys.is_floating_point():  # keys are equal if their bits are
            keys = keys.view({2: _torch.int16, 4: _torch.int32, 8: _torch.int64}[keys.element_size()])
        begins = _torch.ones_like(keys, dtype=_torch.bool)
        begins[1:] = keys[1:] != keys[:-1]
    if num_elements > 0:
        begins = begins.clone()
        begins[0] = True
    return gradient[begins.cumsum(0) - 1]


def _fold_of_batch(info, in_dims, text, arrays, layout, segments, uniform):
    """Folds the entries of a batch in turn. torch.func.vmap calls this."""
    _, dims_of_arrays, _, dims_of_segments, _ = in_dims

    def entries(tensors, dims, at):
        return [tensor if dim is None else tensor.select(dim, at).contiguous() for tensor, dim in zip(tensors, dims)]

    found = [
        _torch.ops.segfold.fold(text, entries(arrays, dims_of_arrays, at), layout, entries(segments, dims_of_segments, at), uniform)
        for at in range(info.batch_size)
    ]
    if len({result.shape for results in found for result in results[-1:]}) > 1:
        raise RuntimeError(f"{layout} mark other numbers of segments in the entries of a batch, whose results torch.func.vmap cannot join")
    return [_torch.stack(results) for results in zip(*found)], [0] * len(found[0])


_fold.register_autograd(_backward, setup_context=_setup)
if hasattr(_fold, "register_vmap"):  # since torch 2.5
    _fold.register_vmap(_fold_of_batch)
