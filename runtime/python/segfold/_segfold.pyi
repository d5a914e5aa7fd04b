"""The calls of the C++ library; use them through the package segfold."""

from typing import Any

import typing

__version__: str


class Error(Exception):
    """The base of all errors of segfold."""

class SpecError(Error, ValueError):
    """An operator or a stage is wrong; the message points at the place."""

class InputError(Error, ValueError):
    """Arrays, segments or options are wrong; the message says what was found and what would be right."""

class OpenTypeError(InputError, AttributeError):
    """An attribute of an operator that the type ``T`` decides is asked for before there is one."""

class DeviceError(Error, RuntimeError):
    """The device, the driver or a compiler failed."""

class CheckError(Error):
    """Results differ from what they should be: of ``check=True``."""

class InternalError(Error):
    """A fault of segfold's own."""


class DeviceArray:
    """
    An array on a GPU, as results are given where the caller's framework has no arrays to write. Speaks DLPack and ``__cuda_array_interface__``.
    """

    def __len__(self) -> int: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> str:
        """The elements' type by NumPy's word, ``"float32"``."""

    @property
    def device(self) -> int:
        """The ordinal of the GPU."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

    def __dlpack__(self, **kwargs: Any) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

class Operator:
    """
    An associative operator, which folds the segments of arrays when it is called.

    Made by :func:`segfold.operator` and :func:`segfold.expression`, or one of ``segfold.standard``.
    """

    def __call__(self, *columns: Any, offsets: Any = None, lengths: Any = None, keys: Any = None, flags: Any = None, ranges: Any = None, uniform: int | None = None, by: Any = None, sort: bool = True, groups: Any = None, num_groups: int | None = None, out: Any = None, stage: str | None = None, settings: dict[str, int] | None = None, reproducible: bool = False, backend: str = 'auto', device: int | None = None, kernels: Any = None, assume: Any = (), check: bool = False, validate: bool = False, trust_tables: bool = False, assume_finite: bool = False, longest: int = 0, sort_keys: bool = False, first: str | None = None, **named: Any) -> Any:
        """
        Folds each segment of the columns.

        Columns, tables and scalars are given by position, by name, or in one dictionary; a column is a contiguous array of one
        dimension and of the type that the operator declares, a scalar a number. A column or a table of rows (``x: row f32``) is
        an array ``[n, K]`` in C order, and all rows of a call are of K features. Segments are given by one of

        * ``offsets=``: S + 1 non-decreasing integers, the first 0, the last the number of elements;
        * ``lengths=``: S integers that add up to the number of elements;
        * ``uniform=``: the length of every segment;
        * ``ranges=``: a pair of S begins and S ends, which may leave gaps and overlap;
        * ``keys=``: a key for each element; runs of equal neighbours are the segments, and with ``sort_keys=True`` all elements
          of a key. A tuple of arrays, or an array with a row for each element, are keys of several columns;
        * ``by=``: keys in any order, as ``keys=`` with ``sort_keys=True``; results come in ascending order of the keys, or with
          ``sort=False`` as keys first stand;
        * ``groups=``: the number of its group for each element, in any order, below ``num_groups=``; negative for no group;
        * ``flags=``: a flag for each element, not 0 where a segment begins;

        or by none of them: one segment of all elements.

        Returns an array of S results, of the same kind and on the same device as the first column; where the operator has
        several results, or segments are given by keys, a named tuple of arrays. Results over rows are ``[S, K]``. Results for
        every element (``each``) are as long as the input, ``[n]`` or ``[n, K]``. ``out=`` takes arrays to write instead, in the order of
        the results, as one array, a sequence or a dictionary. A name that a named tuple cannot have ends with an underscore
        instead: ``class_``, ``x_`` for ``_x``, and ``keys_`` beside the keys. An array ``bins`` among the results is an array
        each for ``bins_0``, ``bins_1``, ..., and ``bins`` the tuple of them. Nothing but keys and groups in any order copies arrays; on a GPU the fold is queued
        on the current stream of the arrays' library.

        Further words: ``stage``, ``settings``, ``reproducible`` choose a plan; ``first='fast'`` counts the time to compile, ``first='best'`` does not; ``backend``, ``device``, ``kernels``, ``assume`` a
        back end; ``check=True`` compares every segment with the reference and with Thrust, and warns of those that it cannot judge, as
        values on the way overflow, or as roundings alone may change a value by more than a quarter; for arrays on a GPU, ``validate=True`` checks segments first, ``trust_tables=True`` leaves out the check of table reads, ``assume_finite=True`` says that columns
        hold neither infinities nor NaN, and ``longest`` is the length of the longest segment.

        Raises InputError (a ValueError) for arrays or segments that are wrong, SpecError where a law is refuted that the fold relies
        on, DeviceError where the device or a compiler fails, TypeError for words that nobody knows.
        """

    def scan(self, *columns: Any, exclusive: bool = False, reverse: bool = False, offsets: Any = None, lengths: Any = None, keys: Any = None, flags: Any = None, ranges: Any = None, uniform: int | None = None, by: Any = None, sort: bool = True, groups: Any = None, num_groups: int | None = None, out: Any = None, stage: str | None = None, settings: dict[str, int] | None = None, reproducible: bool = False, backend: str = 'auto', device: int | None = None, kernels: Any = None, assume: Any = (), check: bool = False, validate: bool = False, trust_tables: bool = False, assume_finite: bool = False, longest: int = 0, sort_keys: bool = False, first: str | None = None, **named: Any) -> Any:
        """
        Running results: for each element, the results of the elements of its segment up to it.

        Takes what a call takes, and returns arrays as long as the columns: of ``sum`` the running sum, of ``mean`` the running mean.
        With ``exclusive=True`` an element gets the results of the elements before it; the first one of a segment gets those of an
        empty segment. With ``reverse=True`` segments are scanned from their end. An operator that has a part ``scan`` says itself what
        each element gets; ``reverse`` turns its direction round. None counts as False. A column that is called ``exclusive`` or
        ``reverse`` is given by position or in a dictionary.

        Rows are scanned by ``backend="reference"`` alone; a state of more than 64 bytes, and a ``combine`` that is refuted to be
        associative, by the back ends cpu and reference, not on a GPU.

        Raises InputError for an operator with a ``map``, for overlapping ranges, and where ``exclusive`` is asked of an operator that
        has a part ``scan`` or gives empty segments no result.
        """

    def scanned(self, exclusive: bool = False, reverse: bool = False) -> Operator:
        """
        The operator whose results are the running results of this one, which :meth:`scan` calls: for plans, checks and emitted text of a scan.
        """

    @property
    def name(self) -> str:
        """The operator's name."""

    @property
    def text(self) -> str:
        """The operator in the text form."""

    @property
    def signature(self) -> str:
        """Its first line, ``mean(x: f32) -> f64``."""

    @property
    def is_generic(self) -> bool:
        """True where the type ``T`` is that of the arrays."""

    @property
    def types(self) -> tuple[str, ...]:
        """What ``T`` may be; empty for an operator of fixed types."""

    @property
    def parameters(self) -> tuple[tuple[str, str, bool], ...]:
        """``(name, type, is_table)`` of each array and scalar that a call takes."""

    @property
    def scalars(self) -> tuple[str, ...]:
        """The names of parameters that are one number each."""

    @property
    def rows(self) -> tuple[str, ...]:
        """
        The names of columns and tables that hold rows of features: arrays of two dimensions.
        """

    @property
    def results(self) -> tuple[tuple[str, str], ...]:
        """
        ``(name, type)`` of each array that a call returns: results of segments, then those of elements. Raises OpenTypeError, an InputError and an AttributeError, for an operator without a type.
        """

    @property
    def outputs(self) -> tuple[str, ...]:
        """
        The names of results that have a value for every element: what ``map`` and ``scan`` give.
        """

    @property
    def description(self) -> str:
        """The comment above the operator."""

    @property
    def laws(self) -> tuple[str, ...]:
        """What is claimed beyond associativity."""

    @property
    def has_identity(self) -> bool:
        """True for a monoid, False for a semigroup."""

    def typed(self, type: Any) -> Operator:
        """
        The operator with ``T`` as ``type``: ``sf.f32`` or ``"f32"``, or a dtype of NumPy or its name, ``"float32"``.
        """

    def __and__(self, arg: Operator, /) -> Operator:
        """
        The product: an operator that folds to the results of both in one pass over the elements.

        Columns of one name are one column. Results whose names collide get their operator's name before theirs. Raises InputError where types exclude each other.
        """

    def __reduce__(self) -> tuple[Any, ...]: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

def standard_operator(name: str) -> Operator: ...

def standard_names() -> tuple[tuple[str, str], ...]: ...

def is_standard(name: str) -> bool: ...

def operator_of_text(file: str, text: str) -> Operator: ...

def operator_of_expression(combine: str, type: object, identity: str, lift: str, finish: str, commutative: bool) -> Operator: ...

def restore(kind: str, text: str) -> Operator:
    """What unpickling calls."""

class Plan:
    """
    A stage compiled for an operator, segments and sizes; called with arrays of these sizes, it folds them.

    On a GPU a call queues kernels on the current stream of the arrays' library and waits for nothing. One stream at a time runs a plan that has scratch memory; another one takes a :meth:`copy`.
    """

    def __call__(self, *columns: Any, offsets: Any = None, lengths: Any = None, keys: Any = None, flags: Any = None, ranges: Any = None, uniform: int | None = None, sort_keys: bool | None = None, by: Any = None, out: Any = None, **named: Any) -> Any:
        """
        Folds arrays as a call of the operator does. Raises InputError where sizes are not the plan's.

        Without ``sort_keys`` it sorts by key if the plan was made so.
        """

    def resize(self, *columns: Any, offsets: Any = None, lengths: Any = None, keys: Any = None, flags: Any = None, ranges: Any = None, uniform: int | None = None, **named: Any) -> None:
        """
        Prepares the same program for the sizes of these arrays; may allocate and wait. The stage stays the one that was chosen for the first sizes; :meth:`explain` says under ``resized`` what a new plan would take. Raises InputError where segments are given in another way.
        """

    def copy(self) -> Plan:
        """The same plan with scratch memory of its own, for another stream."""

    def move_to(self, stream: int) -> None:
        """
        Lets another stream (its handle) run the plan; what was queued before must be done.
        """

    def require_tables_read_inside(self, stream: int = 0) -> None:
        """
        Waits for the stream; raises InputError where a run has read a table outside of its length.
        """

    def explain(self) -> dict[str, str]:
        """
        Why this plan, as a dictionary of words: ``plan``, ``lookup``, ``why``, ...
        """

    @property
    def operator(self) -> Operator:
        """The operator, of fixed types."""

    @property
    def stage(self) -> str:
        """The name of the stage; empty for a back end without stages."""

    @property
    def chosen_by(self) -> str:
        """
        Who chose the stage: ``"asked for"``, ``"measured here"``, ``"spot record"``, ``"tuning record"``, ``"measured rows"``, ...
        """

    @property
    def source(self) -> str:
        """The emitted text that runs; empty for a back end without stages."""

    @property
    def backend(self) -> str:
        """The back end: ``"cuda"``, ``"simt"``, ..."""

    @property
    def device(self) -> str:
        """What runs it: the GPU, or the host's threads."""

    @property
    def warnings(self) -> list[str]:
        """What should be known before relying on results."""

    @property
    def scratch_bytes(self) -> int:
        """Bytes of scratch memory on the GPU."""

    def __repr__(self) -> str: ...

def plan(operator: Operator, /, *columns: Any, offsets: Any = None, lengths: Any = None, keys: Any = None, flags: Any = None, ranges: Any = None, uniform: int | None = None, stage: str | None = None, settings: dict[str, int] | None = None, reproducible: bool = False, backend: str = 'auto', device: int | None = None, kernels: Any = None, assume: Any = (), validate: bool = False, trust_tables: bool = False, assume_finite: bool = False, longest: int = 0, sort_keys: bool = False, by: Any = None, sort: bool = True, first: str | None = None, measure: int | None = None, **named: Any) -> Plan:
    """
    Chooses and compiles a plan for arrays and segments such as these, whose sizes, types and place count.

    Takes the words of a call of the operator, but for ``out`` and ``check``; raises what a call raises, and warns once of what a call would warn of. It knows no data: where NaN alone makes an operator not associative, the results of segments with NaN may depend on the stage.

    With a number for measure, so many stages of the measured order run on these arrays, and the fastest is kept; the times are kept too, and another such plan takes them. Where combine rounds, last bits may differ from those of the first. ``first='fast'`` counts the time to compile.
    """

class Stream:
    """
    What :func:`segfold.stream` works with: tuples of arrays, one after the other.
    """

    def __iter__(self) -> object: ...

    def __next__(self) -> object: ...

    def close(self) -> None:
        """Ends the work; what was not taken is lost."""

    def leave(self) -> bool:
        """
        Lets the work end by itself, when the iterable has given what it is asked for. True where it has.
        """

    @property
    def is_done(self) -> bool:
        """Whether ``close`` would wait for nothing."""

    @property
    def names(self) -> list[str]:
        """The arrays of each tuple."""

    def warn_of_news(self) -> None:
        """Warns of what was not told yet."""

def open_stream(operator: Operator, columns: list[Any], layout: str, uniform: int, marks: object | None, num_groups: int | None, sort: bool, num_elements: int | None, memory: int, backend: str, device: int | None, stage: str | None, reproducible: bool, assume: object) -> Stream:
    """What :func:`segfold.stream` calls."""

def check(operator: Operator, seconds: float, cases: int, seed: int, prove: float) -> tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...], str]: ...

def gradient_of(operator: Operator, column: str) -> tuple: ...

def has_zero_gradient(operator: Operator, parameter: str) -> bool: ...

def factors_of_sum(operator: Operator) -> object: ...

def places_read(operator: Operator) -> tuple[bool, bool, tuple[str, ...]]: ...

def takes_empty_segments(operator: Operator) -> bool:
    """Whether segments may be empty."""

def with_index_column(operator: Operator) -> Operator:
    """The operator with a further column, i64, in place of ``index``."""

def tune(operator: Operator, *arrays: Any, **words: Any) -> dict[str, Any]: ...

def bench(operator: Operator, *arrays: Any, **words: Any) -> dict[str, Any]: ...

def devices() -> list[dict[str, Any]]: ...

def export_plans(path: str, operators: list[Operator], architectures: list[str], layouts: list[str], num_elements: int | None, index_bits: int, key_bytes: int) -> tuple[str, tuple[tuple[str, str, int], ...]]: ...

def import_plans(path: str) -> tuple[str, tuple[tuple[str, str, int], ...]]: ...

def no_gpu_reason() -> str:
    """Why ``devices()`` is empty, in one sentence; empty where it is not."""

def backends() -> tuple[tuple[str, str], ...]:
    """``(name, summary)`` of every back end."""

def automatic_backend() -> str:
    """What ``backend="auto"`` stands for on this machine."""

def nvrtc() -> tuple[str, str]:
    """
    ``(version, path)`` of the CUDA compiler. Raises DeviceError where there is none, saying where it was looked for.
    """

def traced_operator(facts: dict[str, Any]) -> Operator: ...

def raise_spec_error(file: str, line: int, message: str, hint: str) -> None: ...

def xla_handlers(minor: int) -> dict[str, object] | None:
    """
    Handlers of XLA's foreign function interface, by platform; None where ``has_xla()`` is false. ``minor`` is the version of the interface that XLA's header states.
    """

def has_xla() -> bool:
    """Whether this was built with the header of XLA's interface."""

def prepare_for_xla(operator: Operator, layout: str, uniform: int, index_type: str, num_entries: int, num_elements: int, num_features: int, device: int) -> None: ...

def wait_for_abandoned() -> None: ...
