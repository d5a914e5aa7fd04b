"""Keys of several columns: a tuple of arrays, or an array with a row for each element."""

import sys

from . import _segfold

_OF_NO_TYPE = "OSUTmM"  # kinds of NumPy: objects, bytes, texts, spans of time, dates


def starts(keys):
    """The columns of keys, and a flag for each element: true if any of its keys differs from the element before."""
    columns = tuple(_array(column) for column in keys) if isinstance(keys, (tuple, list)) else _array(keys)
    changes = None
    for column in columns if isinstance(columns, tuple) else (columns,):
        bits = _bits(column)
        differs = bits[1:] != bits[:-1]
        differs = differs.any(1) if differs.ndim == 2 else differs
        changes = differs if changes is None else changes | differs
    return columns, _with_first(changes, columns[0] if isinstance(columns, tuple) else columns)


def of_segments(columns, flags):
    """The keys of each segment: as many columns, or an array with a row for each segment."""
    flags = flags != 0
    return tuple(_taken(column, flags) for column in columns) if isinstance(columns, tuple) else _taken(columns, flags)


def has_texts(keys):
    """Whether keys are texts, dates or other objects."""
    if _library(keys) == "pyarrow":
        return not str(keys.type).startswith(("int", "uint", "halffloat", "float", "double", "bool"))
    kind = getattr(getattr(keys, "dtype", None), "kind", None)
    return kind in _OF_NO_TYPE if isinstance(kind, str) else _library(keys) == "polars"


def columns(keys, word):
    """Columns of numbers on the host, in the order of the keys: texts and other objects are numbered, dates are integers."""
    import numpy

    if isinstance(keys, (tuple, list)):
        given = [(f"{word}[{i}]", column) for i, column in enumerate(keys)]
    else:
        given = [(word, column) for column in (keys.T if getattr(keys, "ndim", 1) == 2 else (keys,))]
    found = []
    for name, column in given:
        if _is_on_gpu(column):
            raise _segfold.InputError(
                f"'{name}' lies on a GPU, and keys of several columns in any order are numbered on the host; give one column: "
                "torch.unique(torch.stack(columns, 1), dim=0, return_inverse=True)[1]"
            )
        array = numpy.asarray(column)
        if array.ndim != 1:
            raise _segfold.InputError(f"'{name}' has {array.ndim} dimensions; keys have one")
        if array.dtype.kind in "mM":
            array = array.view("i8")
        elif array.dtype.kind in _OF_NO_TYPE:
            try:
                array = numpy.unique(array, return_inverse=True)[1]
            except TypeError as error:
                raise _segfold.InputError(f"'{name}' holds objects that have no order ({error}); give numbers or texts") from None
        found.append(numpy.ascontiguousarray(array))
    return found


def _is_on_gpu(column):
    return hasattr(column, "__cuda_array_interface__") and getattr(getattr(column, "device", None), "type", "cuda") != "cpu"


def at(keys, places):
    """The keys at some places: as many columns, or an array with a row for each place."""
    return tuple(_array(column)[places] for column in keys) if isinstance(keys, (tuple, list)) else _array(keys)[places]


def _taken(column, flags):
    return _bits(column)[flags].view(column.dtype) if _library(column) == "torch" else column[flags]


def _library(array):
    return type(array).__module__.partition(".")[0]


def _array(column):
    """A column that can be compared and indexed: arrays of torch, CuPy and JAX unchanged, other arrays as NumPy's."""
    if _library(column) in ("torch", "cupy", "jax", "jaxlib"):
        return column
    import numpy

    return numpy.asarray(column)


def _bits(column):
    """The bits of numbers as integers: keys are equal if their bits are, so NaN equals NaN."""
    if _library(column) == "torch":
        torch = sys.modules["torch"]
        # Not every torch compares and indexes unsigned integers of more than 8 bits.
        return column.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[column.element_size()])
    return column if column.dtype.kind in "biu" else column.view(f"u{column.dtype.itemsize}")


def _with_first(changes, column):
    """Adds the flag of the first element, which begins a segment."""
    if _library(column) == "torch":
        flags = column.new_ones(len(column), dtype=sys.modules["torch"].bool)
    elif _library(column) in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy.ones(len(column), "uint8").at[1:].set(changes.astype("uint8"))
    else:
        flags = sys.modules[_library(column)].ones(len(column), "bool")
    flags[1:] = changes
    return flags
