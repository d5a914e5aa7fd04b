"""The states that traced functions receive."""

from ._arrays import values_of
from ._expressions import Value, make, refuse_operations
from ._of_numpy import refuse_attribute
from ._refusal import refuse


def _refuse_assignment(name, fields):
    refuse(f"the field '{name}' of a state is assigned, and a traced state does not change",
           f"return dict({', '.join(f'{field}=...' for field in fields)})" if len(fields) > 1 else f"return a value, as in a.{fields[0]} + b.{fields[0]}")


class State:
    """A state with several fields in a traced function, read as ``a.mean``. ``dict(a, mean=m)`` copies its other fields."""

    _sf_described = "a state"

    def __init__(self, operand, members, part):
        self.__dict__["_sf_fields"] = values_of(members, lambda name, type: make("field", (operand, name), (), type, part))

    def _sf_told(self):
        return f"a state of {len(self._sf_fields)} fields"

    def _sf_advice(self, symbol):
        first = next(iter(self._sf_fields))
        return f"write it of fields, as in a.{first} {symbol} b.{first}" if not symbol[0].isalpha() and symbol != "~" else self._sf_listed()

    def _sf_listed(self):
        return f"its fields are {', '.join(self._sf_fields)}"

    def __getattr__(self, name):
        fields = self.__dict__["_sf_fields"]
        if name in fields:
            return fields[name]
        if name == "keys":
            return fields.keys
        if name.startswith("__"):
            raise AttributeError(name)  # Python and NumPy probe for special methods
        refuse(f"unknown state field '{name}'; the fields are {', '.join(fields)}")

    def __setattr__(self, name, value):
        _refuse_assignment(name, self._sf_fields)

    def __getitem__(self, name):
        if not isinstance(name, str) or name not in self._sf_fields:
            refuse(f"a traced state has no element {name!r}", self._sf_listed())
        return self._sf_fields[name]

    def __iter__(self):
        refuse("a traced state cannot be gone through", self._sf_listed())

    def __format__(self, wanted):
        if wanted:
            refuse(f"a traced state is no number, so the format '{wanted}' cannot write it", self._sf_listed())
        return str(self)

    def __bool__(self):
        refuse("a traced state is neither true nor false yet, so that 'if' cannot ask it", "write sf.where(condition, yes, no) for each field")

    def __hash__(self):
        refuse("a traced state is no value yet, so that no dict or set can look it up", self._sf_listed())


refuse_operations(State)  # by default, Python would compare states by address


class OneField(Value):
    """A state with one field in a traced function.

    It is the field's value; the attribute with the field's name is the same value.
    """

    __slots__ = ("_sf_field",)

    def __init__(self, operand, field, type, part):
        self._sf_field = field
        super().__init__("field", (operand, field), (), type, part)

    def __getattribute__(self, name):
        return self if name == object.__getattribute__(self, "_sf_field") else object.__getattribute__(self, name)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        refuse_attribute(name, f"unknown state field '{{}}'; the field is {self._sf_field}")

    def __setattr__(self, name, value):
        if not name.startswith("_sf_"):
            _refuse_assignment(name, [self._sf_field])
        object.__setattr__(self, name, value)
