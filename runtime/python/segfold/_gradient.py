"""Gradients of operators. A gradient is computed by operators that run one after the other."""

import functools
import typing

from . import _segfold
from ._results import standing_for


class Gradient:
    """The gradient of an operator by one parameter, made by :func:`segfold.gradient`.

    Printing it shows the text of its operators. A call runs them. The call takes the gradients of the results, then the
    arguments of the operator, and the segments, by position or by name. It returns the gradient, which has one value per
    element for a column, one per segment for a table, and one value for a scalar.
    """

    def __init__(self, op: _segfold.Operator, wrt: str):
        self.operator = op  #: the operator
        self.wrt = wrt  #: name of the parameter
        self._name = f"gradient of {op.name} by {wrt}"
        self._of_type: typing.Dict[str, typing.Any] = {}
        made = self._made(_example(op))  # throws here if the operator has no gradient
        self.means: str = made[0]  #: "sums", "totals", "places", "reverse scan", "scan" or "two scans"
        self.result: str = made[1]  #: name of the gradient, such as ``"grad_x"``
        self.of: typing.Tuple[str, ...] = made[2]  #: results and outputs whose gradients are inputs
        self.names: typing.Tuple[str, ...] = made[3]  #: names of these inputs, such as ``("grad_mean", "grad_variance")``
        #: the operators in the order in which they run; if ``T`` is open, those for one type
        self.operators: typing.Tuple[_segfold.Operator, ...] = made[4]

    def _made(self, op):
        key = op.signature
        if key not in self._of_type:
            self._of_type[key] = _segfold.gradient_of(op, self.wrt)
        return self._of_type[key]

    def __call__(self, *arrays: typing.Any, **words: typing.Any) -> typing.Any:
        columns = tuple(name for name, _, _ in self.operator.parameters)
        taken = self.names + columns
        given = dict(zip(taken, arrays))
        if len(arrays) > len(taken):
            raise TypeError(f"{self._name} takes {', '.join(taken)}, and {len(arrays)} arrays are given")
        for name in taken:
            if name in words:
                if name in given:
                    raise TypeError(f"{self._name}: '{name}' is given twice")
                given[name] = words.pop(name)
        for name in taken:
            if name not in given and (name in self.names or any(self._reads(name))):
                raise _segfold.InputError(f"{self._name} has no array for '{name}'; it takes {', '.join(taken)} and segments")
        op = self.operator
        if op.is_generic:
            model = next(given[name] for name, type, _ in op.parameters if type == "T" and name in given)
            op = op.typed(str(getattr(model, "dtype", "")).rpartition(".")[2])
        for step in self._made(op)[4]:
            with standing_for(step.name, op.name):
                found = step(*(given[name] for name, _, _ in step.parameters), **words)
            names = [name for name, _ in step.results]
            given.update(zip(names, found[-len(names) :] if isinstance(found, tuple) else [found]))
        found = given[self.result]
        if self.wrt not in self.operator.scalars:
            return found
        if str(found.dtype).rpartition(".")[2] in ("float16", "bfloat16"):  # the sum may exceed the range of these types
            found = found.astype("float32") if hasattr(found, "astype") else found.float()
        return found.sum()

    def _reads(self, name):
        return (name in (parameter for parameter, _, _ in step.parameters) for step in self.operators)

    @property
    def text(self) -> str:
        """The text of the operators."""
        return "\n".join(step.text for step in self.operators)

    def __repr__(self) -> str:
        return self.text


def _example(op):
    """Returns the operator. If its type is open, returns the operator for one floating-point type."""
    if not op.is_generic:
        return op
    return op.typed(next((type for type in ("f32", "f64", "f16", "bf16") if type in op.types), op.types[0]))


@functools.lru_cache(maxsize=256)
def _gradient(op, wrt):
    return Gradient(op, wrt)


@functools.lru_cache(maxsize=256)  # cached, because deriving the gradient takes some milliseconds
def has_zero_gradient(op, wrt):
    return _segfold.has_zero_gradient(op, wrt)


def gradient(operator: _segfold.Operator, wrt: str) -> Gradient:
    """Returns the gradient of an operator by the parameter ``wrt``, as operators that can be read and run.

    ``wrt`` names a column of floats, a table of floats that is read only at ``[segment]``, or a scalar. The member ``means``
    says how the gradient is computed: by sums, by totals, by places of chosen elements, or by scans. Raises InputError with the
    reason if there is no gradient.

    >>> import numpy as np, segfold as sf
    >>> by_x = sf.gradient(sf.standard.sum_of_squares, wrt="x")
    >>> by_x.means
    'sums'
    >>> print(by_x.text)
    # Gradient of sum_of_squares by x.
    operator sum_of_squares_gradient_x(x: f32, grad_result: table f32) -> (each grad_x: f32) {
      state nothing: bool = false
      lift false
      combine(a, b) a || b
      map grad_result[segment] * (2 * x)
      laws commutative, idempotent
    }
    <BLANKLINE>
    >>> by_x(grad_result=np.array([1.0, 10.0]), x=np.array([3.0, 1.0, 4.0]), offsets=np.array([0, 2, 3]))
    array([ 6.,  2., 80.])
    """
    if not isinstance(operator, _segfold.Operator):
        raise TypeError(f"gradient() takes an operator, as sf.standard.sum, and {operator!r} is given")
    if not isinstance(wrt, str):
        raise TypeError(f"wrt= takes the name of a parameter, and {wrt!r} is given")
    return _gradient(operator, wrt)
