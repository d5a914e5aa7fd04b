"""Every message that advises code is met once, and its advice is run: the results must be right.

A message whose advice is in no case here fails `test_all_advice_has_a_case`: add a case of it, or say in `NO_CODE` why there is none.
"""

import re

import numpy as np
import pytest

import segfold as sf
from segfold import _of_numpy

from following import Case, advice_in, as_pattern, follow, is_same

X = np.array([1, 2, 3, 4], np.float32)

# Operators that fold what a function of x gives, or what one of two values gives.
OF_ONE = """
import math
def lifted(lift, x=np.array([1, 2, 3, 4], np.float32), result=None):
    def total(a, b): return a + b
    result = result or getattr(sf, {"float32": "f32", "int32": "i32", "bool": "bool_"}[x.dtype.name])
    lift.__annotations__ = {"x": getattr(sf, {"float32": "f32", "int32": "i32", "bool": "bool_"}[x.dtype.name])}
    total.__annotations__ = {"a": result, "b": result}
    return sf.operator(total, identity=0, lift=lift)(x)[0].item()
def combined(combine, x=np.array([1, 2, 3, 4], np.float32), **words):
    combine.__annotations__ = {"a": sf.f32, "b": sf.f32}
    return sf.operator(combine, **words)(x)[0].item()
integers, bools = np.array([1, 2, 3, 4], np.int32), np.array([True, False])
"""

# A class whose state is `lows` and `highs`, of one field or of an array.
OF_CLASS = """
def made(kind, combine):
    class state: pass
    state.__annotations__ = {"low": kind, "high": kind}
    words = dict(__annotations__={"x": sf.f32}, state=state, combine=combine)
    words["lift"] = (lambda x: dict(low=x, high=x)) if kind is sf.f32 else (lambda x: dict(low=[x, x], high=[x, x]))
    return tuple(array[0].item() for array in sf.operator(type("made", (), words))(np.array([1, 2], np.float32)))
def of_class(text, **more):
    names = dict(sf=sf)
    exec(text, names)
    return sf.operator(names["made"])(np.array([1, 2], np.float32), **more)
"""

ARRAYS = {
    "give numpy.asarray({})": [
        Case("sf.standard.sum(@)", "x", r"give (numpy\.asarray\(x\))", [10], "x = [1.0, 2.0, 3.0, 4.0]"),
        Case("sf.standard.sum(np.ones(4), keys=@).result", "keys", r"give (numpy\.asarray\(keys\))", [2, 2], "keys = (1, 1, 2, 2)"),
    ],
    "give tuple(keys)": [
        Case("sf.standard.sum(np.ones(4), keys=@).result", "keys", r"give (tuple\(keys\))", [2, 1, 1], "keys = np.array([[1, 1, 1, 1], [2, 2, 3, 4]])"),
    ],
    "give {}.filled(VALUE)": [
        Case("sf.standard.sum(np.ones(3), by=@).result", "by", r"give (by\.filled\(VALUE\))", [1, 2], "by = np.ma.array(list('aba'), mask=[0, 0, 1])", {"VALUE": '"b"'}),
    ],
    "give by= in place of keys=, which takes keys in any order": [
        Case("next(sf.stream(sf.standard.sum, np.ones(3), @)).result", "keys=np.array([2, 1, 2]), sort_keys=True", r"(give by= in place of keys=)", [1, 2],
             fill={"give by= in place of keys=": "by=np.array([2, 1, 2])"}),
    ],
    "give keys=, or leave sort_keys= out": [
        Case("sf.standard.sum(np.ones(3), @).result", "by=np.array([2, 1, 2]), sort_keys=False", r"(give keys=), or leave sort_keys= out", [1, 1, 1],
             fill={"give keys=": "keys=np.array([2, 1, 2]), sort_keys=False"}),
    ],
    "give array.filled(VALUE), where VALUE changes no result": [
        Case("sf.standard.sum(@)", "x", r"give (array\.filled\(VALUE\))", [4], "x = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])",
             {"array": "x", "VALUE": "0"}),
    ],
    'give {}.view("i8")': [
        Case("sf.standard.max(@)", "x", r'give (x\.view\("i8"\))', [1], "x = np.array([0, 1], 'datetime64[D]')"),
    ],
    "give {}.astype(float), of text the codes numpy.unique({}, return_inverse=True)[1], of pandas with missing values "
    "to_numpy(float, na_value=VALUE), where VALUE changes no result": [
        Case("sf.standard.sum(@)", "x", r"give (x\.astype\(float\))", [3], "x = np.array([1, 2], object)"),
        Case("sf.standard.sum(np.ones(3), keys=@).result", "keys", r"codes (numpy\.unique\(keys, return_inverse=True\)\[1\])", [2, 1],
             "keys = np.array(['a', 'a', 'b'], object)"),
    ],
    "give numpy.unique({}, return_inverse=True)[1]": [
        Case("sf.standard.sum(np.ones(3), keys=@).result", "keys", r"give (numpy\.unique\(keys, return_inverse=True\)\[1\])", [2, 1],
             "keys = np.array(['a', 'a', 'b'])"),
        Case("next(iter(sf.stream(sf.standard.sum, np.ones(4), keys=@))).result", "keys", r"give (numpy\.unique\(.*\)\[1\])", [1, 2, 1],
             "keys = (np.array([1, 1, 1, 2]), np.array([2., 3., 3., 3.]))"),
        Case("next(iter(sf.stream(sf.standard.sum, np.ones(4), keys=@))).result", "keys", r"give (numpy\.unique\(.*\)\[1\])", [1, 2, 1],
             "keys = np.array([[1, 2], [1, 3], [1, 3], [2, 3]])"),
    ],
    "give {}.real.copy() and {}.imag.copy()": [
        Case("sf.standard.dot(@)", "x, x", r"give (x\.real\.copy\(\)) and (x\.imag\.copy\(\))", [11], "x = np.array([1 + 2j, 3 + 3j])"),
    ],
    "give {}[NAME].copy()": [
        Case("sf.standard.sum(@)", "x", r"give (x\[NAME\]\.copy\(\))", [3], "x = np.array([(1, 2), (2, 3)], [('v', 'f4'), ('k', 'i4')])",
             {"NAME": "'v'"}),
    ],
    'give {}.astype("{}")': [
        Case("sf.standard.sum(@)", "x", r'give (x\.astype\("f4"\))', [3], "x = np.array([1, 2], '>f4')"),
    ],
    "give {}": [
        Case("sf.standard.sum(np.ones(2), offsets=@)", "offsets", r"give (numpy\.asarray\(offsets\)\.reshape\(-1\))", [2],
             "offsets = np.matrix([0, 2])"),
    ],
    "give {}, which makes each number an element, or an operator over rows (x: row f32), which folds rows of features": [
        Case("sf.standard.sum(@)", "x", r"give (numpy\.asarray\(x\)\.reshape\(-1\))", [3], "x = np.matrix([1.0, 2.0])"),
        Case("sf.standard.sum(@)", "x", r"give (x\.reshape\(-1\))", [10], "x = np.array([[1.0, 2.0], [3.0, 4.0]])"),
    ],
    "give {}.{}": [Case("sf.standard.log_sum_exp(@)", "x", r"give (x\.astype\(float\))", [0], "x = np.array([0])")],
    "give {}.{}, where True is 1": [Case("sf.standard.sum(@)", "x", r'give (x\.astype\("i4"\)), where True is 1', [1], "x = np.array([True, False])")],
    "give (array[0], array[1])": [
        Case("sf.standard.sum(np.ones(4), ranges=@)", "ranges", r"give (\(array\[0\], array\[1\]\))", [2, 1], "ranges = np.array([[0, 1], [2, 2]])",
             {"array": "ranges"}),
    ],
    "give num_elements=": [
        Case("next(iter(sf.stream(sf.standard.sum, iter([np.ones(4)]), @)))", "uniform=2", r"give (num_elements=)", [2, 2], "", {"num_elements=": "uniform=2, num_elements=4"}),
    ],
    "give pathlib.Path({})": [
        Case("sf.operator(@)(np.ones(3))", "path", r"give (pathlib\.Path\('.*'\))", [3],
             "import pathlib, tempfile\npath = tempfile.mkdtemp() + '/total.seg'\n"
             "pathlib.Path(path).write_text('operator total(x: f64) -> f64 { state sum: f64 = 0 lift x combine(a, b) a + b }')"),
    ],
}

WITH_LIBRARIES = {
    "give {}.data, of a CSR matrix, with offsets={}.indptr": [
        Case("sf.standard.sum(@)", "x", r"give (x\.data), of a CSR matrix, with (offsets=x\.indptr)", [3, 3],
             "import scipy.sparse\nx = scipy.sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))"),
    ],
    "give {}.to_numpy()": [
        Case("sf.standard.sum(@)", "x", r"give (x\.to_numpy\(\))", [3], "import pandas\nx = pandas.Series([1.0, 2.0])"),
    ],
    "give {}[NAME].to_numpy(), a column": [
        Case("sf.standard.sum(@)", "x", r"give (x\[NAME\]\.to_numpy\(\))", [3], "import pandas\nx = pandas.DataFrame({'v': [1.0, 2.0]})", {"NAME": "'v'"}),
        Case("sf.standard.sum(np.ones(2), keys=@).result", "keys", r"give (keys\[NAME\]\.to_numpy\(\))", [1, 1],
             "import pandas\nkeys = pandas.DataFrame({'v': [1, 2]})", {"NAME": "'v'"}),
    ],
    "give {}.to_numpy(dtype, na_value=VALUE), where VALUE changes no result, or {}.dropna().to_numpy()": [
        Case("sf.standard.sum(@)", "x", r"give (x\.to_numpy\(dtype, na_value=VALUE\))", [1], "import pandas\nx = pandas.Series([1, None], dtype='Int64')",
             {"dtype": "float", "VALUE": "0"}),
        Case("sf.standard.sum(@)", "x", r"or (x\.dropna\(\)\.to_numpy\(\))", [1], "import pandas\nx = pandas.Series([1, None], dtype='Int64')"),
    ],
    "give its elements alone, {}": [
        Case("sf.operator('operator read(i: i32, t: table f32) -> f32 { state s: f32 = 0 lift t[i] combine(a, b) a + b }')(np.array([0, 1], 'i4'), @)",
             "t", r"give its elements alone, (.*)$", [3],
             "import pyarrow, pyarrow.compute\nt = pyarrow.array([[1, 2], [3]], pyarrow.list_(pyarrow.float32()))"),
    ],
    "give the elements alone, {}": [
        Case("sf.standard.sum(@, uniform=3)", "x", r"give the elements alone, (.*)$", [6],
             "import pyarrow, pyarrow.compute\nx = pyarrow.array([[1, 2], [3]], pyarrow.list_(pyarrow.float32()))"),
    ],
    "give lists for both, or both without them: {}": [
        Case("sf.standard.dot(@)", "x, y", r"both without them: (.*) with (lengths=.*)$", [3, 3],
             "import pyarrow, pyarrow.compute\nx = pyarrow.array([[1, 2], [3]], pyarrow.list_(pyarrow.float32()))\ny = np.ones(3, 'f4')",
             {"lengths": "y, lengths"}),
    ],
    "give the lists themselves, as in sf.standard.sum(lists). Other {} are given as NumPy's: {}.to_numpy()": [
        Case("sf.standard.sum(@)", "x.values, offsets=x.offsets", r"as in sf\.standard\.sum\((lists)\)", [3, 0],
             "import pyarrow\nx = pyarrow.array([[1, 2], []], pyarrow.list_(pyarrow.float32()))", {"lists": "x"}),
        Case("sf.standard.sum(x.values, offsets=@)", "offsets", r"NumPy's: (offsets\.to_numpy\(\))", [3, 0],
             "import pyarrow\nx = pyarrow.array([[1, 2], []], pyarrow.list_(pyarrow.float32()))\noffsets = x.offsets"),
    ],
}

TRACING = {
    "write sf.where(x == 1, yes, no)": [Case("lifted(lambda x: @)", "{1: 2.0}.get(x, 0.0)", r"write (.*)", 2, OF_ONE, {"yes": "2.0", "no": "0.0"})],
    "write sf.where(condition, yes, no), sf.logical_and(a, b), sf.logical_or(a, b), sf.logical_not(a), sf.maximum(a, b) or sf.minimum(a, b)": [
        Case("lifted(lambda x: @)", "1.0 if x > 2 else 0.0", r"write (sf\.where\(condition, yes, no\)),", 2, OF_ONE,
             {"condition": "x > 2", "yes": "1.0", "no": "0.0"}),
        Case("lifted(lambda x: sf.f32(@))", "x > 1 and x < 4", r", (sf\.logical_and\(a, b\)),", 2, OF_ONE, {"a": "x > 1", "b": "x < 4"}),
        Case("lifted(lambda x: sf.f32(@))", "x < 2 or x > 3", r", (sf\.logical_or\(a, b\)),", 2, OF_ONE, {"a": "x < 2", "b": "x > 3"}),
        Case("lifted(lambda x: sf.f32(@))", "not x > 1", r", (sf\.logical_not\(a\)),", 1, OF_ONE, {"a": "x > 1"}),
        Case("combined(lambda a, b: @)", "max(a, b)", r", (sf\.maximum\(a, b\)) or", 4, OF_ONE),
        Case("combined(lambda a, b: @)", "min(a, b)", r"or (sf\.minimum\(a, b\))", 1, OF_ONE),
    ],
    "write sf.exp(x), sf.sqrt(x) and so on": [
        Case("lifted(lambda x: @, np.zeros(3, 'f4'))", "math.exp(x)", r"write (sf\.exp\(x\)),", 3, OF_ONE),
        Case("lifted(lambda x: @)", "float(x)", r"(sf\.f32\(x\)) converts", 10, OF_ONE),
    ],
    "write sf.floor(a / b)": [Case("lifted(lambda x: @)", "x // 2", r"write (.*)", 4, OF_ONE, {"a": "x", "b": "2"})],
    "write sf.power(x, y), and a % b of integers": [Case("lifted(lambda x: @)", "pow(x, 2.0, 3)", r"write (sf\.power\(x, y\)),", 30, OF_ONE, {"y": "2.0"})],
    "write sf.round(x)": [Case("lifted(lambda x: @)", "round(x)", r"write (.*)", 10, OF_ONE)],
    "write sf.floor(x)": [Case("lifted(lambda x: @)", "math.floor(x)", r"write (.*)", 10, OF_ONE)],
    "write sf.ceil(x)": [Case("lifted(lambda x: @)", "math.ceil(x)", r"write (.*)", 10, OF_ONE)],
    "convert it, as in sf.i32(x)": [Case("lifted(lambda x: @ % 2, result=sf.i32)", "x", r"as in (sf\.i32\(x\))", 2, OF_ONE)],
    "convert it, as in sf.f32(x)": [Case("lifted(lambda x: sf.exp(@), np.zeros(2, 'i4'), sf.f32)", "x", r"as in (sf\.f32\(x\))", 2, OF_ONE)],
    "convert it, as in sf.{}(x)": [
        Case("lifted(lambda x: @, integers, sf.f32)", "x", r"as in (sf\.f32\(x\))", 10, OF_ONE),
        Case("lifted(lambda x: @ ** 2.0, integers, sf.f32)", "x", r"as in (sf\.f32\(x\))", 30, OF_ONE),
    ],
    "convert the bool, as in sf.{}(x)": [Case("lifted(lambda x: 1.0 * x + @)", "(x > 2)", r"as in (sf\.f32\(x\))", 12, OF_ONE, {"x": "x > 2"})],
    "convert one of them, as in sf.{}(x)": [Case("lifted(lambda x: sf.f32(1) * x + @)", "sf.i32(x)", r"as in (sf\.f32\(x\))", 20, OF_ONE)],
    "convert one of them, as in sf.f32(x)": [Case("lifted(lambda x: sf.maximum(x, @))", "sf.i32(3)", r"as in (sf\.f32\(x\))", 13, OF_ONE, {"x": "3"})],
    "write sf.{}(sf.f32)": [Case("combined(sf.maximum if 0 else (lambda a, b: sf.maximum(a, b)), identity=@)", "sf.lowest(float)", r"write (.*)", 4, OF_ONE)],
    "write {}": [
        Case("lifted(lambda x: @)", "np.sqrt(x)", r"write (.*)", np.sqrt(np.arange(1, 5, dtype="f4")).sum(dtype="f4").item(), OF_ONE),
        Case("combined(lambda a, b: @, identity=0)", "np.sum(a)", r"write (.*)", 10, OF_ONE),
        Case("str(sf.operator(lambda a, b: a + b, identity=0) if 0 else lifted(lambda x: x, result=@))", "float", r"write (sf\.f32) or", "10.0", OF_ONE),
    ],
    "convert it, as in sf.f32(0)": [
        Case("combined(lambda a, b: a + b, identity=0, finish=lambda value: @)", "0", r"as in (.*)", 0, OF_ONE),
    ],
    "convert each entry, as in {}(x)": [Case("lifted(lambda x: @)", "sf.f32[2](x)", r"as in (segfold\.f32\(x\)|sf\.f32\(x\))", 10, OF_ONE)],
    "write it of fields, as in a.{} {} b.{}": [
        Case("made(sf.f32, lambda a, b: dict(low=@, high=b.high))", "a + b", r"as in (.*)", (3, 2), OF_CLASS),
    ],
    "write it of entries, as in [p {} q for p, q in zip(a.{}, b.{})]": [
        Case("made(sf.f32[2], lambda a, b: dict(low=@, high=b.high))", "a.low + b.low", r"as in (.*)", (3, 3, 2, 2), OF_CLASS),
    ],
    "give a list of {}": [
        Case("made(sf.f32[2], lambda a, b: dict(low=@, high=b.high))", "a.low[0]", r"give (a list of 2)", (1, 1, 2, 2), OF_CLASS,
             {"a list of 2": "[a.low[0], a.low[1]]"}),
    ],
    "write sf.where(condition, yes, no) for each field": [
        Case("made(sf.f32, lambda a, b: dict(low=@, high=b.high))", "1.0 if a else b.low", r"write (sf\.where\(condition, yes, no\))", (1, 2), OF_CLASS,
             {"condition": "a.low > 0", "yes": "1.0", "no": "b.low"}),
    ],
    "write class state: sum: sf.f32 = 0": [
        Case("of_class('''class made:\n    x: sf.f32\n    @\n    def lift(x): return x\n    def combine(a, b): return a + b\n''')",
             "pass", r"write (.*)", [3], OF_CLASS),
    ],
    "write {}: sf.f32 = 0": [
        Case("of_class('''class made:\n    x: sf.f32\n    class state: @\n    def lift(x): return x\n    def combine(a, b): return a + b\n''')",
             "sum: dict = 0", r"write (.*)", [3], OF_CLASS),
    ],
    "write {}: sf.f32, {}: sf.row(sf.f32), or {}: sf.table(sf.f32)": [
        Case("of_class('''class made:\n    @\n    class state: sum: sf.f32 = 0\n    def lift(x): return x\n    def combine(a, b): return a + b\n''')",
             "x: dict", r"write (x: sf\.f32),", [3], OF_CLASS),
    ],
    "write {}: sf.row({}) for rows of numbers": [
        Case("of_class('''class made:\n    @\n    class state: sum: sf.f32 = 0\n    def lift(x): return x\n    def combine(a, b): return a + b\n''') "
             "if '@' != 'x: sf.row(sf.f32)' else sf.operator('operator r(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }')(np.ones((2, 1), 'f4'))[0]",
             "x: sf.f32[2]", r"write (x: sf\.row\(sf\.f32\))", [2], OF_CLASS),
    ],
    "write results = dict(mean=sf.f32, rest=sf.each(sf.f32))": [
        Case("of_class('''class made:\n    x: sf.f32\n    @\n    class state: sum: sf.f32 = 0\n    def lift(x): return x\n    def combine(a, b): return a + b\n"
             "    def finish(s): return dict(mean=s.sum)\n    def map(x, mean): return dict(rest=x)\n''').mean",
             "results = 1", r"write (.*)", [3], OF_CLASS),
    ],
    "write {}=sf.f32, or {}=sf.each(sf.f32)": [
        Case("of_class('''class made:\n    x: sf.f32\n    results = dict(@)\n    class state: sum: sf.f32 = 0\n    def lift(x): return x\n"
             "    def combine(a, b): return a + b\n    def finish(s): return s.sum\n''')",
             "mean=1", r"write (mean=sf\.f32),", [3], OF_CLASS),
    ],
    "write def {}": [
        Case("of_class('''class made:\n    x: sf.f32\n    class state: sum: sf.f32 = 0\n    def lift(x): return x\n    @\n''')",
             "pass", r"write (def combine)", [3], OF_CLASS, {"combine": "combine(a, b): return a + b"}),
    ],
    "write def total(a: sf.f32, b: sf.f32)": [
        Case("of_class('''@\nmade = total\n''')", "def total(a, b): return a + b", r"write (.*)", [3], OF_CLASS, {"sf.f32)": "sf.f32): return a + b"}),
    ],
    "write one of two values with types: def total(a: sf.f32, b: sf.f32)": [
        Case("of_class('''@\nmade = total\n''')", "total = max", r"types: (.*)", [3], OF_CLASS, {"sf.f32)": "sf.f32): return a + b"}),
    ],
}

# Advice that cannot be run here, and why.
NO_CODE = {
    "give {}.fill_null(VALUE)": "of polars and PyArrow, in keys/test_groups.py",
    "give {}.real.contiguous() and {}.imag.contiguous()": "of torch, in device_arrays.py",
    "give {}.detach() to go without, or call segfold.torch.fold, which knows gradients": "of torch, in device_arrays.py",
    "give {}.resolve_neg()": "of torch, in test_frameworks.py",
    "give {}.values() with offsets={}.offsets()": "of torch, in test_frameworks.py",
    "give it as {}": "of JAX, in programs/test_jax_folds.py",
    "give jax.numpy.asarray({})": "of JAX, in programs/test_jax_refusals.py",
    "give offsets=, or groups= with num_groups=": "of JAX, in programs/test_jax_refusals.py",
    "give torch.unique({}, dim=0, return_inverse=True)[1]": "of torch, in test_frameworks.py",
    "give one column: torch.unique(torch.stack(columns, 1), dim=0, return_inverse=True)[1]": "of arrays on a GPU",
    "give torch.as_tensor({})": "of torch, in test_frameworks.py",
    "write results of another type, as in i64(x)": "of a torch without unsigned types",
}

ALL = {**ARRAYS, **WITH_LIBRARIES, **TRACING}


@pytest.mark.parametrize("advice, case", [pytest.param(advice, case, id=f"{advice[:40]}-{case.wrong[:20]}") for advice in ALL for case in ALL[advice]])
def test_advice_can_be_followed(advice, case):
    if advice in WITH_LIBRARIES:
        pytest.importorskip(case.setup.split()[1].split(".")[0].rstrip(","))
    message, value = follow(case)
    assert re.search(as_pattern(advice), message), message
    assert is_same(value, case.value), (message, value)


def test_all_advice_has_a_case():
    found = advice_in("bind/**/*.cpp", "segfold/*.py")
    assert not found - set(ALL) - set(NO_CODE), "advice without a case"
    assert not (set(ALL) | set(NO_CODE)) - found, "cases of advice that no message gives"


# Values for the names of examples.
FILL = {"y": "2.0", "low": "2.0", "high": "3.0", "condition": "x > 2", "yes": "1.0", "no": "0.0"}
ARGUMENTS = {
    "minimum": "x, 2.0", "maximum": "x, 2.0", "power": "x, 2.0", "copysign": "x, 2.0", "logical_and": "x > 2, x > 2", "logical_or": "x > 2, x > 2",
    "logical_not": "x > 2", "pow": "x, 2.0", "float_power": "x, 2.0", "fmax": "x, 2.0", "fmin": "x, 2.0", "clip": "x, 2.0, 3.0", "where": "x > 2, 1.0, 0.0",
    "select": "[x > 2], [1.0]", "piecewise": "x, [x > 2], [1.0]", "choose": "x > 2, [0.0, 1.0]", "hypot": "x, 2.0", "invert": "x > 2",
}


@pytest.mark.parametrize("name", sorted(_of_numpy._INSTEAD))
def test_what_to_write_for_a_function_of_numpy_is_right(name):
    if name == "astype" or name in _of_numpy.OPERATORS or name == "pow":
        return  # a method; what traced values take
    arguments = ARGUMENTS.get(name, "x")
    kind = {"x > 2, x > 2": "sf.f32(@)", "x > 2": "sf.f32(@)"}.get(arguments, "sf.f32(@)" if name in ("isnan", "isfinite", "isinf") else "@")
    fill = dict(FILL)
    if name.startswith("logical") or name == "invert":
        fill.update(x="(x > 2)", y="(x > 2)")
    case = Case(f"lifted(lambda x: {kind})", f"np.{name}({arguments})", r"write (.*?)(?:, one in another)?$", 0, OF_ONE, fill)
    names = {"x": X, "np": np}
    wanted = np.asarray(eval(f"np.{name}({arguments})", names), np.float32).sum()
    message, value = follow(case)
    assert value == pytest.approx(wanted, rel=1e-5), message
