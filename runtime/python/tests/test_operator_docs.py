"""What help, inspect and print say of operators."""

import inspect
import pickle
import pydoc

import pytest

import segfold as sf

SUM = sf.standard.sum
SPMV = sf.operator("""
# A row of a sparse matrix times a vector.
operator spmv(value: f32, column: i32, x: table f32, by: scalar f32) -> (dot: f32) {
  state s: f32 = 0  lift by * value * x[column]  combine(a, b) a + b }""")


def test_an_attribute_that_a_type_decides_is_missing_without_one():
    argmax = sf.standard.argmax
    assert not hasattr(argmax, "results") and getattr(argmax, "results", None) is None
    assert hasattr(argmax.typed("f32"), "results")
    names = dict(inspect.getmembers(argmax))
    assert "signature" in names and "results" not in names
    with pytest.raises(sf.OpenTypeError) as caught:
        argmax.results
    assert isinstance(caught.value, sf.InputError) and isinstance(caught.value, AttributeError)
    assert str(caught.value) == 'operator argmax is of no type yet: argmax(x: T); choose one by typed("f32")'
    assert type(pickle.loads(pickle.dumps(caught.value))) is sf.OpenTypeError


def test_help_says_what_an_operator_takes_and_gives():
    text = pydoc.render_doc(SUM, renderer=pydoc.plaintext)
    assert "Sum of the values." in text and "sum(x: T), where T is i8, i16, " in text
    for words in ("* x: a column, an array [n] of type T", "* result: T", "``offsets=``: S + 1", "``check=True``", "Raises InputError"):
        assert words in text, words
    doc = SPMV.__doc__
    assert doc.startswith("A row of a sparse matrix times a vector.\n\nspmv(value: f32, column: i32, x: table f32, by: scalar f32) -> (dot: f32)\n")
    assert "* x: a table, read at any place, an array [m] of type f32\n* by: a scalar, one number of type f32\n" in doc
    assert "Results:\n\n* dot: f32\n" in doc
    assert "* result: f64\n" in sf.standard.mean.typed("i8").__doc__
    assert "* result: T, for every element\n" in sf.standard.softmax.__doc__
    assert "* index: i64\n" in sf.standard.argmax.__doc__ and "* value: T\n" in sf.standard.argmax.__doc__
    rows = sf.operator("operator r(x: row f32, t: table row f32) -> f32 { state s: f32 = 0 lift x + t[0] combine(a, b) a + b }")
    assert "* x: a column of rows, an array [n, K] of type f32\n* t: a table, read at any place, an array [m, K] of type f32" in rows.__doc__


def test_the_class_keeps_its_own_doc():
    assert sf.Operator.__doc__.startswith("An associative operator, which folds the segments of arrays when it is called.")
    assert not hasattr(sf.Operator, "__signature__")


def test_every_standard_operator_has_a_doc_and_a_signature():
    for name in dir(sf.standard):
        op = getattr(sf.standard, name)
        assert op.__doc__.startswith(op.description) and "Results:" in op.__doc__
        assert list(inspect.signature(op).parameters)[: len(op.parameters)] == [parameter for parameter, *_ in op.parameters]


def test_signatures():
    signature = inspect.signature(sf.standard.sum_power)
    assert str(signature).startswith("(x: 'T', power: 'scalar T', *, offsets=None, lengths=None, uniform=None, ")
    stub = inspect.signature(SUM).bind([1], offsets=[0, 1], check=True)
    assert stub.arguments == {"x": [1], "offsets": [0, 1], "check": True}
    with pytest.raises(TypeError):
        inspect.signature(SUM).bind([1], ofsets=[0, 1])
    words = list(signature.parameters)[2:]
    known = SUM.__call__.__doc__.partition("\n")[0]
    assert all(f"{word}: " in known for word in words) and len(words) == known.count(" = ")
    assert list(inspect.signature(sf.operator("operator k(keys: f32, class: f32) -> f32 { state s: f32 lift keys + class combine(a, b) a }"))
                .parameters)[:3] == ["keys", "class_", "offsets"]  # fmt: skip


def test_a_printed_operator_says_for_which_types_it_is():
    text = str(SUM)
    assert "operator sum(x: i8) -> i8 {" in text
    assert text.endswith('}\n# This is sum for i8. It takes i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64; typed("f64") is that for f64.\n')
    assert sf.operator(text) == SUM.typed("i8") and sf.operator(text).description == SUM.description
    assert "# This" not in str(SUM.typed("f32")) and str(SPMV).count("#") == 1
    both = sf.standard.mean_variance & sf.standard.argmax
    assert str(both).endswith(f'# This is {both.name} for f16. It takes f16, bf16, f32, f64; typed("f64") is that for f64.\n')
    open_text = "operator t(x: T) -> T { state s: T = 0 lift x combine(a, b) a + b }"
    assert str(sf.operator(open_text)) == open_text
