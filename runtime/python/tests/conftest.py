"""What the tests of the package share. No test touches the user's caches or tuning records."""

import hashlib
import os
import signal
import tempfile

import pytest

_folder = tempfile.TemporaryDirectory(prefix="segfold-python-")
os.environ["SEGFOLD_CACHE_DIR"] = os.path.join(_folder.name, "cache")
os.environ["SEGFOLD_TUNING_DIR"] = os.path.join(_folder.name, "tuning")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell leaves it that starts ./test in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)

_outcomes = {}


def pytest_configure(config):
    config.addinivalue_line("markers", "drawn: with SEGFOLD_TEST_DRAW about a sixth of the cases are tried, others for each of its texts")


def pytest_collection_modifyitems(items):
    draw = os.environ.get("SEGFOLD_TEST_DRAW")
    left_out = pytest.mark.skip(reason="SEGFOLD_TEST_DRAW leaves it to other draws; without it every case is tried")
    for item in items:
        if draw and item.get_closest_marker("drawn") and hashlib.sha256(f"{draw}\n{item.name}".encode()).digest()[0] % 6:
            item.add_marker(left_out)


def pytest_runtest_logreport(report):
    _outcomes.setdefault(report.outcome, []).append(report)


def pytest_collectreport(report):
    if report.skipped:  # a whole file, for what is not here
        _outcomes.setdefault("skipped", []).append(report)


def pytest_sessionfinish(session, exitstatus):
    """A file of which every test was skipped is skipped itself: ctest knows that by 77."""
    ran = [report for report in _outcomes.get("passed", []) if report.when == "call"]
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and not ran and _outcomes.get("skipped"):
        session.exitstatus = 77


def pytest_unconfigure(config):
    """The reasons come last, where `./test` looks for them."""
    reasons = {str(report.longrepr[2]) for report in _outcomes.get("skipped", []) if isinstance(report.longrepr, tuple)}
    if reasons:
        print("; ".join(sorted(reason.removeprefix("Skipped: ") for reason in reasons)))
