"""Prepares arguments of folds in graphs of torch and JAX. A graph holds an operator as text, and arrays by position."""

import typing

from . import _segfold
from ._results import standing_for


_operators = {}  # operators keyed by their text; these are the objects that the user made


def operator_of_text(text):
    if text not in _operators:
        _operators[text] = _segfold.restore("printed", text)
    return _operators[text]


def text_of(op):
    """Returns the text of an operator with fixed types, from which operator_of_text() returns the operator again."""
    text = op._origin()[1]
    _operators.setdefault(text, op)
    return text


def arrays_given(parameters, name, signature, columns, named):
    """Returns the arrays of a call in the order of the parameters. Removes them from ``named``."""
    arrays = list(columns)
    for parameter in parameters[len(columns) :]:
        if parameter not in named:
            raise _segfold.InputError(f"operator {name} has no array for '{parameter}'; it takes {signature}")
        arrays.append(named.pop(parameter))
    if named or len(arrays) > len(parameters):
        raise TypeError(f"{signature}: nothing is called '{next(iter(named), 'a further array')}'")
    return arrays


def segments_given(arrays, uniform):
    """Returns the name of the layout and its arrays.

    ``arrays`` is a list of ``(name, value)`` for each argument that gives segments.
    """
    layout, segments = "whole", []
    for name, value in arrays:
        if value is not None:
            if layout != "whole":
                raise _segfold.InputError(f"segments are given twice, as {layout} and as {name}; give them once")
            if name == "ranges" and not hasattr(value, "__len__"):
                raise TypeError(f"ranges= takes a pair of arrays, (begins, ends), and {value!r} is given")
            layout, segments = name, list(value) if name == "ranges" else [value]
    if layout == "ranges" and len(segments) != 2:
        raise TypeError(f"ranges= takes a pair of arrays, (begins, ends), and {len(segments)} are given")
    if uniform is not None:
        if isinstance(uniform, (bool, float, str)):
            raise TypeError(f"uniform= takes the length of each segment, an integer, and {uniform!r} is given")
        if isinstance(uniform, int) and uniform < 1:
            raise _segfold.InputError(f"uniform is {uniform}; it is the length of each segment, 1 or more")
        if layout != "whole":
            raise _segfold.InputError(f"segments are given twice, as {layout} and as uniform; give them once")
        layout = "uniform"
    return layout, segments


def gradient_by_steps(made, op, arrays, of_results, run):
    """Computes a gradient.

    ``made`` is the gradient of ``op``, and ``run(step, arrays)`` returns the list of results of one step.

    ``of_results`` maps the names of results to their gradients. The gradient by a scalar has the shape of the scalar. The
    gradient by a table has one entry per segment.
    """
    given = dict(zip((name for name, _, _ in op.parameters), arrays))
    model = given[made.wrt]
    given.update((name, of_results[result]) for name, result in zip(made.names, made.of))
    for step in made.operators:
        with standing_for(step.name, op.name):
            folded = run(step, [given[name] for name, _, _ in step.parameters])
        names = [name for name, _ in step.results]
        given.update(zip(names, folded[-len(names) :]))
    gradient = given[made.result]
    return gradient.sum().reshape(model.shape) if made.wrt in op.scalars else gradient


def kinds_of(op):
    """Returns the kind of each parameter: "column", "table" or "scalar"."""
    return ["scalar" if name in op.scalars else "table" if is_table else "column" for name, _, is_table in op.parameters]


class Form(typing.NamedTuple):
    """Defines a fold together with its arrays: the operator's text, the layout, and the length of ``uniform`` segments."""

    text: str
    layout: str
    uniform: int


def num_segments(form, num_elements, segments):
    """Returns the number of segments, computed from shapes. Not for keys and flags, whose segments only a fold can count."""
    if form.layout == "whole":
        return 1
    if form.layout == "uniform":
        return num_elements // form.uniform
    return segments[0].shape[0] - (form.layout == "offsets")


def flattened(library, form, size, arrays, segments):
    """Concatenates the entries of a batch so that one fold serves all of them.

    Returns the form, the arrays and the segments of this fold.

    Returns None if each entry needs a fold of its own. ``arrays`` and ``segments`` hold pairs of an array and a flag. If the
    flag is true, the array's first dimension is the batch, which has ``size`` entries. ``library`` has functions for these
    arrays.

    Results must not depend on an entry's place in the batch. A column therefore replaces ``index``, and tables that are read at
    [segment] are concatenated too.
    """
    op = operator_of_text(form.text)
    reads_index, reads_segment, by_segment = _segfold.places_read(op)
    kinds = kinds_of(op)
    names = [name for name, _, _ in op.parameters]
    shapes = [array.shape[1:] if is_part else array.shape for array, is_part in arrays]
    length = shapes[kinds.index("column")][0]
    segments_shown = [part[0] if is_part else part for part, is_part in segments]
    count = num_segments(form, length, segments_shown)
    if (
        reads_segment
        or form.layout in ("keys", "flags")
        or (form.layout == "uniform" and length % form.uniform != 0)
        or (segments and (count < 0 or size * length > library.largest_place()))
        or any(kind != "column" and name not in by_segment and is_part for name, kind, (_, is_part) in zip(names, kinds, arrays))
        or any(name in by_segment and shape[0] < count for name, shape in zip(names, shapes))
    ):
        return None

    def whole(array, is_part):
        return array if is_part else library.broadcast_to(array, (size, *array.shape))

    def behind_each_other(array, is_part, length):
        return whole(array, is_part)[:, :length].reshape(size * length, *array.shape[1 + is_part :])

    flat = [
        behind_each_other(array, is_part, length) if kind == "column" else behind_each_other(array, is_part, count) if name in by_segment else array
        for name, kind, (array, is_part) in zip(names, kinds, arrays)
    ]
    text = form.text
    if reads_index:
        text = text_of(_segfold.with_index_column(op))
        flat.append(behind_each_other(library.index(length, flat[0]), False, length))
    if form.layout == "uniform" or (form.layout == "whole" and length > 0):
        return Form(text, "uniform", form.uniform or length), flat, []
    if form.layout == "whole":
        return Form(text, "lengths", 0), flat, [library.zeros(size, flat[0])]
    parts = [library.widened(whole(part, is_part), size * length) for part, is_part in segments]
    # Invalid segments of one entry must not change other entries. On the host they become -1, which the fold
    # refuses. A fold on a GPU does not check segments, so valid segments replace the invalid ones there.
    if form.layout == "lengths":
        is_right = (parts[0] >= 0).all(1, keepdims=True) & (parts[0].sum(1, keepdims=True) == length)
        instead = library.places(count, parts[0])[None] == count - 1
        return Form(text, "lengths", 0), flat, [library.right_or(is_right, parts[0], instead * length).reshape(-1)]
    begin = library.places(size, parts[0])[:, None] * length
    if form.layout == "ranges":
        is_right = (parts[0] >= 0) & (parts[0] <= parts[1]) & (parts[1] <= length)
        return Form(text, "ranges", 0), flat, [library.right_or(is_right, part + begin, begin).reshape(-1) for part in parts]
    ends_right = (parts[0][:, :1] == 0) & (parts[0][:, -1:] == length)
    is_right = ends_right & (parts[0][:, :-1] <= parts[0][:, 1:]).all(1, keepdims=True)
    end = library.right_or(is_right.all(), begin[-1] + length, begin[-1] + length)
    return Form(text, "offsets", 0), flat, [library.concatenate([library.right_or(is_right, parts[0][:, :-1] + begin, begin).reshape(-1), end])]
