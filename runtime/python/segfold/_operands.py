"""The states that traced functions are given: of several fields, and of one."""

from ._expressions import Value, make, refuse


def _refuse_assignment(name, fields):
    refuse(f"the field '{name}' of a state is assigned, and a traced state does not change",
           f"return dict({', '.join(f'{field}=...' for field in fields)})" if len(fields) > 1 else f"return a value, as in a.{fields[0]} + b.{fields[0]}")


class State:
    """An operand of several fields in a traced function: ``a.mean``. ``dict(a, mean=m)`` has the other fields of ``a``."""

    _sf_described = "a state"

    def __init__(self, operand, fields):
        self.__dict__["_sf_fields"] = {name: make("field", (operand, name), (), type) for name, type, _ in fields}

    def __getattr__(self, name):
        fields = self.__dict__["_sf_fields"]
        if name in fields:
            return fields[name]
        if name == "keys":
            return fields.keys
        if name.startswith("__"):
            raise AttributeError(name)  # Python and NumPy ask for what a state might do
        refuse(f"unknown state field '{name}'; the fields are {', '.join(fields)}")

    def __setattr__(self, name, value):
        _refuse_assignment(name, self._sf_fields)

    def __getitem__(self, name):
        return self._sf_fields[name]

    def __iter__(self):
        refuse("a traced state cannot be gone through", f"its fields are {', '.join(self._sf_fields)}")

    def __bool__(self):
        refuse("a traced state is neither true nor false yet, so that 'if' cannot ask it", "write sf.where(condition, yes, no) for each field")

    def __hash__(self):
        refuse("a traced state is no value yet, so that no dict or set can look it up", f"its fields are {', '.join(self._sf_fields)}")


def _refusing(symbol):
    def refusing(state, *others):
        first = next(iter(state._sf_fields))
        refuse(f"'{symbol}' takes values, and a state of {len(state._sf_fields)} fields is given",
               f"write it of fields, as in a.{first} {symbol} b.{first}")

    return refusing


# Python would compare states by their places in memory.
for _symbol, _names in {"+": "add radd", "-": "sub rsub neg", "*": "mul rmul", "/": "truediv rtruediv", "==": "eq", "!=": "ne", "<": "lt",
                        "<=": "le", ">": "gt", ">=": "ge", "&": "and rand", "|": "or ror", "^": "xor rxor"}.items():  # fmt: skip
    for _name in _names.split():
        setattr(State, f"__{_name}__", _refusing(_symbol))


class OneField(Value):
    """An operand of one field: the value of the field, which is also found by its name."""

    __slots__ = ("_sf_field",)

    def __init__(self, operand, field, type):
        self._sf_field = field
        super().__init__("field", (operand, field), (), type)

    def __getattribute__(self, name):
        return self if name == object.__getattribute__(self, "_sf_field") else object.__getattribute__(self, name)

    def __getattr__(self, name):
        if name.startswith("_") or name in ("ndim", "item", "dtype"):
            raise AttributeError(name)
        refuse(f"unknown state field '{name}'; the field is {self._sf_field}")

    def __setattr__(self, name, value):
        if not name.startswith("_sf_"):
            _refuse_assignment(name, [self._sf_field])
        object.__setattr__(self, name, value)
