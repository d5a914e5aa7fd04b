"""Folds inside torch graphs, with gradients.

The fold is an operator of ``torch.library``, which ``torch.compile`` does not split.

``segfold.torch.fold(op, x, offsets=o)`` returns the results of ``op(x, offsets=o)``, with gradients.
``segfold.torch.function(op)`` returns the same fold as a function of tensors only, for code that ``torch.compile`` compiles.
Outside of graphs, ``op(x, offsets=o)`` is faster.
"""

import functools

import torch as _torch
from torch.autograd.forward_ad import unpack_dual as _unpack_dual

from . import _segfold
from ._functional import Form, arrays_given, flattened, gradient_by_steps, operator_of_text, segments_given, text_of
from ._gradient import _gradient, has_zero_gradient
from ._results import result_class

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


@_torch.compiler.assume_constant_result
def _known(op):
    """Returns the facts about an operator that a call needs. torch.compile cannot trace the operator itself."""
    if not isinstance(op, _segfold.Operator):
        raise TypeError(f"an operator is needed, as sf.standard.sum, and {op!r} is given")
    if id(op) not in _known_operators:
        parameters = tuple(name for name, _, _ in op.parameters)
        scalars = tuple((i, _DTYPES.get(type)) for i, (name, type, _) in enumerate(op.parameters) if name in op.scalars)
        places = tuple(i for i, name in enumerate(parameters) if name not in op.scalars)
        open_places = tuple(i for i in places if op.parameters[i][1] == "T")
        by_dtype = []
        for type in op.types if op.is_generic else [None]:
            typed = op if type is None else op.typed(type)
            names = tuple(name for name, _ in typed.results)
            _classes.update({names: result_class(names), ("keys", *names): result_class(("keys", *names))})
            if type is None or _DTYPES[type] is not None:
                by_dtype.append((type and _DTYPES[type], text_of(typed), names))
        _known_operators[id(op)] = op, (op.name, op.signature, parameters, scalars, places, open_places, tuple(by_dtype))
    return _known_operators[id(op)][1]


def _remembered(op):
    known = _known(op)
    if not _torch.compiler.is_compiling():
        _looked_up[id(op)] = known
    return known


_known_operators = {}  # keyed by id; keeps the operators alive, so that no other object gets the id
_looked_up = {}  # facts about operators called outside of torch.compile; every version of torch can trace this look-up
_classes = {}  # classes of named tuples, keyed by names of results


def _folded(known, columns, offsets=None, lengths=None, keys=None, flags=None, ranges=None, uniform=None, **named):
    op_name, signature, parameters, scalars, places, open_places, by_dtype = known
    for word in ("groups", "by"):
        if word in named and word not in parameters:
            number = "groups" if word == "groups" else "torch.unique(by, return_inverse=True)[1]"
            raise TypeError(
                f"segfold.torch.fold takes no {word}=; numbers = {number} and order = torch.argsort(numbers, stable=True) sort, "
                "columns[order] have gradients, and lengths=torch.bincount(numbers, minlength=num_groups) are their segments"
            )
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
            if isinstance(arrays[i], float) and not wanted.is_floating_point:  # new_full() would truncate the number
                raise _segfold.InputError(f"'{parameters[i]}' is {arrays[i]!r}, and the operator takes a value of {wanted} there")
            arrays[i] = model.new_full((1,), arrays[i], dtype=wanted)
    found = [entry for entry in by_dtype if entry[0] is None or entry[0] == model.dtype]
    if not found:
        listed = ", ".join(str(entry[0]) for entry in by_dtype)
        raise _segfold.InputError(f"'{parameters[open_places[0]]}' is {model.dtype}; {op_name} takes {listed}")
    _, text, names = found[0]
    if not _torch.compiler.is_compiling() and any(_unpack_dual(array).tangent is not None for array in arrays):
        raise RuntimeError(f"operator {op_name} has no derivative of forward mode here; gradients are those of backward()")
    results = _call(Form(text, layout, uniform or 0), arrays, segments)
    if layout == "keys":
        return _classes[("keys", *names)](*results)
    return results[0] if len(names) == 1 else _classes[names](*results)


@functools.lru_cache(maxsize=4096)
def function(op):
    """Returns the operator as a function of tensors, which ``torch.compile`` keeps in one graph; see :func:`fold`."""
    known = _remembered(op)

    def folded(*columns, **words):
        return _folded(known, columns, **words)

    folded.__name__ = folded.__qualname__ = op.name
    folded.__doc__ = f"Folds tensors by {op.signature}; see segfold.torch.fold."
    return folded


def fold(op, *columns, **words):
    """Folds tensors like ``op(*columns, ...)``. Returns a tensor, or a named tuple of tensors.

    Columns are given by position or by name, segments by any argument of a call. Gradients are those of
    :func:`segfold.gradient`. Its operators run in ``backward()`` and can be differentiated again. Sums of a column, or of a
    product of two columns, also have a gradient by a column of numbers that is multiplied with rows; it is summed over the
    features.

    ``torch.func.vmap`` folds a batch in one launch. It folds the entries one after the other if it maps over a scalar or over a
    table that is not read at ``[segment]``, if the operator computes with ``segment``, and for keys and flags. Raises the
    errors of the call. Raises RuntimeError, with the reason, for a gradient that does not exist, such as one by a table that is
    not read at ``[segment]``, and for forward mode.
    """
    known = _looked_up.get(id(op))
    return _folded(_remembered(op) if known is None else known, columns, **words)


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
    return _unfilled(Form(text, layout, uniform), arrays, segments, _torch.library.get_ctx().new_dynamic_size)


def _unfilled(form, arrays, segments, num_found):
    """Returns empty tensors with the shapes of a fold's results. ``num_found()`` counts the segments of keys and flags."""
    text, layout, uniform = form
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
        length = num_found()
    row = [array.shape[1] for array, (name, _, _) in zip(arrays, op.parameters) if name in op.rows][:1]
    results = [
        column.new_empty((column.shape[0] if name in op.outputs else length, *row), dtype=_DTYPES[type]) for name, type in op.results
    ]
    if layout == "keys":
        results.insert(0, segments[0].new_empty((length,)))
    return results


def _setup(ctx, inputs, output):
    text, arrays, layout, segments, uniform = inputs
    ctx.form, ctx.num_arrays, ctx.num_segments = Form(text, layout, uniform), len(arrays), len(segments)
    ctx.save_for_backward(*arrays, *segments)


def _backward(ctx, gradients):
    return None, _gradients(ctx, ctx.needs_input_grad[1], gradients), None, [None] * ctx.num_segments, None


_fold.register_autograd(_backward, setup_context=_setup)


def _gradients(ctx, is_needed, gradients):
    """Returns the gradient by each array; None for an array that needs none."""
    form = ctx.form
    op = operator_of_text(form.text)
    factors = _segfold.factors_of_sum(op)
    saved = ctx.saved_tensors  # read only once, because torch.utils.checkpoint forbids a second read
    arrays, segments = saved[: ctx.num_arrays], saved[ctx.num_arrays :]
    if factors is None or form.layout == "ranges":
        return _by_operators(form, op, is_needed, gradients, arrays, segments)
    names = [name for name, _, _ in op.parameters]
    num_elements = arrays[names.index(factors[0])].shape[0]
    of_each = _spread(gradients[-1], num_elements, form.layout, segments, form.uniform)
    found = [None] * len(arrays)
    for i, name in enumerate(factors):
        others = [arrays[names.index(other)] for j, other in enumerate(factors) if j != i]
        part = of_each
        for other in others:  # a number that is multiplied with rows applies to every feature
            part = part * (other if other.dim() == part.dim() else other.unsqueeze(1))
        at = names.index(name)
        if arrays[at].dim() < part.dim():
            part = part.sum(1)
        found[at] = part if found[at] is None else found[at] + part
    return found


def _by_operators(form, op, is_needed, gradients, arrays, segments):
    """Returns the gradient by each array that needs one, otherwise None. Each gradient is computed by its own operators."""
    results = [name for name, _ in op.results]
    of_results = dict(zip(results, gradients[-len(results) :]))
    contiguous = {name: gradient.contiguous() for name, gradient in of_results.items() if gradient is not None}

    def run(step, parts):
        return _call(form._replace(text=text_of(step)), parts, list(segments))

    found = [None] * len(arrays)
    for at, (name, _, is_table) in enumerate(op.parameters):
        if not is_needed[at]:
            continue
        try:
            if has_zero_gradient(op, name):
                continue
            made = _gradient(op, name)
        except _segfold.InputError as error:
            raise RuntimeError(str(error)) from error
        gradient = gradient_by_steps(made, op, arrays, contiguous, run)
        if is_table and name not in op.scalars and len(gradient) < len(arrays[at]):  # entries past those of the segments are not read
            gradient = _torch.cat([gradient, gradient.new_zeros(len(arrays[at]) - len(gradient), *gradient.shape[1:])])
        found[at] = gradient
    return found


def _spread(gradient, num_elements, layout, segments, uniform):
    """Copies the gradient of each segment to its elements. Each element gets a number, or a row if rows are summed."""
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
        if keys.is_floating_point():  # keys are equal if their bits are equal
            keys = keys.view({2: _torch.int16, 4: _torch.int32, 8: _torch.int64}[keys.element_size()])
        begins = _torch.ones_like(keys, dtype=_torch.bool)
        begins[1:] = keys[1:] != keys[:-1]
    if num_elements > 0:
        begins = begins.clone()
        begins[0] = True
    return gradient[begins.cumsum(0) - 1]


class _Library:
    """The torch functions that ``flattened`` needs."""

    broadcast_to, concatenate = _torch.broadcast_to, _torch.cat

    @staticmethod
    def largest_place():
        return 2**63 - 1

    @staticmethod
    def widened(tensor, largest):
        return tensor if tensor.dtype == _torch.int32 and largest <= 2**31 - 1 else tensor.long()

    @staticmethod
    def right_or(is_right, places, instead):
        """Keeps valid entries of ``places``.

        Replaces invalid ones: on the host by -1, which a fold refuses, on a GPU by ``instead``.
        """
        return _torch.where(is_right, places, instead.to(places.dtype) if places.is_cuda else -1)

    @staticmethod
    def index(length, like):
        return _torch.arange(length, device=like.device)

    @staticmethod
    def zeros(length, like):
        return like.new_zeros(length, dtype=_torch.int64)

    @staticmethod
    def places(length, like):
        return _torch.arange(length, dtype=like.dtype, device=like.device)


def _fold_of_batch(form, size, arrays, segments):
    """Folds the entries of a batch, in one fold or one after the other.

    Arrays and segments are pairs of a tensor and its batch dimension. The dimension is None for a tensor that all entries
    share.
    """

    def first(pairs):
        return [(tensor if dim is None else tensor.movedim(dim, 0), dim is not None) for tensor, dim in pairs]

    arrays, segments = first(arrays), first(segments)
    if size == 0:
        entry = [[part.new_empty(part.shape[1:]) if is_part else part for part, is_part in parts] for parts in (arrays, segments)]
        return tuple(result.new_empty((0, *result.shape)) for result in _unfilled(form, *entry, lambda: 0))
    flat = flattened(_Library, form, size, arrays, segments)
    if flat is not None:
        results = _call(flat[0], [part.contiguous() for part in flat[1]], [part.contiguous() for part in flat[2]])
        return tuple(result.reshape(size, result.shape[0] // size, *result.shape[1:]) for result in results)
    found = [
        _call(form, *([part[at].contiguous() if is_part else part for part, is_part in parts] for parts in (arrays, segments)))
        for at in range(size)
    ]
    if len({result.shape for results in found for result in results[-1:]}) > 1:
        raise RuntimeError(f"{form.layout} mark other numbers of segments in the entries of a batch, whose results torch.func.vmap cannot join")
    return tuple(_torch.stack(results) for results in zip(*found))


class _Fold(_torch.autograd.Function):
    """The fold with gradients and batches.

    Takes tensors as separate arguments, because torch.func does not accept lists of tensors.
    """

    @staticmethod
    def forward(form, num_arrays, *tensors):
        return tuple(_torch.ops.segfold.fold(form.text, tensors[:num_arrays], form.layout, tensors[num_arrays:], form.uniform))

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.form, ctx.num_arrays, *tensors = inputs
        ctx.num_segments = len(tensors) - ctx.num_arrays
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx, *gradients):
        return None, None, *_gradients(ctx, ctx.needs_input_grad[2 : 2 + ctx.num_arrays], gradients), *[None] * ctx.num_segments

    @staticmethod
    def vmap(info, in_dims, form, num_arrays, *tensors):
        pairs = list(zip(tensors, in_dims[2:]))
        found = _fold_of_batch(form, info.batch_size, pairs[:num_arrays], pairs[num_arrays:])
        return found, (0,) * len(found)


@_torch.compiler.allow_in_graph  # torch.func within torch.compile requires this for functions of autograd
def _applied(text, layout, uniform, num_arrays, *tensors):
    return _Fold.apply(Form(text, layout, uniform), num_arrays, *tensors)


def _call(form, arrays, segments):
    return _applied(*form, len(arrays), *arrays, *segments)
