"""Keys of several columns: a tuple of arrays, or an array with a row for each element."""

import sys


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
