"""The advice of messages about .npy files, and what the language says to write for another language's words, is run too."""

import re

import numpy as np
import pytest

import segfold as sf

from following import PACKAGE

SUM = sf.operator("operator total(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }")


@pytest.mark.parametrize(
    "array, wanted",
    [
        (np.array([1, 2], ">f4"), 3),
        (np.array([[1, 2], [3, 4]], "f4"), 10),
        (np.array([[1, 2], [3, 4]], "f4", order="F"), 10),
        (np.array(5, "f4"), 5),
    ],
)
def test_what_to_save_instead_is_read(tmp_path, array, wanted):
    path = tmp_path / "x.npy"
    for _ in range(2):  # one step may lead to the next
        np.save(path, array)
        try:
            assert next(iter(sf.stream(SUM, path))).tolist() == [wanted]
            return
        except sf.InputError as error:
            advice = re.search(r"save it with (array\.\w+\([^)]*\)|numpy\.\w+\(array\))", str(error))
            assert advice, error
            array = eval(advice[1], {"array": array, "numpy": np})
    raise AssertionError(f"{wanted} after two steps")


NAMES = {"a": "x", "b": "y", "low": "x", "high": "y", "CONDITION": "x > y", "A": "x", "B": "y"}
TEXT = "operator t(x: f32, y: f32) -> f32 {{ state s: f32 = 0 lift {} combine(a, b) a + b }}"
PLACES = ["{}", "f32({})", "f32(popcount(i32(x))) + 0 * ({})", "({}) ? 1 : 0"]


def slips(table):
    text = (PACKAGE.parents[1] / "dsl" / "message" / "slips.cpp").read_text()
    return re.findall(r'\{"(\w+)", "(?:write|use) ', text[text.index(table) : text.index("};", text.index(table))])


def told(value):
    with pytest.raises(sf.SpecError) as caught:
        sf.operator(TEXT.format(value))
    advice = re.search(r"\^+  (?:write|use) (.*)$|(?:write|use) (.*)$", str(caught.value).splitlines()[2 if "\n" in str(caught.value) else 0])
    assert advice, caught.value
    return re.split(r", (?:or %|which|or !=)", advice[1] or advice[2])[0]


def is_taken(value):
    for place in PLACES:
        try:
            sf.operator(TEXT.format(place.format(value)))
            return True
        except sf.SpecError:
            pass
    return False


@pytest.mark.parametrize("name", slips("kFunctionSlips[]") if (PACKAGE.parents[1] / "dsl").is_dir() else [])
def test_what_to_write_for_a_function_is_taken(name):
    advice = told(f"{name}(x)")
    value = re.sub(r"\b(a|b|low|high|CONDITION|A|B)\b", lambda word: NAMES[word[0]], advice)
    assert is_taken(value) or is_taken(re.sub(r"\bx\b", "i32(x)", value)), advice


@pytest.mark.parametrize("name", slips("kNameSlips[]") if (PACKAGE.parents[1] / "dsl").is_dir() else [])
def test_what_to_write_for_a_name_is_taken(name):
    assert is_taken(told(name)), name
