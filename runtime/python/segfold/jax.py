"""Folds inside JAX programs, under ``jit``, ``grad`` and ``vmap``, on the host and on a GPU.

``segfold.jax.fold(op, x, offsets=o)`` returns the results of ``op(x, offsets=o)``, and also accepts traced arrays. XLA calls
the compiled fold on its own stream, through its foreign function interface. Outside of ``jit``, ``op(x, offsets=o)`` is faster.
"""

import functools
import operator
import pathlib
import re

import jax as _jax
import jax.numpy as _jnp
import numpy as _numpy

from . import _segfold
from ._functional import Form, arrays_given, flattened, gradient_by_steps, kinds_of, num_segments, operator_of_text, segments_given, text_of
from ._gradient import _gradient, has_zero_gradient
from ._results import result_class

__all__ = ["fold"]

if not hasattr(_jax, "ffi"):
    raise ImportError(f"segfold.jax needs jax.ffi, which came with JAX 0.5, and this is JAX {_jax.__version__}; install a newer one")
_stated = re.search(r"define XLA_FFI_API_MINOR (\d+)", (pathlib.Path(_jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text())
if _stated is None:
    raise ImportError(f"segfold.jax finds no version of XLA's interface in the header of JAX {_jax.__version__}; install a version that PROGRAMS.md lists")
_handlers = _segfold.xla_handlers(int(_stated[1]))
if _handlers is None:
    raise ImportError(
        "this build of segfold has nothing for JAX, because no header of jaxlib was there when it was built; install jaxlib, then "
        "build segfold in the same environment: pip install --no-binary segfold --force-reinstall segfold"
    )
for _platform, _handler in _handlers.items():
    _jax.ffi.register_ffi_target("segfold_fold", _handler, platform=_platform)

_LAYOUTS = ("offsets", "lengths", "ranges")
_DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32",
    "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
}  # fmt: skip
_TYPES = {dtype: type for type, dtype in _DTYPES.items()}
_LARGEST_INT32 = 2**31 - 1


def fold(op, *columns, offsets=None, lengths=None, ranges=None, uniform=None, groups=None, num_groups=None, **named):
    """Folds arrays like ``op(*columns, ...)``, also inside ``jit``, ``grad`` and ``vmap``.

    Columns, tables and scalars are given by position or by name. The number of segments follows from the shape of ``offsets``,
    ``lengths`` or ``ranges``, from ``uniform``, or is ``num_groups``. ``groups`` has the group number of each element, in any
    order. Elements whose number is negative, or not below ``num_groups``, are in no group. Returns an array, or a named tuple of arrays.

    Gradients are those of :func:`segfold.gradient`. They can be differentiated again. There is no forward mode. ``vmap`` folds
    a batch in one launch. It folds the entries one after the other if it maps over a scalar or over a table that is not read at
    ``[segment]``, or if the operator computes with ``segment``. Results of 64 bits need ``jax_enable_x64``. Raises the errors
    of a call. Errors that depend on the values of arrays are raised by JAX.
    """
    if not isinstance(op, _segfold.Operator):
        raise TypeError(f"an operator is needed, as sf.standard.sum, and {op!r} is given")
    for word in ("keys", "flags", "by"):
        if word in named:
            raise _segfold.InputError(
                f"'{word}' marks segments whose number is known only when it runs, and JAX must know it before; give offsets=, or groups= "
                "with num_groups="
            )
    names = tuple(name for name, _, _ in op.parameters)
    arrays = arrays_given(names, op.name, op.signature, columns, named)
    ways = zip((*_LAYOUTS, "groups"), (offsets, lengths, ranges, groups))
    uniform = None if uniform is None else _integer(uniform, "uniform", "the length of each segment")
    num_groups = None if num_groups is None else _integer(num_groups, "num_groups", "the number of groups")
    layout, segments = segments_given(ways, uniform)
    if (layout == "groups") != (num_groups is not None):
        raise _segfold.InputError("groups= and num_groups= are given together: JAX must know the number of groups before the fold")
    arrays = [value if name in op.scalars else _array(value, name) for name, value in zip(names, arrays)]
    op = _of_types(op, arrays)
    arrays = [_scalar(value, name, type) if name in op.scalars else value for value, (name, type, _) in zip(arrays, op.parameters)]
    _require_shapes(op, arrays)
    segments = [_places(value, layout) for value in segments]
    if layout == "ranges" and segments[0].dtype != segments[1].dtype:
        raise _segfold.InputError(f"ranges begin as {segments[0].dtype} and end as {segments[1].dtype}; give both in one type")
    _require_bits(op)
    if layout == "groups":
        results = _fold_groups(op, arrays, segments[0], num_groups)
    else:
        results = _differentiable(Form(text_of(op), layout, uniform or 0))(arrays, segments)
    return results[0] if len(results) == 1 else result_class(tuple(name for name, _ in op.results))(*results)


def _integer(value, word, meaning):
    if not isinstance(value, (bool, _numpy.bool_)):
        try:
            return operator.index(value)
        except TypeError:  # JAX raises TypeError too, for traced values
            pass
    raise TypeError(f"{word}= takes {meaning}, an integer, and {value!r} is given")


def _array(value, name):
    """Returns the value as a JAX array. Refuses an array whose type JAX would narrow."""
    if isinstance(value, _jax.Array):
        if not all(isinstance(size, int) for size in value.shape):
            raise _segfold.InputError(f"'{name}' has shape {value.shape}; a fold needs numbers there, so export its program for each shape")
        return value
    if not isinstance(value, _numpy.ndarray):
        raise _segfold.InputError(f"'{name}' is a {type(value).__name__}, and an array is needed; give jax.numpy.asarray({name})")
    made = _jax.dtypes.canonicalize_dtype(value.dtype)
    if made != value.dtype:
        raise _segfold.InputError(f"'{name}' is {value.dtype}, which JAX would take as {made}; {_X64}, or give it as {made}")
    return _jnp.asarray(value)


_X64 = 'set jax.config.update("jax_enable_x64", True)'


def _of_types(op, arrays):
    """Returns the operator for the type of the arrays."""
    open_places = [at for at, (name, type, _) in enumerate(op.parameters) if type == "T" and name not in op.scalars]
    if op.is_generic:
        dtype = str(arrays[open_places[0]].dtype)
        if _TYPES.get(dtype) not in op.types:
            listed = ", ".join(_DTYPES[type] for type in op.types)
            raise _segfold.InputError(f"'{op.parameters[open_places[0]][0]}' is {dtype}; {op.name} takes {listed}")
        op = _typed(op, _TYPES[dtype])
    for array, (name, type, _) in zip(arrays, op.parameters):
        if name not in op.scalars and str(array.dtype) != _DTYPES[type]:
            raise _segfold.InputError(f"'{name}' is {array.dtype}, and operator {op.name} takes {_DTYPES[type]} there")
    return op


@functools.lru_cache(maxsize=4096)
def _typed(op, type):
    return op.typed(type)


def _scalar(value, name, type):
    if isinstance(value, (_numpy.ndarray, _numpy.generic)) and value.ndim == 0:
        value = value.item()
    if isinstance(value, (_jax.Array, _numpy.ndarray)):
        if str(value.dtype) != _DTYPES[type] or value.size != 1:
            raise _segfold.InputError(f"scalar '{name}' is {value.dtype} of shape {value.shape}; one number of {_DTYPES[type]} is needed")
        return _array(value, name)
    made = _number(value, _jnp.dtype(_DTYPES[type]))
    if made is None:
        raise _segfold.InputError(f"'{name}' is {value!r}, and the operator takes a value of {_DTYPES[type]} there")
    return _array(made, name)


def _number(value, dtype):
    """Returns a Python number as an array of ``dtype``, by the rules of a call; None if ``dtype`` cannot represent it."""
    if dtype == bool or isinstance(value, bool):
        return _numpy.asarray(value) if dtype == bool and isinstance(value, bool) else None
    try:
        if not _jnp.issubdtype(dtype, _jnp.floating):
            return _numpy.asarray(operator.index(value)).astype(dtype) if _is_within(operator.index(value), dtype) else None
        real = None if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    with _numpy.errstate(over="ignore"):
        made = None if real is None else _numpy.asarray(value if isinstance(value, int) else real, dtype)
    return None if made is None or (_numpy.isfinite(real) and not _numpy.isfinite(made)) else made


def _is_within(number, dtype):
    return _jnp.iinfo(dtype).min <= number <= _jnp.iinfo(dtype).max


def _require_shapes(op, arrays):
    length = None
    for array, kind, (name, _, _) in zip(arrays, kinds_of(op), op.parameters):
        if kind == "scalar":
            continue
        wanted = 2 if name in op.rows else 1
        if array.ndim != wanted:
            needed = "rows of numbers" if wanted == 2 else "one dimension"
            raise _segfold.InputError(f"'{name}' has shape {array.shape}, and operator {op.name} takes {needed} there")
        if kind == "column":
            length = (name, array.shape[0]) if length is None else length
            if array.shape[0] != length[1]:
                raise _segfold.InputError(f"'{name}' has {array.shape[0]} elements and '{length[0]}' has {length[1]}; columns are equally long")
    widths = {array.shape[1] for array, (name, _, _) in zip(arrays, op.parameters) if name in op.rows}
    if len(widths) > 1:
        raise _segfold.InputError(f"operator {op.name} gets rows of {sorted(widths)} features; all rows are equally long")


def _places(value, layout):
    """Returns segments as an int32 or int64 array. NumPy arrays become int32 if JAX has no int64 and all values fit."""
    if isinstance(value, _numpy.ndarray) and value.dtype.kind in "iu" and not _jax.config.jax_enable_x64:
        narrow = value.astype(_numpy.int32)
        if layout == "groups":  # numbers that exceed int32 are in no group
            value = _numpy.where((value >= 0) & (value <= _LARGEST_INT32), narrow, _numpy.int32(-1))
        elif (narrow == value).all():
            value = narrow
    array = _array(value, layout)
    if str(array.dtype) not in ("int32", "int64") or array.ndim != 1:
        raise _segfold.InputError(f"'{layout}' is {array.dtype} of shape {array.shape}; one dimension of int32 or int64 is needed")
    if layout == "offsets" and array.shape[0] == 0:
        raise _segfold.InputError("'offsets' is empty; it has one number more than there are segments")
    return array


def _is_halved(type):
    """Returns whether JAX passes numbers of ``type`` as two 32-bit halves. This happens only for operators of gradients."""
    return type in ("i64", "u64", "f64") and not _jax.config.jax_enable_x64


def _require_bits(op):
    for name, type in op.results:
        if _is_halved(type):
            raise _segfold.InputError(
                f"result '{name}' of operator {op.name} is {_DTYPES[type]}, and JAX holds 32 bits at most here; {_X64}, or give an operator "
                "whose finish converts it"
            )


def _fold_groups(op, arrays, groups, num_groups):
    """Sorts the elements stably by group, and folds each group as a segment."""
    if groups.shape[0] != _num_elements(op, arrays):
        raise _segfold.InputError(f"'groups' has {groups.shape[0]} numbers, and there are {_num_elements(op, arrays)} elements")
    if num_groups < 0:
        raise _segfold.InputError(f"num_groups is {num_groups!r}; it is the number of groups, 0 or more")
    reads_index, _, by_segment = _segfold.places_read(op)
    order = _jnp.argsort(groups, stable=True)
    sorted_groups = groups[order]
    places = _jnp.searchsorted(sorted_groups, _jnp.arange(num_groups + 1, dtype=groups.dtype), method="scan_unrolled").astype(groups.dtype)
    arrays = [
        array.at[order].get(unique_indices=True, mode="promise_in_bounds") if kind == "column" else array
        for array, kind in zip(arrays, kinds_of(op))
    ]
    names = [name for name, _, _ in op.parameters]
    short = [name for name, array in zip(names, arrays) if name in by_segment and array.shape[0] < num_groups]
    if short:
        raise _segfold.InputError(f"table '{short[0]}' is read at [segment], and has fewer entries than there are groups, {num_groups}")
    step = op
    if reads_index:
        step, arrays = _segfold.with_index_column(op), [*arrays, _as_i64(order)]
    results = _differentiable(Form(text_of(step), "groups", 0))(arrays, [places])
    is_in_group = (sorted_groups >= 0) & (sorted_groups < num_groups)

    def put_back(output):
        kept = _jnp.where(is_in_group.reshape(-1, *[1] * (output.ndim - 1)), output, _jnp.zeros((), output.dtype))
        return _jnp.zeros_like(output).at[order].set(kept, unique_indices=True, mode="promise_in_bounds")

    return [put_back(result) if name in op.outputs else result for result, (name, _) in zip(results, op.results)]


def _folded(form, arrays, segments):
    """Folds without gradients. Groups become offsets; elements in no group become an extra first and last segment."""
    if form.layout != "groups":
        return _batched(form)(arrays, segments)
    op = operator_of_text(form.text)
    (places,) = segments
    _, reads_segment, by_segment = _segfold.places_read(op)
    names = [name for name, _, _ in op.parameters]
    reads_places = any(kind == "table" and name not in by_segment for kind, name in zip(kinds_of(op), names))
    # With offsets, elements in no group would be folded too, and might read outside of tables.
    if not _segfold.takes_empty_segments(op) or reads_segment or reads_places:
        return _batched(form._replace(layout="ranges"))(arrays, _ranges(places))
    count = places.shape[0] - 1
    offsets = _jnp.pad(places, 1, constant_values=(0, _num_elements(op, arrays)))
    padded = [
        _jnp.pad(array[:count], [(1, 1)] + [(0, 0)] * (array.ndim - 1)) if name in by_segment else array
        for name, array in zip(names, arrays)
    ]
    results = _batched(form._replace(layout="offsets"))(padded, [offsets])
    return [result if name in op.outputs else result[1:-1] for result, (name, _) in zip(results, op.results)]


def _ranges(places):
    return [places[:-1], places[1:]]


def _as_i64(places):
    """Returns integers as 64-bit integers, or as two 32-bit halves if JAX has no 64-bit types."""
    if not _is_halved("i64"):
        return places.astype(_jnp.int64)
    low = places.astype(_jnp.uint32)
    return _jnp.stack([low, _jnp.zeros_like(low)], -1)


def _num_elements(op, arrays):
    return next(array.shape[0] for array, kind in zip(arrays, kinds_of(op)) if kind == "column")


@functools.lru_cache(maxsize=4096)
def _differentiable(form):
    """Returns the fold as a function of arrays and segments that JAX can differentiate."""

    @_jax.custom_vjp
    def folded(arrays, segments):
        return _folded(form, arrays, segments)

    def forward(arrays, segments):
        wanted = [() if array.perturbed else None for array in arrays]  # JAX does not trace () and None
        # The values may be plain numbers, which must become arrays.
        arrays, segments = ([_jnp.asarray(part.value) for part in parts] for parts in (arrays, segments))
        return folded(arrays, segments), (arrays, segments, wanted)  # differentiable again, for second derivatives

    def backward(kept, gradients):
        arrays, segments, wanted = kept
        gradients = [
            _jnp.zeros(gradient.shape, gradient.dtype) if isinstance(gradient, _jax.custom_derivatives.SymbolicZero) else gradient
            for gradient in gradients
        ]
        return _gradients(form, arrays, segments, wanted, gradients), [None] * len(segments)

    folded.defvjp(forward, backward, symbolic_zeros=True)
    return folded


def _gradients(form, arrays, segments, wanted, gradients):
    """Returns the gradient by each array; None for an array that needs none. Leaves out elements in no group, whose gradient could be NaN."""
    op = operator_of_text(form.text)
    if form.layout == "groups":
        form, segments = form._replace(layout="ranges"), _ranges(*segments)
    of_results = {name: gradient for gradient, (name, _) in zip(gradients, op.results)}

    def run(step, parts):
        for name, type in step.results:
            if type == "f64" and _is_halved(type):
                raise RuntimeError(f"the gradient of operator {op.name} keeps '{name}' in float64, which JAX does not have here; {_X64}")
        return _differentiable(Form(text_of(step), form.layout, form.uniform))(parts, segments)

    found = [None] * len(arrays)
    names = [name for name, _, _ in op.parameters]
    factors = _segfold.factors_of_sum(op)
    if len(op.rows) == 1 and len(names) == 2 and factors is not None and set(factors) == set(names):
        row = names.index(op.rows[0])  # a row times a number; the gradient by the number is summed over the features
        ones = [array if at == row else _jnp.ones_like(array) for at, array in enumerate(arrays)]
        made = _gradient(op, op.rows[0])
        of_each = gradient_by_steps(made, op, ones, of_results, run)
        found = [of_each * arrays[1 - row][:, None], of_each * arrays[row]]
        if form.layout == "ranges":  # elements outside of all ranges have gradient 0, whatever their values
            counted = gradient_by_steps(made, op, ones, {name: _jnp.ones_like(part) for name, part in of_results.items()}, run)
            found = [_jnp.where(counted != 0, part, _jnp.zeros((), part.dtype)) for part in found]
        found[1] = found[1].sum(1)
        if row == 1:
            found.reverse()
        return [part if needed is not None else None for part, needed in zip(found, wanted)]
    for at, (kind, (name, _, _)) in enumerate(zip(kinds_of(op), op.parameters)):
        if wanted[at] is None:
            continue
        try:
            if has_zero_gradient(op, name):
                continue
            made = _gradient(op, name)
        except _segfold.InputError as error:
            raise RuntimeError(str(error)) from error
        gradient = gradient_by_steps(made, op, arrays, of_results, run)
        if kind == "table":  # entries past the last segment are not read, so their gradient is 0
            behind = max(arrays[at].shape[0] - gradient.shape[0], 0)
            gradient = _jnp.pad(gradient, [(0, behind)] + [(0, 0)] * (gradient.ndim - 1))[: arrays[at].shape[0]]
        found[at] = gradient
    return found


class _Library:
    """The JAX functions that ``flattened`` needs."""

    broadcast_to, concatenate = _jnp.broadcast_to, _jnp.concatenate

    @staticmethod
    def largest_place():
        return int(_jnp.iinfo(_jax.dtypes.canonicalize_dtype("int64")).max)

    @staticmethod
    def widened(array, largest):
        return array.astype(_jnp.int64) if largest > _LARGEST_INT32 else array

    @staticmethod
    def right_or(is_right, places, instead):
        """Keeps valid entries of ``places``.

        Replaces invalid ones: on the host by -1, which a fold refuses, on a GPU by ``instead``.
        """
        instead = _jnp.broadcast_to(instead, places.shape).astype(places.dtype)
        instead = _jax.lax.platform_dependent(instead, cpu=lambda taken: _jnp.full_like(taken, -1), default=lambda taken: taken)
        return _jnp.where(is_right, places, instead)

    @staticmethod
    def index(length, like):
        return _as_i64(_jnp.arange(length))

    @staticmethod
    def zeros(length, like):
        return _jnp.zeros(length, _jnp.int32)

    @staticmethod
    def places(length, like):
        return _jnp.arange(length, dtype=like.dtype)


@functools.lru_cache(maxsize=4096)
def _batched(form):
    """Returns the fold as a function that JAX can map over batches."""
    folded = _jax.custom_batching.custom_vmap(functools.partial(_launched, form))

    @folded.def_vmap
    def fold_batch(size, is_mapped, arrays, segments):
        if size == 0:
            entry = [
                [_jax.ShapeDtypeStruct(value.shape[1:] if is_part else value.shape, value.dtype) for value, is_part in zip(*parts)]
                for parts in ((arrays, is_mapped[0]), (segments, is_mapped[1]))
            ]
            results = [_jnp.zeros((0, *result.shape), result.dtype) for result in _jax.eval_shape(folded, *entry)]
            return results, [True] * len(results)
        flat = flattened(_Library, form, size, list(zip(arrays, is_mapped[0])), list(zip(segments, is_mapped[1])))
        if flat is None:
            mapped, structure = _jax.tree.flatten((arrays, segments))
            where = _jax.tree.leaves(is_mapped)

            def entry(parts):
                parts = iter(parts)
                return folded(*structure.unflatten([next(parts) if is_part else value for value, is_part in zip(mapped, where)]))

            results = _jax.lax.map(entry, [value for value, is_part in zip(mapped, where) if is_part])
        else:
            results = [result.reshape(size, result.shape[0] // size, *result.shape[1:]) for result in _batched(flat[0])(*flat[1:])]
        return results, [True] * len(results)

    return folded


def _launched(form, arrays, segments):
    """Launches the fold as an XLA call."""
    op = operator_of_text(form.text)
    num_elements = _num_elements(op, arrays)
    count = num_segments(form, num_elements, segments)
    row = [array.shape[1] for array, (name, _, _) in zip(arrays, op.parameters) if name in op.rows][:1]
    results = []
    for name, type in op.results:
        shape = (num_elements if name in op.outputs else count, *row)
        halved = _is_halved(type)
        results.append(_jax.ShapeDtypeStruct((*shape, 2) if halved else shape, "uint32" if halved else _DTYPES[type]))
    index_type = _TYPES[str(segments[0].dtype)] if segments else "i32"
    _prepared(op, form, index_type, segments[0].shape[0] if segments else 0, num_elements, row[0] if row else 1, _device())
    call = _jax.ffi.ffi_call("segfold_fold", results)
    return call(*arrays, *segments, operator=form.text, layout=form.layout, uniform=_numpy.int64(form.uniform))


def _device():
    """Returns the ordinal of JAX's default GPU; -1 if JAX's default device is the host."""
    chosen = _jax.config.jax_default_device
    if chosen is None or isinstance(chosen, str):
        chosen = _jax.local_devices(backend=chosen)[0]
    return chosen.local_hardware_id if chosen.platform == "gpu" else -1


@functools.lru_cache(maxsize=4096)
def _prepared(op, form, index_type, num_entries, num_elements, num_features, device):
    """Compiles the fold while a program is traced, so that warnings and errors point to the caller's line."""
    _segfold.prepare_for_xla(op, form.layout, form.uniform, index_type, num_entries, num_elements, num_features, device)
