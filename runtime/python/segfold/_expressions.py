"""Expression trees that traced functions build."""

import itertools
import math

from . import _kinds, _of_numpy, _segfold
from ._refusal import place, refuse

_numbers = itertools.count()


class Type:
    """A scalar type.

    Calling it converts a value: ``sf.f32(n)``. Indexing it gives the type of an array of fields: ``sf.f32[4]``.
    """

    __slots__ = ("name", "is_float", "is_integer")

    def __init__(self, name):
        self.name = name
        self.is_float = "f" in name
        self.is_integer = name[0] in "iu"

    def __call__(self, value):
        """Converts ``value`` to this type.

        Integers keep their low bits. Floating-point values are rounded toward zero and saturate.
        """
        return make("convert", (self.name,), (as_value(value),), self)

    def __getitem__(self, length):
        """Returns the type of an array of ``length`` fields; ``length`` is 1 to 256."""
        return _kinds.array(self, length)

    __iter__ = None  # otherwise Python would iterate with __getitem__(0), __getitem__(1), ...

    @property
    def word(self):
        """The type's name in the package segfold."""
        return "bool_" if self.name == "bool" else self.name

    def __repr__(self):
        return f"segfold.{self.word}"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return (_type_called, (self.name,))


types = tuple(Type(name) for name in "bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64".split())
_types = {type.name: type for type in types}
BOOL, I32 = _types["bool"], _types["i32"]


def _type_called(name):
    return _types[name]


def as_type(kind):
    """Returns the type for a NumPy dtype or scalar type. Returns other objects and unknown dtypes unchanged."""
    try:
        return _types[_kinds.type_word(kind)] if _kinds.is_of_numpy(kind) else kind
    except _segfold.InputError:
        return kind


class Part:
    """A part of an operator that is being traced.

    Its text is, for example, "combine of operator total". Values refer to their part.
    """

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


FOREIGN = "a traced value serves the function that was given it, and no other; take what you need as an argument, and write it anew"


class Value:
    """A value that the operator will compute. Tracing makes it; users never construct one."""

    __slots__ = ("_sf_kind", "_sf_facts", "_sf_arguments", "_sf_type", "_sf_number", "_sf_place", "_sf_part")

    def __init__(self, kind, facts, arguments, type, part=None):
        self._sf_kind = kind  #: "name", "field", "binary", ...; see bind/trace.cpp
        self._sf_facts = facts
        self._sf_arguments = arguments
        self._sf_type = type  #: None if the value is made of plain numbers only; its type then follows from the context
        self._sf_number = next(_numbers)  #: greater than the numbers of its arguments
        self._sf_place = place()
        self._sf_part = part  #: the part that the value belongs to; None for numbers and for values such as sf.length()
        if arguments:
            self._sf_part = _part_of(self, arguments, part)

    @property
    def type(self):
        return self._sf_type

    def __repr__(self):
        return f"<{self._sf_described()}, traced>"

    def _sf_described(self):
        """Describes the value for messages: "a value of f32", "the number 0.5"."""
        if self._sf_kind == "number":
            return f"the number {self._sf_facts[0]}"
        return "a bare number" if self._sf_type is None else f"a value of {self._sf_type}"

    def _sf_origin(self):
        """Names the value and its part for messages: "field 'sum' of combine of operator total"."""
        what = (f"field '{self._sf_facts[1]}'" if self._sf_kind == "field" else f"'{self._sf_facts[0]}'" if self._sf_kind == "name"
                else f"an element of table '{self._sf_facts[0]}'" if self._sf_kind == "gather" else self._sf_described())
        return f"{what} of {self._sf_part.text}"

    def __add__(self, other):
        return _arithmetic("+", self, other)

    def __radd__(self, other):
        return _arithmetic("+", other, self)

    def __sub__(self, other):
        return _arithmetic("-", self, other)

    def __rsub__(self, other):
        return _arithmetic("-", other, self)

    def __mul__(self, other):
        return _arithmetic("*", self, other)

    def __rmul__(self, other):
        return _arithmetic("*", other, self)

    def __truediv__(self, other):
        return _arithmetic("/", self, other)

    def __rtruediv__(self, other):
        return _arithmetic("/", other, self)

    def __mod__(self, other):
        return _of_integers("%", self, other)

    def __rmod__(self, other):
        return _of_integers("%", other, self)

    def __lshift__(self, other):
        return _of_integers("<<", self, other)

    def __rlshift__(self, other):
        return _of_integers("<<", other, self)

    def __rshift__(self, other):
        return _of_integers(">>", self, other)

    def __rrshift__(self, other):
        return _of_integers(">>", other, self)

    def __and__(self, other):
        return _bitwise("&", self, other)

    def __rand__(self, other):
        return _bitwise("&", other, self)

    def __or__(self, other):
        return _bitwise("|", self, other)

    def __ror__(self, other):
        return _bitwise("|", other, self)

    def __xor__(self, other):
        return _bitwise("^", self, other)

    def __rxor__(self, other):
        return _bitwise("^", other, self)

    def __pow__(self, other, modulus=None):
        if modulus is not None:
            refuse("pow of three numbers is no function of the language", "write sf.power(x, y), and a % b of integers")
        self._require("**", "is_float", "a floating-point value", "f32")
        return call("pow", (self, as_value(other)), self._sf_type)

    def __rpow__(self, other):
        self._require("**", "is_float", "a floating-point value", "f32")
        return call("pow", (as_value(other), self), self._sf_type)

    def __floordiv__(self, other):
        if self._sf_type is not None and self._sf_type.is_float:
            refuse("'//' is no operator of the language", "write sf.floor(a / b)")
        refuse("'//' rounds down, and the language divides integers toward zero", "write a / b")

    __rfloordiv__ = __floordiv__

    def __divmod__(self, other):
        refuse("a traced value is no number yet, so 'divmod' cannot take it", "write a / b and a % b")

    __rdivmod__ = __divmod__

    def __matmul__(self, other):
        refuse("'@' is no operator of the language", "write a * b in lift, and a + b in combine")

    __rmatmul__ = __matmul__

    def __eq__(self, other):
        return _comparison("==", self, other)

    def __ne__(self, other):
        return _comparison("!=", self, other)

    def __lt__(self, other):
        return _comparison("<", self, other)

    def __le__(self, other):
        return _comparison("<=", self, other)

    def __gt__(self, other):
        return _comparison(">", self, other)

    def __ge__(self, other):
        return _comparison(">=", self, other)

    def __hash__(self):
        refuse("a traced value is no number yet, so that no dict or set can look it up", "write sf.where(x == 1, yes, no)")

    def __neg__(self):
        if self._sf_type is BOOL:
            refuse("'-' takes a number, and a value of bool is given")
        return make("unary", ("-",), (self,), self._sf_type)

    def __pos__(self):
        return self

    def __invert__(self):
        if self._sf_type is BOOL:
            return make("unary", ("!",), (self,), BOOL)
        self._require("~", "is_integer", "an integer or a bool", "i32")
        return make("unary", ("~",), (self,), self._sf_type)

    def __abs__(self):
        if self._sf_type is BOOL:
            refuse("abs takes a number, and a value of bool is given")
        return call("abs", (self,), self._sf_type)

    def __bool__(self):
        refuse("a traced value is neither true nor false yet, so 'if', 'and', 'or', 'not', 'a < b < c', 'max' and 'min' cannot ask it",
               "write sf.where(condition, yes, no), sf.logical_and(a, b), sf.logical_or(a, b), sf.logical_not(a), sf.maximum(a, b) "
               "or sf.minimum(a, b)")

    def __iter__(self):
        refuse("a traced value has no elements to go through")

    def __getitem__(self, at):
        refuse("a traced value is one number, and has no elements that an index could choose",
               "x[i] reads a table, declared as x: sf.table(sf.f32); a field of a state is read by its name, as in a.sum")

    def __setitem__(self, at, value):
        refuse("a traced value does not change, and has no elements that an index could choose", "return a new value")

    def __len__(self):
        refuse("a traced value is one number, and has no length", "sf.length() is the number of elements of the segment")

    def __index__(self):
        refuse("a traced value is no number yet, so 'range', indices of lists and all else that needs an integer now cannot take it",
               "give them a number of Python; in a loop of so many turns, sf.where(i < n, yes, no) leaves out those above n")

    def __format__(self, wanted):
        if wanted:
            refuse(f"a traced value is no number yet, so the format '{wanted}' cannot write it",
                   "the function runs once, before there are numbers; print the results of a call")
        return str(self)

    def __complex__(self):
        refuse("a traced value is no number yet, so 'complex' cannot take it", "the language has no complex numbers; fold two columns")

    def __trunc__(self):
        refuse("a traced value is no number yet, so math.trunc cannot take it", "sf.i32(x) rounds toward zero")

    def __float__(self):
        refuse("a traced value is no number yet, so 'float' and the functions of math cannot take it",
               "write sf.exp(x), sf.sqrt(x) and so on; sf.f32(x) converts")

    def __int__(self):
        refuse("a traced value is no number yet, so 'int' cannot take it", "sf.i32(x) converts, and sf.floor(x) rounds")

    def __round__(self, digits=None):
        refuse("a traced value is no number yet, so 'round' cannot take it", "write sf.round(x)")

    def __floor__(self):
        refuse("a traced value is no number yet, so math.floor cannot take it", "write sf.floor(x)")

    def __ceil__(self):
        refuse("a traced value is no number yet, so math.ceil cannot take it", "write sf.ceil(x)")

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)  # Python and libraries probe for private and special attributes
        _of_numpy.refuse_attribute(name, "a traced value is one number, and has no '{}'")

    def __array_ufunc__(self, function, method, *inputs, **words):
        name = function.__name__
        if method == "__call__" and not words and name in _of_numpy.OPERATORS and len(inputs) == 2:
            return _of_numpy.OPERATORS[name](*map(as_value, inputs))  # as in numpy.float32(2) * x
        _of_numpy.refuse_function(name if method == "__call__" else f"{name}.{method}")

    def __array_function__(self, function, types, arguments, words):
        _of_numpy.refuse_function(function.__name__)

    def __array__(self, *arguments, **words):
        _of_numpy.refuse_array()

    def _require(self, symbol, property, wanted, type):
        if self._sf_type is None or not getattr(self._sf_type, property):
            refuse(f"'{symbol}' takes {wanted}, and {self._sf_described()} is given", f"convert it, as in sf.{type}(x)")


_BINARY = {"+": "add radd", "-": "sub rsub neg", "*": "mul rmul", "/": "truediv rtruediv", "//": "floordiv rfloordiv", "%": "mod rmod",
           "**": "pow rpow", "@": "matmul rmatmul", "<<": "lshift rlshift", ">>": "rshift rrshift", "==": "eq", "!=": "ne", "<": "lt",
           "<=": "le", ">": "gt", ">=": "ge", "&": "and rand", "|": "or ror", "^": "xor rxor"}  # fmt: skip
_UNARY = {"~": "invert", "+": "pos", "abs": "abs", "int": "int", "float": "float", "complex": "complex", "round": "round",
          "len": "len", "range": "index", "divmod": "divmod"}  # fmt: skip


def refuse_operations(kind):
    """Makes instances of ``kind``, which are not values, refuse operators such as ``==`` that Python defines for all objects.

    The message names the object by ``_sf_told()`` and ends with the advice ``_sf_advice(symbol)``.
    """

    def refusing(symbol):
        def refusing(given, *others):
            refuse(f"'{symbol}' takes values, and {given._sf_told()} is given", given._sf_advice(symbol))

        return refusing

    for symbol, names in [*_BINARY.items(), *_UNARY.items()]:
        for name in names.split():
            setattr(kind, f"__{name}__", refusing(symbol))
    kind.__array_ufunc__ = lambda given, function, *rest, **words: refusing(f"numpy.{function.__name__}")(given)
    kind.__array_function__ = lambda given, function, *rest: refusing(f"numpy.{function.__name__}")(given)
    kind.__array__ = lambda given, *rest, **words: refusing("numpy")(given)


class Table:
    """A side table in a traced function, which may be read at any index: ``t[i]``."""

    __slots__ = ("name", "type", "part")

    _sf_described = "a table"

    def __init__(self, name, type, part=None):
        self.name = name
        self.type = type
        self.part = part

    def _sf_told(self):
        return self._sf_described

    def _sf_advice(self, symbol):
        return f"read an element of it, as in {self.name}[i]"

    def __iter__(self):
        refuse("a traced table has no elements to go through, because its length is not known yet", self._sf_advice(""))

    def __bool__(self):
        refuse("a traced table is neither true nor false yet, so that 'if' cannot ask it", self._sf_advice(""))

    def __hash__(self):
        refuse("a traced table is no value yet, so that no dict or set can look it up", self._sf_advice(""))

    def __getitem__(self, at):
        at = as_value(at)
        if at._sf_type is not None and not at._sf_type.is_integer:
            refuse(f"the index of table '{self.name}' is {at._sf_described()}", "an index is an integer: sf.i32(i)")
        return make("gather", (self.name,), (at,), self.type, self.part)


refuse_operations(Table)


def make(kind, facts, arguments, type, part=None):
    return Value(kind, facts, arguments, type, part)


def _part_of(made, arguments, part):
    """Returns the part of a new value, which is the part of its arguments. Refuses arguments from different parts."""
    of = made
    for value in arguments:
        if value._sf_part is None or value._sf_part is part:
            continue
        if part is not None:
            refuse(f"{of._sf_origin()} and {value._sf_origin()} meet in one expression", FOREIGN)
        part, of = value._sf_part, value
    return part


def constant(name):
    return make("constant", (name,), (), None)


def call(name, arguments, type):
    return make("call", (name,), arguments, type)


def as_value(value, whose="", at=None):
    """Returns ``value`` as a traced value; converts a plain number. Messages name the owner ``whose`` and the place ``at``."""
    if isinstance(value, Value):
        return value
    if isinstance(value, bool) or type(value).__name__ == "bool_":
        return make("number", (bool(value),), (), BOOL)
    if isinstance(value, int):
        return make("number", (value,), (), None)
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0 and type(value.item()) is not type(value):
        return as_value(value.item(), whose, at)
    if isinstance(value, float):
        return _real(value)
    what = getattr(type(value), "_sf_described", f"a {type(value).__name__}")
    refuse(f"{whose}{what} stands where a value or a number belongs", at=at)


def _real(value):
    if math.isnan(value):
        return constant("nan")
    if math.isinf(value):
        return constant("inf") if value > 0 else -constant("inf")
    return make("number", (value,), (), None)


def literal_type(values):
    """Returns the type of the first typed value; None if all values are plain numbers."""
    return next((value._sf_type for value in values if value._sf_type is not None), None)


def _pair(symbol, a, b):
    a, b = as_value(a), as_value(b)
    if a._sf_type is not None and b._sf_type is not None and a._sf_type is not b._sf_type:
        refuse(f"'{symbol}' takes two values of one type, and {a._sf_described()} and {b._sf_described()} are given",
               f"convert the bool, as in sf.{(b if a._sf_type is BOOL else a)._sf_type.word}(x)" if BOOL in (a._sf_type, b._sf_type)
               else f"convert one of them, as in sf.{a._sf_type.word}(x)")
    return a, b, a._sf_type or b._sf_type


def _arithmetic(symbol, a, b):
    a, b, common = _pair(symbol, a, b)
    if common is BOOL:
        refuse(f"'{symbol}' takes numbers, and a value of bool is given", "convert it, as in sf.i32(x)")
    return make("binary", (symbol,), (a, b), common)


def _of_integers(symbol, a, b):
    a, b, common = _pair(symbol, a, b)
    if common is not None and not common.is_integer:
        refuse(f"'{symbol}' takes integers, and a value of {common} is given", "convert it, as in sf.i32(x)")
    return make("binary", (symbol,), (a, b), common)


def _bitwise(symbol, a, b):
    a, b, common = _pair(symbol, a, b)
    if common is not None and common.is_float:
        refuse(f"'{symbol}' takes integers or bools, and a value of {common} is given", "convert it, as in sf.i32(x)")
    return make("binary", (symbol,), (a, b), common)


def _comparison(symbol, a, b):
    a, b, common = _pair(symbol, a, b)
    if common is BOOL and symbol not in ("==", "!="):
        refuse(f"'{symbol}' takes numbers, and a value of bool is given")
    return make("binary", (symbol,), (a, b), BOOL)
