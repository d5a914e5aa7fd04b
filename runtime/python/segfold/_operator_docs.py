"""Texts for ``help`` and ``inspect.signature`` of operators: parameters and results, then the keywords of every call."""

import inspect
import keyword

from . import _segfold

_OPTIONS = {
    "offsets": None, "lengths": None, "uniform": None, "ranges": None, "keys": None, "flags": None, "out": None, "stage": None,
    "settings": None, "reproducible": False, "backend": "auto", "device": None, "kernels": None, "assume": (), "check": False,
    "validate": False, "trust_tables": False, "assume_finite": False, "longest": 0, "sort_keys": False,
    "by": None, "sort": True, "groups": None, "num_groups": None, "first": None,
}  # fmt: skip


def _text_of_parameter(op, name, type, is_table):
    if name in op.scalars:
        return f"{name}: a scalar, one number of type {type}"
    shape = "[n, K]" if name in op.rows else "[n]"
    what = "a table, read at any place, an array" if is_table else "a column of rows, an array" if name in op.rows else "a column, an array"
    return f"{name}: {what} {shape.replace('n', 'm') if is_table else shape} of type {type}"


def _listed(types):
    return ", ".join(types)


def _texts_of_results(op):
    by_type = {type: op.typed(type).results for type in op.types} if op.is_generic else {"": op.results}
    for i, (name, type) in enumerate(next(iter(by_type.values()))):
        found = {}
        for given, results in by_type.items():
            found.setdefault(results[i][1], []).append(given)
        if len(found) > 1 and all(types == [result] for result, types in found.items()):
            text = "T"
        elif len(found) > 1:
            text = "; ".join(f"{result} for {_listed(types)}" for result, types in found.items())
        else:
            text = type
        yield f"{name}: {text}{', for every element' if name in op.outputs else ''}"


def doc_of(op):
    """Returns the documentation of an operator: its purpose, parameters, results, and how to call it."""
    lines = [op.description, ""] if op.description else []
    lines += [f"{op.signature}, where T is {_listed(op.types)}" if op.is_generic else op.signature, "", "Parameters:", ""]
    lines += [f"* {_text_of_parameter(op, *parameter)}" for parameter in op.parameters]
    lines += ["", "Results:", "", *(f"* {text}" for text in _texts_of_results(op)), ""]
    return "\n".join(lines) + "\n" + _segfold.Operator.__call__.__doc__.partition("\n\n")[2]


def signature_of(op):
    """Returns the signature of a call: the operator's parameters, then keywords.

    Python keywords such as ``class`` get an underscore.
    """
    own = []
    for name, type, is_table in op.parameters:
        kind = "scalar " if name in op.scalars else "table " if is_table else ""
        annotation = f"{kind}{'row ' * (name in op.rows)}{type}"
        while keyword.iskeyword(name):
            name += "_"
        own.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation))
    taken = {parameter.name for parameter in own}
    words = [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, default=default)
             for word, default in _OPTIONS.items() if word not in taken]  # fmt: skip
    return inspect.Signature([*own, *words])


class OfOperator:
    """An attribute that is computed for each operator when it is read. On the class, it has a fixed value or is missing."""

    def __init__(self, make, of_class=None):
        self.make = make
        self.of_class = of_class

    def __get__(self, op, kind=None):
        if op is not None:
            return self.make(op)
        if self.of_class is None:
            raise AttributeError("only an operator has it, not the class")
        return self.of_class


def install():
    """Defines ``__doc__`` and ``__signature__`` of operators. Called at import."""
    _segfold.Operator.__doc__ = OfOperator(doc_of, _segfold.Operator.__doc__)
    _segfold.Operator.__signature__ = OfOperator(signature_of)
