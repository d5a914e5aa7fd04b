"""What the tests of the package share. No test touches the user's caches or tuning records."""

import os
import tempfile

_folder = tempfile.TemporaryDirectory(prefix="segfold-python-")
os.environ["SEGFOLD_CACHE_DIR"] = os.path.join(_folder.name, "cache")
os.environ["SEGFOLD_TUNING_DIR"] = os.path.join(_folder.name, "tuning")

_outcomes = {}


def pytest_runtest_logreport(report):
    _outcomes.setdefault(report.outcome, []).append(report)


def pytest_sessionfinish(session, exitstatus):
    """A file of which every test was skipped is skipped itself: ctest knows that by 77."""
    ran = [report for report in _outcomes.get("passed", []) if report.when == "call"]
    if exitstatus == 0 and not ran and _outcomes.get("skipped"):
        session.exitstatus = 77


def pytest_unconfigure(config):
    """The reasons come last, where `./test` looks for them."""
    reasons = {str(report.longrepr[2]) for report in _outcomes.get("skipped", []) if isinstance(report.longrepr, tuple)}
    if reasons:
        print("; ".join(sorted(reason.removeprefix("Skipped: ") for reason in reasons)))
