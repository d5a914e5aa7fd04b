"""Folds columns that do not fit into memory."""

import atexit
import difflib
import itertools
import operator as _operator
import os
import re
import typing
import weakref

from . import _results, _segfold
from ._verbs import _given

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MOST = (1 << 63) - 1  # larger bounds count as this one
_MOST_DEVICE = (1 << 31) - 1
_LAYOUTS = ("offsets", "lengths", "flags", "keys", "groups", "by")
_WORDS = (*_LAYOUTS, "uniform", "num_groups", "sort", "num_elements", "memory", "backend", "device", "stage", "reproducible", "assume")
_OF_CALLS = ("ranges", "out", "settings", "kernels", "check", "validate", "trust_tables", "assume_finite", "longest", "first")

_open: weakref.WeakSet = weakref.WeakSet()
_left: typing.List[typing.Any] = []  # streams whose iterable has not answered since Ctrl-C


@atexit.register
def _close_all():
    for work in list(_open):
        work.close()


def _sweep():
    for work in [work for work in _left if work.is_done]:
        _left.remove(work)
        work.close()


def stream(
    operator: _segfold.Operator,
    *columns: typing.Any,
    uniform: typing.Optional[int] = None,
    offsets: typing.Any = None,
    lengths: typing.Any = None,
    flags: typing.Any = None,
    keys: typing.Any = None,
    groups: typing.Any = None,
    num_groups: typing.Optional[int] = None,
    by: typing.Any = None,
    sort: bool = True,
    num_elements: typing.Optional[int] = None,
    memory: typing.Union[int, str] = "1G",
    backend: str = "auto",
    device: typing.Optional[int] = None,
    stage: typing.Optional[str] = None,
    reproducible: bool = False,
    assume: typing.Any = (),
    **named: typing.Any,
) -> typing.Iterator[typing.Any]:
    """Folds columns of any length within a bound on memory. Yields the results of consecutive segments, part by part.

    A column is one of four things: an iterable of arrays (a generator, a list), which are read in order; a contiguous array on
    the host, such as a ``numpy.memmap``; an Arrow array, whose lists are segments; the path of an ``.npy`` file, which is read
    in parts. Alternatively, one iterable of tuples provides all columns of an operator. Tables are arrays or paths, and scalars
    are numbers. All are given by position, by name, or in one dictionary, as in a call. A column with the same name as an
    argument of this function must be given by position or in the dictionary.

    Segments are given by ``uniform``, ``offsets``, ``lengths``, ``flags``, ``keys``, ``groups`` or ``by``. Without these, all
    elements are one segment. Flags, keys, ``groups`` and ``by`` are given like columns. Offsets and lengths are an array or a
    path, because their number must be known. ``num_elements`` is the number of elements of iterables. It is required with
    ``uniform``; offsets and lengths determine it.

    ``groups`` and ``by`` give the group of each element, in any order, as in a call: a number below ``num_groups``, or a
    numeric key. All results come at the end, in one part. With ``by``, they are in ascending order of the keys, or, with
    ``sort=False``, in the order in which keys first occur. A state for each group stays in memory, in addition to ``memory``. The elements of a
    group are folded in order. Running results come part by part. So do the outputs of a ``map``, for which the columns are read
    twice, and so must be arrays or files.

    ``memory`` limits the size of the buffers, in bytes or as a text such as ``"512M"`` or ``"1.5G"``. A part has as many
    elements as the buffers hold, and its results come when it is full. Little memory therefore gives results early. While one
    part is folded, another thread calls the iterables to read the next part.

    ``assume`` names laws to rely on although some data refute them, as in a call. A stream does not know its data. Without
    ``assume``, it does not use an identity that infinities or NaN may refute. Leaving out the identity changes no result.

    Ctrl-C takes effect at once. If an iterable is still computing an array, it continues but gets no further request, and the
    interpreter waits for it before it exits.

    Columns, flags and keys must have the same number of elements. When one ends, or after ``num_elements``, each iterable is
    asked for one more array, and refused if it has one. An endless iterable can therefore not be combined with one that ends.

    Yields, for each part, an array, or a named tuple of arrays if the operator has several results or results of segments
    that are given by keys. Groups give results of segments at the end, and an array without entries if there are none. An operator that scans, such as ``op.scanned()``, yields running results of the part's elements. If it has results of
    segments too, it also yields the results of the segments that end in the part. A scan from the end of segments yields the
    last part first, and its columns must be arrays or files.

    Raises the errors of a fold and of the iterables. Raises InputError for an operator over rows, for an operator with a
    ``map`` of segments that are not groups, for an operator that scans from the end and has results of segments, and for
    reproducible plans of groups.

    >>> import numpy as np, segfold as sf
    >>> days = (np.full(1000, day, np.float32) for day in range(365))
    >>> parts = sf.stream(sf.standard.sum, days, uniform=500, num_elements=365000, memory="64K")
    >>> np.concatenate(list(parts))[:5]
    array([   0.,    0.,  500.,  500., 1000.], dtype=float32)
    >>> running = sf.stream(sf.standard.sum.scanned(), np.arange(8), uniform=4, memory="64K", backend="reference")
    >>> np.concatenate(list(running))
    array([ 0,  1,  3,  6,  4,  9, 15, 22])
    """
    layouts = [(word, value) for word, value in zip(_LAYOUTS, (offsets, lengths, flags, keys, groups, by)) if value is not None]
    if len(layouts) + (uniform is not None) > 1:
        words = [word for word, _ in layouts] + ["uniform"] * (uniform is not None)
        raise _segfold.InputError(f"segments are given twice, as {words[0]} and as {words[1]}; give them once")
    layout, marks = layouts[0] if layouts else ("whole" if uniform is None else "uniform", None)
    if layout in ("offsets", "lengths") and not _is_array(marks) and _source(marks)[0] == "chunks":
        raise _segfold.InputError(
            f"'{layout}' is {_called(marks)}; a stream must know how many {layout} there are: give one array, as "
            "numpy.concatenate makes of several, or the path of an .npy file"
        )
    _require_words(backend, device, stage, reproducible)
    given = _arranged(_given("stream", operator), columns, named)
    if layout in ("keys", "by"):
        _require_one_column(layout, marks, given)
    sources = [_source(value) for value in given]
    is_column = [not is_table and name not in operator.scalars for name, _, is_table in operator.parameters]
    own = list(itertools.compress(given, is_column))
    folded = [kind for kind, _ in itertools.compress(sources, is_column)]
    if num_elements is None and set(folded) == {"chunks"}:
        num_elements = next((len(value) for value in own if _is_array(value)), None)  # the arrays are the chunks of a chunked array
    if num_elements is None and set(folded) == {"chunks"}:
        if layout == "uniform":
            raise _segfold.InputError(
                "segments given by uniform need to know how many elements there are, and iterables do not say it; give num_elements="
            )
        if layout in ("offsets", "lengths"):
            num_elements = _elements(layout, *_source(marks, is_whole=True))
    work = _segfold.open_stream(
        operator,
        sources,
        layout,
        0 if uniform is None else _integer("uniform", uniform, "the length of each segment, an integer"),
        None if marks is None else _source(marks, is_whole=layout in ("offsets", "lengths")),
        _number_of_groups(layout, num_groups),
        _is_sorted(layout, sort),
        _length(num_elements),
        _bytes(memory),
        backend,
        device,
        stage,
        reproducible,
        () if assume is None else assume,
    )
    _sweep()
    _open.add(work)
    work.warn_of_news()
    return _parts(work, work.names)


def _parts(work, names):
    try:
        make = _results.result_class(tuple(names))._make if len(names) > 1 else _operator.itemgetter(0)
        while True:
            try:
                arrays = next(work, None)
            except KeyboardInterrupt:
                if not work.leave():
                    _left.append(work)
                raise
            work.warn_of_news()
            if arrays is None:
                break
            yield make(arrays)
    finally:
        if work not in _left:
            work.close()


def _bytes(memory):
    if isinstance(memory, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)i?B?", memory)
        if found is None:
            raise _segfold.InputError(f"memory is {memory!r}; it is a number of bytes, or a text such as '512M' or '1.5G'")
        memory = int((int if found[1].isdigit() else float)(found[1]) * _UNITS[found[2]])
    return _integer("memory", memory, "a number of bytes, an integer, or a text such as '512M'")


def _elements(layout, kind, marks):
    """Returns the number of elements that offsets or lengths describe; 0 if they are invalid, which open_stream() reports."""
    import numpy  # imported here, because most of the package works without NumPy

    try:
        array = numpy.load(marks, mmap_mode="r") if kind == "file" else numpy.asarray(marks)
    except Exception:  # an error of numpy, zipfile or pickle
        return 0
    if not isinstance(array, numpy.ndarray) or array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0:
        return 0
    return max(0, int(array[-1] if layout == "offsets" else array.sum(dtype=numpy.int64)))


def _length(num_elements):
    if num_elements is None:
        return None
    length = _integer("num_elements", num_elements, "how many elements iterables give, an integer")
    if length < 0:
        raise _segfold.InputError(f"num_elements is {length}; it is 0 or more")
    return length


def _require_words(backend, device, stage, reproducible):
    texts = [("backend", backend, "the name of a back end")] + ([] if stage is None else [("stage", stage, "the name of a stage")])
    for word, value, wanted in texts:
        if not isinstance(value, str):
            raise TypeError(f"{word}= takes {wanted}, and {value!r} is given")
    if device is not None and abs(_integer("device", device, "the ordinal of a GPU")) > _MOST_DEVICE:
        raise _segfold.InputError(f"device= is {device}; it is the ordinal of a GPU, from 0 to {_MOST_DEVICE}")
    if not isinstance(reproducible, bool):
        raise TypeError(f"reproducible= takes True or False, and {reproducible!r} is given")


def _integer(word, value, wanted):
    try:
        if isinstance(value, bool):
            raise TypeError
        return max(-_MOST, min(_operator.index(value), _MOST))
    except TypeError:
        raise TypeError(f"{word}= takes {wanted}, and {value!r} is given") from None


_OF_ARRAYS = ("__array_interface__", "__dlpack__", "__cuda_array_interface__", "__arrow_c_array__", "__arrow_c_stream__")


def _is_array(value):
    return any(hasattr(value, name) for name in _OF_ARRAYS)


def _chunks(value):
    """Returns the chunks of a PyArrow or polars column of numbers; None for other objects, and if there is only one chunk."""
    if hasattr(value, "iterchunks") and value.num_chunks > 1 and value.type.num_fields == 0:
        return value.iterchunks()
    if hasattr(value, "get_chunks") and value.n_chunks() > 1 and not value.dtype.is_nested():
        return iter(value.get_chunks())
    return None


def _source(value, is_whole=False):
    if isinstance(value, (str, os.PathLike)):
        return ("file", os.fspath(value))
    chunks = None if is_whole else _chunks(value)
    if chunks is not None:
        return ("chunks", chunks)
    if _is_array(value) or not hasattr(value, "__iter__"):
        return ("array", value)
    try:
        memoryview(value)
    except TypeError:
        return ("chunks", iter(value))
    return ("array", value)


def _apart(columns):
    """Splits an iterable of tuples into one iterable per column. Returns other ``columns`` unchanged."""
    if len(columns) != 1 or not hasattr(columns[0], "__iter__") or isinstance(columns[0], (str, os.PathLike)) or _is_array(columns[0]):
        return columns
    rest = iter(columns[0])
    try:
        first = next(rest)
    except StopIteration:
        return (iter(()),)
    together = itertools.chain([first], rest)
    if not isinstance(first, tuple):
        return (together,)
    copies = itertools.tee(together, len(first))
    return [map(_operator.itemgetter(i), copy) for i, copy in enumerate(copies)]


def _number_of_groups(layout, num_groups):
    if num_groups is None:
        return None
    if layout != "groups":
        raise _segfold.InputError("num_groups= is the number of groups that groups= numbers, and there is no groups=")
    number = _integer("num_groups", num_groups, "the number of groups, an integer")
    if number < 0:
        raise _segfold.InputError(f"num_groups is {number}; it is the number of groups, 0 or more")
    return number


def _is_sorted(layout, sort):
    if not isinstance(sort, bool):
        raise TypeError(f"sort= takes True or False, and {sort!r} is given")
    if not sort and layout != "by":
        raise _segfold.InputError("sort=False says how groups of by= are ordered, and no keys are in any order; leave it out")
    return sort


def _require_one_column(word, keys, given):
    """Refuses keys of several columns, given as an array of two dimensions or as a tuple of arrays."""
    is_tuple = isinstance(keys, (tuple, list)) and len(keys) > 1 and _is_array(keys[0]) and any(_is_array(value) and len(value) == len(keys[0]) for value in given)
    if is_tuple or getattr(keys, "ndim", 1) == 2:
        rows = "numpy.rec.fromarrays(keys)" if is_tuple else "keys, axis=0"
        raise _segfold.InputError(f"'{word}' are several columns, and a stream takes one; give numpy.unique({rows}, return_inverse=True)[1]")


def _called(value):
    return f"a {type(value).__module__}.{type(value).__qualname__}"


def _arranged(operator, columns, named):
    """Returns columns, tables and scalars in the operator's order. They are given by position, by name, or in a dictionary."""
    names = [name for name, _, _ in operator.parameters]
    if len(columns) == 1 and isinstance(columns[0], dict):
        twice = next((word for word in named if word in columns[0]), None)
        others = ", ".join(repr(name) for name in columns[0] if name not in names)
        found = {name: value for name, value in columns[0].items() if name in names}
    else:
        columns = _apart(columns)
        if len(columns) > len(names):
            raise _segfold.InputError(
                f"operator {operator.name} takes {operator.signature}, and {len(columns)} {'is' if len(columns) == 1 else 'are'} given"
            )
        found, others = dict(zip(names, columns)), ""
        twice = next((word for word in named if word in found), None)
    for word in named:
        if word == "sort_keys" and word not in names:
            raise TypeError("stream() takes no sort_keys=: give by= in place of keys=, which takes keys in any order")
        if word in _OF_CALLS and word not in names:
            raise TypeError(f"stream() takes no {word}=, which is of a call of the operator; its words are {', '.join(_WORDS)}")
        if word not in names:
            near = difflib.get_close_matches(word, [*names, *_WORDS], 1)
            raise TypeError(f"{operator.signature}: nothing is called '{word}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    if twice is not None:
        raise TypeError(f"{operator.name}: '{twice}' is given twice")
    found.update(named)
    for name in names:
        if name not in found:
            what = "number" if name in operator.scalars else "array"
            unknown = f", and nothing is called {others}" if others else ""
            raise _segfold.InputError(f"operator {operator.name} has no {what} for '{name}'{unknown}; it takes {operator.signature}")
    return [found[name] for name in names]
