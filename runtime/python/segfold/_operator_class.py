"""Makes operators from Python classes and functions."""

import dataclasses
import difflib
import inspect
import keyword
import sys
import typing

from . import _segfold
from ._arrays import Entries, flat, is_list, spread, values_of
from ._expressions import FOREIGN, Part, Table, Type, Value, as_type, as_value, make
from ._kinds import array, each, refuse_kind, row, scalar, table
from ._lets import lets_of
from ._operands import OneField, State
from ._refusal import caller, refuse

_PARTS = ("lift", "combine", "append", "finish", "empty", "map", "scan", "reverse_scan")
_SCANS = ("scan", "reverse_scan")
_OF_ELEMENTS = ("map", *_SCANS)
_LAWS = ("commutative", "idempotent")
_NAMES = ("state", *_PARTS, "results", "laws")  # attributes of a class that are not columns
_A_TYPE = "an annotation is a type of segfold: sf.f32"


def operator_of(definition, **words):
    """Makes an operator from a class or a function; see :func:`segfold.operator`."""
    if isinstance(definition, type):
        made = _of_class(definition, words)
        made.state = definition.state  # lets the state of another operator inherit these fields
        made.__mro_entries__ = lambda bases: (definition,)  # a class with this operator as its base inherits from the definition
        return made
    return _of_function(definition, words)


def _of_class(made, words):
    unknown = [word for word in words if word not in _LAWS]
    if unknown:
        raise TypeError(f"operator() of a class takes {' and '.join(_LAWS)}, and {', '.join(unknown)} are given")
    at = _place_of(made)
    columns = _columns(_annotations(made), at)
    _refuse_unknown_names(made, [column.name for column in columns], at)
    laws = getattr(made, "laws", ())
    if not isinstance(laws, (str, list, tuple, set, frozenset)):
        refuse(f"laws of operator {made.__name__} are {laws!r}", f'laws are names, as in laws = "{", ".join(_LAWS)}"', at)
    laws = [law.strip() for law in laws.split(",")] if isinstance(laws, str) else list(laws)
    for law in laws:
        if law not in _LAWS:
            refuse(f"'{law}' is no law that can be claimed", f"the laws are {', '.join(_LAWS)}", at)
    if not hasattr(made, "state"):
        refuse(f"operator {made.__name__} has no state", "write class state: sum: sf.f32 = 0", at)
    state = made.state
    fields = []
    for name, kind in _annotations(state).items() if inspect.isclass(state) else ():
        if not isinstance(kind, (Type, array)):
            refuse_kind(f"state field '{name}'", kind, f"write {name}: sf.f32 = 0", at)
        fields.append((name, kind, _default_of(state, name)))
    if not fields:
        refuse(f"operator {made.__name__} has no state", "write class state: sum: sf.f32 = 0", at)
    return _build(
        at=at,
        name=made.__name__,
        description=inspect.getdoc(made) if made.__doc__ else "",
        columns=columns,
        fields=fields,
        parts={part: _attributes(made).get(part) for part in _PARTS},
        laws={law: law in laws or bool(words.get(law)) for law in _LAWS},
        declared=_declared_results(getattr(made, "results", None), at),
    )


def _attributes(made):
    """Returns the attributes of a class and its bases by name, except the attributes of ``object``."""
    held = {name: value for base in reversed(made.__mro__[:-1]) for name, value in vars(base).items()}
    return {name: value.__func__ if isinstance(value, staticmethod) else value for name, value in held.items()}


def _default_of(state, name):
    """Returns the identity of a field in the class of a state. Named tuples and data classes store it in different places."""
    if name in getattr(state, "_field_defaults", {}):
        return state._field_defaults[name]
    if name in getattr(state, "__dataclass_fields__", {}):
        default = state.__dataclass_fields__[name].default
        return None if default is dataclasses.MISSING else default
    held = _attributes(state).get(name)
    # A named tuple has a descriptor for a field without a default.
    return None if name in getattr(state, "_fields", ()) else held


def _annotations(made):
    """Returns the annotations of a class and its bases, those of the bases first."""
    return {name: kind for base in reversed(made.__mro__[:-1]) for name, kind in _own_annotations(base).items()}


def _own_annotations(made):
    """Returns the annotations of a class without its bases, or of a function.

    Annotations given as strings are evaluated in its scope.
    """
    whose = getattr(made, "__name__", repr(made))
    try:
        annotations = inspect.get_annotations(made)
    except NameError as error:  # Python 3.14 evaluates annotations only here
        refuse(f"an annotation of {whose} cannot be read: {error}", _A_TYPE, _place_of(made))
    known = getattr(made, "__globals__", None) or vars(sys.modules.get(getattr(made, "__module__", None), typing))
    frame = caller()
    near = dict(frame.f_locals) if frame and frame.f_globals is known else {}
    near.update(vars(made) if isinstance(made, type) else {})

    def read(name, kind):
        try:
            return as_type(eval(kind, known, near) if isinstance(kind, str) else kind)
        except Exception as error:
            refuse(f"the annotation {kind!r} of '{name}' in {whose} cannot be read: {error}", _A_TYPE, _place_of(made))

    return {name: read(name, kind) for name, kind in annotations.items()}


def _refuse_unknown_names(made, columns, at):
    for name, value in _attributes(made).items():
        if name.startswith("_") or name in _NAMES or name in columns:
            continue
        near = difflib.get_close_matches(name, _NAMES, 1)
        meant = f"did you mean '{near[0]}'?" if near else f"the parts are {', '.join(_NAMES)}."
        refuse(f"nothing in operator {made.__name__} is called '{name}'", f"{meant} Names of your own begin with an underscore",
               _place_of(value) if hasattr(value, "__code__") else at)


def _of_function(function, words):
    allowed = ("identity", *_PARTS[:1], *_PARTS[2:], *_LAWS)
    unknown = [word for word in words if word not in allowed]
    if unknown:
        raise TypeError(f"operator() of a function takes {', '.join(allowed)}, and {', '.join(unknown)} are given")
    if not hasattr(function, "__code__") and not inspect.get_annotations(function):
        refuse(f"{function!r} is no function of Python code, and cannot be traced",
               "write one of two values with types: def total(a: sf.f32, b: sf.f32)")
    at = _place_of(function)
    names = list(inspect.signature(function).parameters)
    if len(names) != 2:
        refuse(f"combine of operator {function.__name__} takes {len(names)} {'value' if len(names) == 1 else 'values'}",
               "it takes two, the earlier one first: def total(a: sf.f32, b: sf.f32)", at)
    annotations = _own_annotations(function)
    for name in names:
        if name not in annotations:
            refuse(f"'{name}' of operator {function.__name__} has no type", "write def total(a: sf.f32, b: sf.f32)", at)
        if not isinstance(annotations[name], Type):
            refuse_kind(f"'{name}' of operator {function.__name__}", annotations[name], "write def total(a: sf.f32, b: sf.f32)", at)
    kind, other = (annotations[name] for name in names)
    if kind != other:
        refuse(f"'{names[0]}' of operator {function.__name__} is of {kind}, and '{names[1]}' of {other}",
               "combine takes two values of one type, as in def total(a: sf.f32, b: sf.f32)", at)
    lift = words.get("lift")
    columns = [_Column("x", kind)]
    if lift is not None:
        lifted = _columns(_own_annotations(lift), at) if callable(lift) else []
        columns = lifted or [_Column(name, kind) for name in _arguments_of(f"lift of operator {function.__name__}", lift)]
    return _build(
        at=at,
        name=function.__name__ if function.__name__.isidentifier() else "expression",
        description=inspect.getdoc(function) or "",
        columns=columns,
        fields=[("value", kind, words.get("identity"))],
        parts={"lift": lift or (lambda x: x), "combine": function, **{part: words.get(part) for part in _PARTS[2:]}},
        laws={law: bool(words.get(law)) for law in _LAWS},
        declared=[],
    )


def _arguments_of(what, function, known=()):
    """Returns the names of a part's arguments.

    Omits a trailing argument with a default, such as ``k=k``, unless its name is in ``known``.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
        while parameters and parameters[-1].default is not inspect.Parameter.empty and parameters[-1].name not in known:
            parameters.pop()
        return [parameter.name for parameter in parameters]
    except (TypeError, ValueError):  # not callable, or without a signature
        pass
    refuse(f"{what} is {function!r}, which cannot be traced", "write a function of Python code")


def _place_of(definition):
    code = getattr(definition, "__code__", None)
    if code is None and isinstance(definition, type):
        parts = [part for base in definition.__mro__[:-1] for part in vars(base).values()]
        codes = (getattr(getattr(part, "__func__", part), "__code__", None) for part in parts)
        code = next((code for code in codes if code), None)
    return (code.co_filename, code.co_firstlineno) if code else ("", 0)


class _Column(typing.NamedTuple):
    """A column, table or scalar. A scalar also counts as a table."""

    name: str
    type: Type
    is_table: bool = False
    is_scalar: bool = False
    is_row: bool = False


def _columns(annotations, at):
    columns = []
    for name, kind in annotations.items():
        if name == "return":
            continue
        is_table, is_scalar = isinstance(kind, table), isinstance(kind, scalar)
        is_row = isinstance(kind, row) or (is_table and kind.is_row)
        type = as_type(kind.type) if is_table or is_scalar or is_row else kind
        if isinstance(type, array):
            refuse(f"column '{name}' is {type!r}, and arrays are fields of a state", f"write {name}: sf.row({type.type!r}) for rows of numbers".replace("segfold.", "sf."), at)
        if not isinstance(type, Type):
            refuse_kind(f"column '{name}'", type, f"write {name}: sf.f32, {name}: sf.row(sf.f32), or {name}: sf.table(sf.f32)", at)
        columns.append(_Column(name, type, is_table or is_scalar, is_scalar, is_row))
    return columns


def _declared_results(results, at):
    """Returns a list of ``(name, type, is_each)`` of the results declared by ``results``."""
    if results is None:
        return []
    results = as_type(results)
    if isinstance(results, (Type, each)):
        results = {"result": results}
    elif not isinstance(results, dict) and not inspect.isclass(results):
        refuse(f"results are {results!r}", "write results = dict(mean=sf.f32, rest=sf.each(sf.f32))", at)
    elif not isinstance(results, dict):
        results = _annotations(results)
    declared = [(name, as_type(kind.type if isinstance(kind, each) else kind), isinstance(kind, each)) for name, kind in results.items()]
    for name, type, is_each in declared:
        if not isinstance(type, Type) and (is_each or not isinstance(type, array)):
            refuse_kind(f"result '{name}'", type, f"write {name}=sf.f32, or {name}=sf.each(sf.f32)", at)
    return declared


class _Tracer:
    """Traces the parts of one operator, by running each with traced values."""

    def __init__(self, at, name, columns, members, declared):
        self.at = at
        self.name = name
        self.columns = columns
        self.members = members  #: ``(name, type or array)`` of each member of the state
        self.result_members = [(name, type) for name, type, is_each in declared if not is_each]
        self.outputs = [(name, type) for name, type, is_each in declared if is_each]
        self.part = None  #: the part that is being traced
        self.scan_states = ("before", "through")  #: names of the states of a scan
        self.shares_outputs = False  #: true if both map and scan set outputs

    @property
    def results(self):
        return flat(self.result_members)

    def node(self, value, names, known):
        """Returns a value in the form that bind/trace.cpp reads, or its name if it is in ``names``.

        ``known`` holds earlier nodes.
        """
        if value._sf_number in names:
            return ("name", value._sf_place, names[value._sf_number])
        if value._sf_number not in known:
            arguments = (self.node(argument, names, known) for argument in value._sf_arguments)
            known[value._sf_number] = (value._sf_kind, value._sf_place, *value._sf_facts, *arguments)
        return known[value._sf_number]

    def operand(self, which):
        name, kind = self.members[0]
        if len(self.members) == 1 and isinstance(kind, Type):
            return OneField(which, name, kind, self.part)
        return State(which, self.members, self.part)

    def column(self, column):
        if column.is_scalar:
            return Table(column.name, column.type, self.part)[0]
        if column.is_table:
            return Table(column.name, column.type, self.part)
        return make("name", (column.name,), (), column.type, self.part)

    def arguments(self, part, function):
        members = [name for name, _ in self.result_members] if part == "map" else []
        given = _arguments_of(f"{part} of operator {self.name}", function, [*members, *(column.name for column in self.columns)])
        if part == "append" and not given:
            refuse(f"append of operator {self.name} takes no state", "it takes a state and then columns", _place_of(function))
        if part in _SCANS and len(given) < 2:
            refuse(f"{part} of operator {self.name} takes {len(given)} {'argument' if len(given) == 1 else 'arguments'}",
                   f"it takes the states before and with an element: def {part}(before, through)", _place_of(function))
        if part in ("lift", "append", "map", *_SCANS):
            known = {column.name: self.column(column) for column in self.columns}
            if part == "map":
                known.update(values_of(self.result_members, lambda name, kind: make("name", (name,), (), kind, self.part)))
            num_states = 2 if part in _SCANS else 1 if part == "append" else 0
            states, given = given[:num_states], given[num_states:]
            if part in _SCANS:
                self.scan_states = states
            for name in given:
                if name not in known:
                    refuse(f"{part} of operator {self.name} takes '{name}', which is no column{' and no result' * (part == 'map')}",
                           f"the columns{' and results' * (part == 'map')} are {', '.join(known)}", _place_of(function))
            return [*(self.operand(which) for which, _ in zip(("earlier", "later"), states)), *(known[name] for name in given)]
        wanted = {"combine": 2, "finish": 1, "empty": 0}[part]
        if len(given) != wanted:
            refuse(f"{part} of operator {self.name} takes {len(given)} {'argument' if len(given) == 1 else 'arguments'}",
                   {"combine": "it takes two states, the earlier one first", "finish": "it takes the last state",
                    "empty": "an empty segment has no state"}[part], _place_of(function))
        return [self.operand(which) for which in ("earlier", "later")] if part == "combine" else [self.operand("state")][:wanted]

    def run(self, part, function):
        """Traces a part and returns its block. ``function`` may also be a plain value."""
        self.part = Part(f"{part} of operator {self.name}")
        if not callable(function) or isinstance(function, Value):
            return self.block(part, function, {}, self.at)
        arguments = self.arguments(part, function)
        returned, found = _run(function, arguments)
        try:
            return self.block(part, returned, found, _place_of(function))
        except RecursionError:
            refuse(f"{part} of operator {self.name} nests too deeply", "give parts of it names: local variables", _place_of(function))

    def outputs_of(self, part, returned):
        """Returns the outputs that a part may set. If both map and scan set outputs, returns only those named in ``returned``."""
        if not self.shares_outputs or not isinstance(returned, dict):
            return self.outputs
        return [(name, type) for name, type in self.outputs if name in returned] or self.outputs

    def block(self, part, returned, found, at):
        members = self.members if part in _PARTS[:3] else self.outputs_of(part, returned) if part in _OF_ELEMENTS else self.result_members
        targets = [name for name, _ in members]
        what = f"{part} of operator {self.name}"
        if isinstance(returned, State):
            returned = returned._sf_fields
        elif dataclasses.is_dataclass(returned) and not isinstance(returned, type):
            returned = {field.name: getattr(returned, field.name) for field in dataclasses.fields(returned)}
        elif hasattr(returned, "_asdict"):
            returned = returned._asdict()
        if len(members) == 1 and isinstance(members[0][1], array) and is_list(returned):
            returned = {targets[0]: returned}
        if isinstance(returned, dict):
            sets = {name: as_value(value, f"{what} sets '{name}': ", at) for name, value in spread(what, returned, members, at).items()}
        elif returned is None:
            several = ", ".join(f"{target}=..." for target in targets) if len(targets) > 1 else "field=value, ..."
            refuse(f"{what} returns nothing", f"end it with return, and a value or dict({several}) behind it", at)
        elif len(targets) > 1 or is_list(returned):
            told = f"{'an array' if isinstance(returned, Entries) else f'a {type(returned).__name__}'} of {len(returned)}" if is_list(returned) else "one value"
            wanted = f" for {', '.join(targets)}" if len(targets) > 1 else ""
            refuse(f"{what} returns {told}{wanted}",
                   f"return dict({', '.join(f'{target}=...' for target in targets or ['name'])})", at)
        else:
            name = targets[0] if targets else "result"
            sets = {name: as_value(value, f"{what} returns no value: ", at) for name, value in spread(what, {name: returned}, members, at).items()}
        for value in sets.values():
            if value._sf_part not in (None, self.part):
                refuse(f"{part} of operator {self.name} returns {value._sf_origin()}", FOREIGN, at)
        self.refuse_other_types(part, sets, flat(members), at)
        if part in ("finish", "empty") and not members:
            self.result_members = [(name, self.stated(name, value, part, at)) for name, value in sets.items()]
        if part in _OF_ELEMENTS and not self.outputs:
            self.outputs = [(name, self.stated(name, value, part, at)) for name, value in sets.items()]
        at = at or ("", 0)
        names, lets, known = {}, [], {}
        taken = {name for name, *_ in [*self.columns, *flat(self.members), *self.results, *self.outputs]}
        for value, name in lets_of(sets, found, taken):
            lets.append((name, self.node(value, names, {}), value._sf_place))
            names[value._sf_number] = name
        return {
            "place": at,
            "lets": lets,
            # A returned column or plain number gets the place of the function.
            "sets": [(name, self.node(value, names, known), value._sf_place if value._sf_arguments or not at[0] else at) for name, value in sets.items()],
        }

    @staticmethod
    def refuse_other_types(part, sets, kinds, at):
        """Refuses values of wrong types. The checks of any operator do this too, but here the message is in terms of Python."""
        wanted = {name: type for name, type, *_ in kinds}
        what = "state field" if part in _PARTS[:3] else "output" if part in _OF_ELEMENTS else "result"
        for name, value in sets.items():
            type = wanted.get(name)
            if type and value._sf_type is not None and value._sf_type is not type:
                refuse(f"{what} '{name}' is {type}, but its value is {value._sf_type}", f"convert it, as in sf.{type.word}(x)",
                       value._sf_place if value._sf_arguments else at)

    def stated(self, name, value, part, at):
        if value._sf_type is None:
            refuse(f"{part} of operator {self.name} gives result '{name}' no type", "convert it, as in sf.f32(0)", at)
        return value._sf_type


def _run(function, arguments):
    """Calls a function. Returns its result, and its local variables at the time of the return."""
    found = {}
    before = sys.getprofile()

    def watch(frame, event, argument):
        code = frame.f_code
        if event == "return" and code is function.__code__:
            own = code.co_varnames + code.co_cellvars
            found.update((name, value) for name, value in frame.f_locals.items() if name in own)

    sys.setprofile(watch if hasattr(function, "__code__") else None)
    try:
        returned = function(*arguments)
    finally:
        sys.setprofile(before)
    return returned, {name: value for name, value in found.items() if all(value is not given for given in arguments)}


def _identity_of(name, field, identity, at):
    if identity is None:
        return None
    try:
        value = as_value(identity)
    except _segfold.SpecError:
        value = None
    if value is not None and value._sf_part is not None:
        refuse(f"the identity of field '{field}' of operator {name} is {value._sf_origin()}", FOREIGN, at)
    if value is not None:
        return value
    refuse(f"the identity of field '{field}' of operator {name} is {identity!r}",
           "it is a number or a constant, as in sf.f32(0), sf.lowest(sf.f32) or sf.inf", at)


def _identities_of(name, field, kind, identity, at):
    """Returns the identities of the fields of one state member.

    For an array, ``identity`` is one value for all entries, or a list.
    """
    if not isinstance(kind, array):
        return [_identity_of(name, field, identity, at)]
    identities = list(identity) if is_list(identity) else [identity] * kind.length
    if len(identities) != kind.length:
        refuse(f"the array '{field}' of operator {name} has {kind.length} entries, and {len(identities)} identities",
               "give one for each, or one number for all", at)
    return [_identity_of(name, entry, each_one, at) for entry, each_one in zip(kind.entries(field), identities)]


def _build(at, name, description, columns, fields, parts, laws, declared):
    for part in ("lift", "combine"):
        if parts[part] is None:
            refuse(f"operator {name} has no {part}", f"write def {part}", at)
    if all(column.is_table for column in columns):
        refuse(f"operator {name} has no column", "write x: sf.f32 in the class", at)
    if any(identity is None for *_, identity in fields) and any(identity is not None for *_, identity in fields):
        refuse(f"operator {name} has fields with an identity and fields without", "all have one, or none", at)
    if keyword.iskeyword(name):
        name += "_"
    members = [(field, kind) for field, kind, _ in fields]
    fields = [(entry, type, identity) for field, kind, identities in fields
              for (entry, type), identity in zip(flat([(field, kind)]), _identities_of(name, field, kind, identities, at))]  # fmt: skip
    tracer = _Tracer(at, name, columns, members, declared)
    state_results = [("result", fields[0][1])] if len(fields) == 1 else members
    if parts["scan"] is not None and parts["reverse_scan"] is not None:
        refuse(f"operator {name} has both scan and reverse_scan", "scans of both directions are two operators", at)
    has_scan = parts["scan"] is not None or parts["reverse_scan"] is not None
    tracer.shares_outputs = has_scan and parts["map"] is not None
    keeps_results = (parts["map"] is None and not has_scan) or bool(tracer.results)
    if not keeps_results:  # only outputs are returned, and map reads state fields as results
        tracer.result_members = members
    blocks, errors = {}, []
    for part in _PARTS:
        if part in ("empty", "map") and parts[part] is not None and not tracer.results:
            if parts["finish"] is not None and errors:
                break  # without finish, results are unknown
            tracer.result_members = state_results
        try:
            blocks[part] = None if parts[part] is None else tracer.run(part, parts[part])
        except _segfold.SpecError as error:
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else _segfold.SpecError("\n".join(map(str, errors)))
    names = _arguments_of(f"combine of operator {name}", parts["combine"])
    reverse_scan = blocks.pop("reverse_scan")
    blocks["scan"] = blocks["scan"] or reverse_scan
    return _segfold.traced_operator({
        "place": at,
        "name": name,
        "description": description or "",
        "parameters": [column._replace(type=column.type.name) for column in columns],
        "results": [(result, kind.name) for result, kind in tracer.results] if keeps_results else [],
        "outputs": [(output, kind.name) for output, kind in tracer.outputs],
        "state": [(field, kind.name, None if identity is None else tracer.node(identity, {}, {}))
                  for field, kind, identity in fields],
        "earlier": names[0],
        "later": names[1],
        "before": tracer.scan_states[0],
        "through": tracer.scan_states[1],
        "is_reverse": reverse_scan is not None,
        **blocks,
        **laws,
    })  # fmt: skip
