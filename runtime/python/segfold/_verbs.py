"""Makes operators from texts and Python code, judges laws, tunes, and lists devices."""

import dataclasses
import json
import os
import typing

from . import _kinds, _segfold, standard, trace
from ._operator_class import operator_of


@typing.overload
def operator(definition: str, /) -> _segfold.Operator: ...
@typing.overload
def operator(definition: "os.PathLike[str]", /) -> _segfold.Operator: ...
@typing.overload
def operator(definition: typing.Callable[..., typing.Any], /, **words: typing.Any) -> _segfold.Operator: ...
@typing.overload
def operator(**words: typing.Any) -> typing.Callable[[typing.Callable[..., typing.Any]], _segfold.Operator]: ...
def operator(definition: typing.Any = ..., /, **words: typing.Any) -> typing.Any:
    """Makes an operator from a text, a file, a class or a function.

    * A text in the operator language: ``sf.operator("operator spread(x: i32) -> i32 { ... }")``. If the text uses ``T`` for a
      type, each call takes the type of its arrays. A name alone, ``"sum"`` or ``"sum_f32"``, gives a standard operator.
    * A path (``pathlib.Path``) of a file with such a text.
    * A class, as a decorator. Its annotations are columns, and ``state`` has the fields. ``lift``, ``combine``, ``append``,
      ``finish``, ``empty``, ``map``, and ``scan`` or ``reverse_scan`` are functions, which are called once, with traced values.
      ``results`` has the results, ``laws`` the claimed laws. Other names must begin with an underscore. ``x: sf.row(sf.f32)``
      is a column of rows, ``late: sf.i32[24] = 0`` is an array of fields, and ``sf.each(sf.f32)`` in ``results`` is an output
      of ``map`` or ``scan``.
    * A function of two values, as a decorator. It is ``combine`` of a state with one field. The decorator's other arguments are
      ``identity``, ``lift``, ``append``, ``finish``, ``empty``, ``map``, ``scan``, ``reverse_scan``, ``commutative`` and
      ``idempotent``.

    Raises SpecError for a wrong definition, with the line that is wrong, and for an unknown name. Raises InputError for a file
    that cannot be read, and TypeError for any other object.

    >>> import segfold as sf
    >>> sf.operator("operator spread(x: i32) -> i32 { state { low: i32 = highest(i32); high: i32 = lowest(i32) } "
    ...             "lift { low = x; high = x } combine(a, b) { low = min(a.low, b.low); high = max(a.high, b.high) } "
    ...             "finish high - low empty 0 }")
    <segfold.Operator spread(x: i32) -> i32>
    >>> @sf.operator(identity=0, commutative=True)
    ... def total(a: sf.f32, b: sf.f32):
    ...     return a + b
    >>> total
    <segfold.Operator total(x: f32) -> f32>
    """
    if definition is ...:
        return lambda made: operator(made, **words)
    if isinstance(definition, os.PathLike):
        _refuse_words(words, "a file")
        path = os.fspath(definition)
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or error
            raise _segfold.InputError(f"{path}: cannot be read: {reason}; give the path of a text of an operator") from error
        return _segfold.operator_of_text(path, text)
    if isinstance(definition, str):
        _refuse_words(words, "a text")
        if "{" not in definition and definition.isidentifier():
            if not _segfold.is_standard(definition):
                raise _segfold.SpecError(f"unknown operator '{definition}'; {standard._hint(definition)}")
            return _segfold.standard_operator(definition)
        if "{" not in definition and definition.endswith(".seg"):
            raise _segfold.SpecError(f"{definition!r} is no text of an operator; of a file give pathlib.Path({definition!r})")
        return _segfold.operator_of_text("operator", definition)
    if callable(definition) and not isinstance(definition, trace.Type):
        return operator_of(definition, **words)
    raise TypeError(f"operator() takes a text, a path, a class or a function, and {definition!r} is given")


def _given(verb, operator):
    """Returns ``operator``. Raises TypeError if it is not an operator. The message names the function ``verb``."""
    if not isinstance(operator, _segfold.Operator):
        raise TypeError(f'{verb}() takes an operator, as sf.standard.sum or sf.operator("sum"), and {operator!r} is given')
    return operator


def _refuse_words(words, what):
    if words:
        raise TypeError(f"operator() of {what} takes no further words, and {', '.join(words)} are given")


def explain(operator: _segfold.Operator) -> str:
    """Returns the full texts of all warnings about an operator in this process, with counter-examples and advice.

    A :class:`FoldWarning` has only one line, and is given once for each operator, type and kind. If there was no warning so
    far, returns the findings of a short search for counter-examples to the operator's laws. :func:`check` searches longer.
    :meth:`Plan.explain` says why a plan was chosen.

    >>> import segfold as sf
    >>> print(sf.explain(sf.expression("a + b", "i32")))
    nothing is to be warned of operator expression
    """
    return "\n\n".join(_given("explain", operator)._warnings()) or f"nothing is to be warned of operator {operator.name}"


def expression(
    combine: str,
    type: typing.Any = "f32",
    *,
    identity: typing.Union[str, int, float] = "",
    lift: str = "",
    finish: str = "",
    commutative: bool = False,
) -> _segfold.Operator:
    """Makes an operator with one column ``x`` and one state field. Its parts are expressions of the operator language.

    ``combine`` uses ``a`` and ``b``. ``lift`` uses ``x``; the default is ``x``. ``finish`` uses ``value``; the default is
    ``value``. Without ``identity``, the operator has no result for an empty segment. ``type`` is ``sf.f32``, ``"f32"``, a NumPy
    dtype, or the name of one, ``"float32"``. Raises SpecError for a wrong expression.

    >>> import numpy as np, segfold as sf
    >>> sf.expression("max(a, b)", "i32", identity="lowest(i32)")(np.array([3, 1, 4], np.int32))
    array([4], dtype=int32)
    """
    for word, value, example in (("combine", combine, "a + b"), ("lift", lift, "x * x"), ("finish", finish, "sqrt(value)")):
        if not isinstance(value, str):
            functions = "; sf.operator() takes functions" if callable(value) else ""
            raise TypeError(f'{word}= takes the text of an expression, such as "{example}", and {value!r} is given{functions}')
    if identity is None or callable(identity):
        raise TypeError(f"identity= takes a number or the text of an expression, and {identity!r} is given; without one leave it out")
    if not isinstance(commutative, bool):
        raise TypeError(f"commutative= takes True or False, and {commutative!r} is given")
    return _segfold.operator_of_expression(combine, _kinds.type_word(type), str(identity), lift, finish, commutative)


@dataclasses.dataclass(frozen=True)
class CounterExample:
    """States that break a law, and the two unequal states that result from them."""

    states: typing.Tuple[typing.Dict[str, typing.Any], ...]  #: a dictionary for each operand
    elements: typing.Tuple[typing.Tuple[typing.Dict[str, typing.Any], ...], ...]  #: the elements from which each state is made
    scalars: typing.Dict[str, typing.Any]  #: values of the scalars that refute the law
    left_side: str  #: the left side of the law, such as ``"combine(combine(a, b), c)"``
    right_side: str
    left: typing.Dict[str, typing.Any]  #: value of the left side
    right: typing.Dict[str, typing.Any]
    text: str  #: the whole counter-example as text

    @property
    def columns(self) -> typing.Dict[str, typing.List[typing.Any]]:
        """The elements of all states, one after the other, as a list per column. They are a small input for the operator.

        For an operator over rows, the lists hold a single feature. ``numpy.reshape(column, (-1, 1))`` makes rows of a list.
        """
        together = [element for state in self.elements for element in state]
        return {name: [element[name] for element in together] for name in (together[0] if together else {})}

    @property
    def offsets(self) -> typing.List[int]:
        """The offsets for :attr:`columns`, with all elements in one segment."""
        return [0, sum(map(len, self.elements))]

    def __str__(self):
        return self.text


@dataclasses.dataclass(frozen=True)
class LawFinding:
    """The verdict on one law, with its evidence. As a bool, it is true unless the law is refuted."""

    law: str  #: ``"associative"``, ``"identity"``, ``"commutative"``, ``"idempotent"``
    #: ``"proved"``, ``"proved_while_nothing_overflows"``, ``"proved_over_reals"``, ``"holds_exhaustively"``,
    #: ``"holds_exhaustively_in_8_bits"``, ``"not_refuted"``, ``"holds_up_to_rounding"``, ``"refuted"``
    verdict: str
    means: str  #: how the verdict was found: ``"search"``, ``"all states"``, ``"bit vectors"``, ``"integers"``, ``"reals"``
    seconds: float  #: processor time of the prover
    invariants: str  #: facts about states that the proof uses, such as ``"0 <= leading <= flights"``
    unproved: str  #: reason why an attempted proof failed; empty otherwise
    holds_without_overflow: bool  #: true if only overflow refutes the law, and it is proved for states that do not overflow
    cases: int  #: number of cases tried
    spread: float  #: largest rounding difference, relative to the largest float of its case
    text: str  #: the whole finding as text
    counter_example: typing.Optional[CounterExample]

    def __bool__(self):
        return self.verdict != "refuted"

    def __str__(self):
        return self.text


class LawReport(typing.Tuple[LawFinding, ...]):
    """The findings on all laws that an operator claims. As a bool, it is true if no law is refuted."""

    undeclared: typing.Tuple[LawFinding, ...] = ()  #: findings on laws that are proved but not claimed
    prover: str = ""  #: such as ``"Z3 4.8.12"``, or the reason why nothing was proved; empty if no proof was requested

    def __bool__(self) -> bool:
        return all(self)

    def __getitem__(self, law: typing.Any) -> typing.Any:
        if not isinstance(law, str):
            return super().__getitem__(law)
        for finding in self:
            if finding.law == law:
                return finding
        raise KeyError(law)

    def __str__(self):
        return "\n".join(finding.text for finding in self)

    def _repr_html_(self):
        from . import _html

        return _html.laws_html(self)


def check(operator: _segfold.Operator, *, seconds: float = 0.2, cases: int = 200000, seed: int = 1, prove: float = 3) -> LawReport:
    """Judges the laws that an operator claims, by a search for counter-examples and by proofs.

    The laws are associativity, the identity, and those in ``laws``. Returns a :class:`LawReport` of :class:`LawFinding`. The search takes at most ``seconds``, and at most ``cases`` for each
    law. Then Z3 is asked about the laws that the search did not refute, for at most ``prove`` seconds of processor time; 0
    disables proofs. If Z3 is missing, ``prover`` of the report says so. Proofs are stored beside the compiled kernels, where
    later processes find them. Raises InputError for an operator whose ``T`` is open.

    >>> import segfold as sf
    >>> report = sf.check(sf.expression("a - b", "i32"))
    >>> bool(report), report["associative"].verdict
    (False, 'refuted')
    >>> report["associative"].counter_example.states
    ({'value': 0}, {'value': 0}, {'value': 1})
    >>> report["associative"].counter_example.columns
    {'x': [0, 0, 1]}
    """

    def finding(facts):
        example = facts.pop("counter_example")
        return LawFinding(**facts, counter_example=example and CounterExample(**example))

    declared, undeclared, prover = _segfold.check(_given("check", operator), seconds, cases, seed, prove)
    report = LawReport(map(finding, declared))
    report.undeclared, report.prover = tuple(map(finding, undeclared)), prover
    return report


@dataclasses.dataclass(frozen=True)
class Tuned:
    """The outcome of a tuning."""

    winner: str  #: ``"warp_stream ring_offsets=256"``; empty if no plan is right
    reason: str  #: reason why the winner won
    milliseconds: float  #: median time of the winner
    measured: int  #: number of measured plans
    file: str  #: file with the measurements


def tune(operator: _segfold.Operator, *arrays: typing.Any, **words: typing.Any) -> Tuned:
    """Searches for the fastest plan for arrays on the host. Returns a :class:`Tuned`.

    Takes arrays and segments like a call of the operator, and two limits of the search: ``seconds`` (60) and ``evaluations``
    (200), the largest number of plans to measure. Plans run on the GPU or the host. All measurements are stored in the user's
    tuning records. After the search, the best plans are compiled for normal use and ranked together, and the winner's results
    are compared with the reference. This takes some seconds more.

    Later folds and plans use the winner. There are two exceptions: tensors of 64-bit offsets, because plans are measured
    with 32-bit indices, and operators over rows, because records do not distinguish the lengths of rows. Raises DeviceError for
    a back end that cannot be timed, such as ``"reference"``.
    """
    return Tuned(**_segfold.tune(_given("tune", operator), *arrays, **words))


@dataclasses.dataclass(frozen=True)
class BenchEntry:
    """The measurement of a stage or a peer."""

    name: str
    configuration: str  #: ``"block_threads=256 items_per_thread=4"``; empty for peers
    is_chosen: bool  #: true if a fold would take this plan
    is_peer: bool
    outcome: str  #: ``"measured"``, ``"abandoned"``, ``"left_out"``, ``"failed"``
    reason: str  #: reason why it was not measured
    milliseconds: float  #: median time
    quartiles: typing.Tuple[float, float]  #: lower and upper quartile
    bytes_per_second: float  #: compulsory bytes per second
    fraction: float  #: share of the memory's read rate
    agrees: bool  #: true if its results are right
    agreement: str  #: the results with which they were compared

    def _cells(self):
        if self.outcome != "measured":
            return (self.name, "", "", "", self.reason)
        return (self.name, f"{self.milliseconds:.4g} ms", f"{self.bytes_per_second / 1e9:.4g} GB/s", f"{self.fraction:.2f}",
                "chosen" if self.is_chosen else "peer" if self.is_peer else "" if self.agrees else "wrong")  # fmt: skip


class Bench(typing.Tuple[BenchEntry, ...]):
    """The entries of a bench, stages first, and the workload on which they were measured."""

    operator: str
    layout: str
    num_elements: int
    num_segments: int
    bytes: int  #: compulsory bytes: each input is read once, each result written once
    chart: typing.Dict[str, typing.Any]  #: a Vega-Lite specification, as for ``altair.Chart.from_dict``; empty if nothing was timed

    @property
    def chosen(self) -> typing.Optional[BenchEntry]:
        """The entry of the plan that a fold would take; None if it was not measured."""
        return next((entry for entry in self if entry.is_chosen and entry.outcome == "measured"), None)

    def __str__(self):
        rows = [("plan", "time", "rate", "of ceiling", ""), *(entry._cells() for entry in self)]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        counts = [f"{count} {noun}{'s' * (count != 1)}" for count, noun in ((self.num_elements, "element"), (self.num_segments, "segment"))]
        lines = [f"{self.operator}, {' in '.join(counts)} ({self.layout})"]
        for row in rows:
            cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:])), row[4]]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_mimebundle_(self, include=None, exclude=None):
        from . import _html

        shown = {"text/plain": str(self), "text/html": _html.bench_html(self)}
        return {**shown, "application/vnd.vegalite.v5+json": self.chart} if self.chart else shown


def bench(operator: _segfold.Operator, *arrays: typing.Any, **words: typing.Any) -> Bench:
    """Times every stage, and peers, on arrays of the host. Returns a :class:`Bench`.

    Takes arrays and segments like a call of the operator. Further arguments are ``repeats`` (21), ``stages`` (names; by default
    all that can run) and ``peers`` (names; on a GPU). Results are compared with each other and, for up to 2^20 elements, with
    the reference. Times are related to the memory's read rate. Raises DeviceError for a back end that cannot be timed, such as
    ``"reference"``.
    """
    facts = _segfold.bench(_given("bench", operator), *arrays, **words)
    made = Bench(BenchEntry(**entry) for entry in facts.pop("entries"))
    made.chart = json.loads(facts.pop("chart"))
    for name, value in facts.items():
        setattr(made, name, value)
    return made


@dataclasses.dataclass(frozen=True)
class Device:
    """A GPU, as described by its driver."""

    ordinal: int
    name: str
    compute_capability: typing.Tuple[int, int]
    multiprocessors: int
    memory_bytes: int
    l2_bytes: int
    peak_bytes_per_second: float
    driver: str  #: the CUDA version of the driver
    uuid: str


def devices() -> typing.List[Device]:
    """Returns the GPUs that this process may use. If there are none, ``no_gpu_reason()`` says why."""
    return [Device(**facts) for facts in _segfold.devices()]


def restore(kind: str, text: str) -> _segfold.Operator:
    """Makes an operator from its origin. Called when unpickling."""
    return _segfold.restore(kind, text)
