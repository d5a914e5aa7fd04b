"""Keys of several columns, given as a tuple of arrays or as an array with a row for each element."""

import sys

from . import _segfold

_OF_NO_TYPE = "OSUTmM"  # NumPy's dtype kinds for objects, bytes, texts, durations and dates


def starts(keys):
    """Returns the key columns, and a flag for each element that is true if a key differs from the previous element's."""
    columns = tuple(_array(column) for column in keys) if isinstance(keys, (tuple, list)) else _array(keys)
    changes = None
    for column in columns if isinstance(columns, tuple) else (columns,):
        bits = _bits(column)
        differs = bits[1:] != bits[:-1]
        differs = differs.any(1) if differs.ndim == 2 else differs
        changes = differs if changes is None else changes | differs
    return columns, _with_first(changes, columns[0] if isinstance(columns, tuple) else columns)


def of_segments(columns, flags):
    """Returns the keys of each segment, in the form of ``columns`` (a tuple of columns, or one array)."""
    flags = flags != 0
    return tuple(_taken(column, flags) for column in columns) if isinstance(columns, tuple) else _taken(columns, flags)


def has_texts(keys):
    """Returns whether keys are texts, dates or other objects, or columns of these."""
    if _library(keys) == "pyarrow":
        return not str(getattr(keys, "type", "")).startswith(("int", "uint", "halffloat", "float", "double", "bool"))
    kind = getattr(getattr(keys, "dtype", None), "kind", None)
    return kind in _OF_NO_TYPE if isinstance(kind, str) else _library(keys) in ("polars", "pandas")


def columns(keys, word):
    """Returns a list of ``(name, column)`` of numbers on the host.

    Texts and other objects are replaced by ranks, dates by integers.
    """
    if isinstance(keys, (tuple, list)):
        given = [(f"{word}[{i}]", column) for i, column in enumerate(keys)]
    elif len(getattr(keys, "shape", ())) == 2:
        if _library(keys) in ("polars", "pandas", "pyarrow"):
            raise _segfold.InputError(f"'{word}' is a table, and keys are columns; a tuple of columns is taken")
        if keys.shape[1] == 0:
            raise _segfold.InputError(f"'{word}' has shape {tuple(keys.shape)}; a row has at least one key")
        given = [(word, keys[:, i]) for i in range(keys.shape[1])]
    else:
        given = [(word, keys)]
    return [(name, _numbers(column, name)) for name, column in given]


def _numbers(column, name):
    import numpy

    if _is_on_gpu(column):
        raise _segfold.InputError(
            f"'{name}' lies on a GPU, and keys of several columns in any order are numbered on the host; give one column: "
            "torch.unique(torch.stack(columns, 1), dim=0, return_inverse=True)[1]"
        )
    if numpy.ma.isMaskedArray(column):
        raise _segfold.InputError(f"'{name}' is a masked array, and a fold looks at no mask; give {name}.filled(VALUE)")
    num_nulls = _num_nulls(column)
    if num_nulls:
        raise _segfold.InputError(f"'{name}' has {num_nulls} null{'s' if num_nulls != 1 else ''}, which are no keys; give {name}.fill_null(VALUE)")
    try:
        array = _on_host(column)
        if array.ndim != 1 or (array.dtype == object and any(isinstance(entry, (list, numpy.ndarray)) for entry in array[:1])):
            raise _segfold.InputError(f"'{name}' has entries that are arrays; a key is a number, a text or a date")
        if array.dtype.kind in "mM":
            return array.astype(array.dtype.newbyteorder("=")).view("i8")
        if array.dtype.kind in _OF_NO_TYPE:
            return _ranks(array, name)
    except _segfold.InputError:
        raise
    except Exception as error:  # raised by the column's library, or by comparing its objects
        raise _segfold.InputError(f"'{name}' holds objects that have no order as keys ({type(error).__name__}: {error})") from None
    return numpy.ascontiguousarray(array)


def _num_nulls(column):
    counted = getattr(column, "null_count", 0)
    return int(counted() if callable(counted) else counted)


def _on_host(column):
    """Returns a column as a NumPy array, without loss."""
    import numpy

    if _library(column) == "polars":
        if column.dtype.is_temporal():
            column = column.to_physical()
        is_text = str(column.dtype).startswith(("String", "Binary", "Categorical", "Enum"))
        return numpy.array(column.to_list(), object) if is_text else column.to_numpy()
    return numpy.asarray(column)


def _ranks(array, name):
    """Returns the rank of each entry of a column of objects among the column's distinct entries."""
    import numpy

    array = array.astype(object) if array.dtype.kind == "T" else array
    distinct, ranks = numpy.unique(array, return_inverse=True)
    if array.dtype == object:  # objects such as NaN and sets may have no total order
        if len(distinct) == 1 and distinct[0] != distinct[0]:
            raise _segfold.InputError(f"'{name}' holds {distinct[0]!r}, which equals nothing, not even itself, and is no key")
        for one, next_one in zip(distinct, distinct[1:]):
            if not one < next_one:
                raise _segfold.InputError(f"'{name}' holds {one!r} and {next_one!r}, which have no order, and are no keys")
    return ranks


def _is_on_gpu(column):
    return hasattr(column, "__cuda_array_interface__") and getattr(getattr(column, "device", None), "type", "cuda") != "cpu"


def at(keys, places):
    """Returns the keys at the indices ``places``, in the form of ``keys`` (a tuple of columns, or one array)."""
    return tuple(_taken_at(column, places) for column in keys) if isinstance(keys, (tuple, list)) else _taken_at(keys, places)


def _taken_at(column, places):
    return column.gather(places).to_numpy() if _library(column) == "polars" else _array(column)[places]


def _taken(column, flags):
    return _bits(column)[flags].view(column.dtype) if _library(column) == "torch" else column[flags]


def _library(array):
    return type(array).__module__.partition(".")[0]


def _array(column):
    """Returns a column that can be compared and indexed.

    Arrays of torch, CuPy and JAX are unchanged; others become NumPy arrays.
    """
    if _library(column) in ("torch", "cupy", "jax", "jaxlib"):
        return column
    import numpy

    return numpy.asarray(column)


def _bits(column):
    """Returns the bits of numbers as integers. Keys are equal if their bits are equal, so a NaN equals itself."""
    if _library(column) == "torch":
        torch = sys.modules["torch"]
        # Some versions of torch cannot compare or index unsigned integers of more than 8 bits.
        return column.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[column.element_size()])
    return column if column.dtype.kind in "biu" else column.view(f"u{column.dtype.itemsize}")


def _with_first(changes, column):
    """Adds the flag of the first element, which always begins a segment."""
    if _library(column) == "torch":
        flags = column.new_ones(len(column), dtype=sys.modules["torch"].bool)
    elif _library(column) in ("jax", "jaxlib"):
        import jax.numpy

        return jax.numpy.ones(len(column), "uint8").at[1:].set(changes.astype("uint8"))
    else:
        flags = sys.modules[_library(column)].ones(len(column), "bool")
    flags[1:] = changes
    return flags
