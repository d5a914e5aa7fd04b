"""Follows the advice of messages: what a message says to write is cut out of it and run in the place of what was wrong."""

import ast
import dataclasses
import pathlib
import re

import numpy as np

import segfold as sf

PACKAGE = pathlib.Path(__file__).parents[2]


@dataclasses.dataclass
class Case:
    """Code that is wrong at ``@``, and how to find in its message what stands there instead."""

    code: str  #: an expression with @, whose value with the advice is `value`
    wrong: str  #: what stands at @ first
    advice: str  #: a regular expression of the message; its groups, joined by ", ", are the advice
    value: object
    setup: str = ""
    fill: dict = dataclasses.field(default_factory=dict)  #: what stands for words such as VALUE, and for examples


def message_of(case, names):
    try:
        eval(case.code.replace("@", case.wrong), names)
    except (sf.Error, TypeError) as error:
        return str(error)
    raise AssertionError(f"{case.wrong} is taken")


def follow(case):
    """The message, and the value of the code once its advice was followed."""
    names = {"np": np, "numpy": np, "sf": sf, "segfold": sf}
    exec(case.setup, names)
    message = message_of(case, names)
    found = re.search(case.advice, message)
    assert found, f"no advice /{case.advice}/ in: {message}"
    advice = ", ".join(found.groups() or [found[0]])
    if case.fill:
        words = [rf"\b{word}\b" if word.isidentifier() else re.escape(word) for word in case.fill]
        advice = re.sub("|".join(words), lambda word: case.fill[word[0]], advice)
    return message, eval(case.code.replace("@", advice), names)


def is_same(value, wanted):
    return all(map(is_same, value, wanted)) if isinstance(wanted, tuple) else np.array_equal(np.asarray(value), np.asarray(wanted))


# What a message advises: a word, and behind it what looks like code.
_ADVICE = re.compile(r"\b(?:give|use|write|try|convert|call) [^;]*?(?:[(\[{=]|\.\w+\()[^;]*")


def _literals(path):
    text = path.read_text()
    if path.suffix == ".py":
        inside = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.JoinedStr):
                inside.update(map(id, node.values))
                yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                inside.add(id(node.value))  # a docstring
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
                yield node.value
        return
    for several in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', re.sub(r"//[^\n]*", "", text)):
        yield "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', several[0])).replace('\\"', '"')


def advice_in(*patterns):
    """All advice that looks like code in the sources' texts, with {} for what is filled in."""
    found = set()
    for pattern in patterns:
        for path in sorted(PACKAGE.glob(pattern)):
            for literal in _literals(path):
                found.update(re.sub(r"\{\w*\}", "{}", one[0]).strip() for one in _ADVICE.finditer(literal))
    return found


def as_pattern(advice):
    """A regular expression of the messages that such an advice becomes."""
    return re.escape(advice).replace(r"\{\}", ".*?")
