"""Arguments of folds in the graphs of torch and JAX, which know an operator by its text and its arrays by their places."""

from . import _segfold
from ._results import result_class, standing_for


_operators = {}  # those that are known by their texts, for messages of the operators that users have made


def operator_of_text(text):
    if text not in _operators:
        _operators[text] = _segfold.restore("printed", text)
    return _operators[text]


def facts(op):
    """Text of an operator of fixed types, classes of its results without and with keys, and how many they are."""
    names = tuple(name for name, _ in op.results)
    text = op._origin()[1]
    _operators.setdefault(text, op)
    return text, result_class(names), result_class(("keys", *names)), len(names)


def arrays_given(parameters, name, signature, columns, named):
    """The arrays of a call in the order of the parameters. Takes them out of ``named``."""
    arrays = list(columns)
    for parameter in parameters[len(columns) :]:
        if parameter not in named:
            raise _segfold.InputError(f"operator {name} has no array for '{parameter}'; it takes {signature}")
        arrays.append(named.pop(parameter))
    if named or len(arrays) > len(parameters):
        raise TypeError(f"{signature}: nothing is called '{next(iter(named), 'a further array')}'")
    return arrays


def segments_given(arrays, uniform):
    """The name of the layout and its arrays, from ``(name, value)`` for each way to give them."""
    layout, segments = "whole", []
    for name, value in arrays:
        if value is not None:
            if layout != "whole":
                raise _segfold.InputError(f"segments are given twice, as {layout} and as {name}; give them once")
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
    """The gradient of `op` that `made` describes. ``run(step, arrays)`` folds by an operator, and gives its results in a list.

    `of_results` holds the gradients of the results by name. Gradients by scalars and tables have the shapes of these.
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
