#!/usr/bin/env python3
"""Installs the wheel for one version of Python and runs tests of the package with it.

    interpreters.py VERSION --build BUILD --extension FILE --compiler CXX

An interpreter is looked for on PATH, in /usr/bin and among pyenv's versions. The wheel holds the extension that the build
has made where the interpreter takes it; otherwise pip compiles an extension of its own, unoptimised, linked with the libraries
of the build. From 3.12 on one wheel of the stable ABI, made by the oldest interpreter, serves all. Each version runs the whole
suite; with SEGFOLD_TEST_DRAW one does besides that of the build, another one for each of its texts, and the rest run a short
one. Exit status 77: skipped, with the reason in the last line.
"""

import argparse
import contextlib
import fcntl
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
VERSIONS = [f"3.{minor}" for minor in range(10, 15)]
STABLE_FROM = (3, 12)
SUITE = "runtime/python/tests"
SHORT = [f"{SUITE}/test_{name}.py" for name in ("arrays", "wrong_calls", "language")]
AS_RUNS = f"{SUITE}/test_index_width.py"  # folds billions of elements: what it compiles is optimised
WHAT_IT_IS = """
import importlib.util, json, os, sys, sysconfig
print(json.dumps(dict(
    version="%d.%d" % sys.version_info[:2],
    name=sys.implementation.name,
    headers=os.path.exists(sysconfig.get_path("include") + "/Python.h"),
    environments=all(importlib.util.find_spec(module) for module in ("venv", "ensurepip")),
    free_threaded=bool(sysconfig.get_config_var("Py_GIL_DISABLED")))))
"""


def parts(version):
    return tuple(int(part) for part in version.split("."))


def candidates(version):
    """Programs that may be this version of Python, each once."""
    folders = os.get_exec_path() + ["/usr/bin", "/usr/local/bin"]
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    folders += sorted(glob.glob(f"{glob.escape(pyenv)}/versions/{version}.*/bin"))
    programs = (os.path.join(folder, f"python{version}") for folder in folders)
    return list(dict.fromkeys(program for program in programs if os.access(program, os.X_OK)))


def unfit(program, version):
    """Why this program cannot build and install the package; empty where it can."""
    try:
        found = json.loads(subprocess.run([program, "-I", "-c", WHAT_IT_IS], check=True, capture_output=True, text=True, timeout=60).stdout)
    except (OSError, ValueError, subprocess.SubprocessError):  # such as pyenv's links to versions that are not chosen
        return f"{program} does not run"
    if found["version"] != version or found["name"] != "cpython":
        return f"{program} is {found['name']} {found['version']}"
    if found["free_threaded"]:
        return f"{program} is free-threaded"
    if not found["environments"]:
        return f"{program} has no venv or no ensurepip"
    if not found["headers"]:
        return f"{program} has no headers (Python.h)"
    return ""


def find(version):
    """The program of this version, and no reason; or None, and why there is none."""
    reasons = []
    for program in candidates(version):
        reason = unfit(program, version)
        if not reason:
            return program, ""
        reasons.append(reason)
    return None, f"no Python {version} is here" + "".join(f"; {reason}" for reason in reasons)


def drawn(versions, draw):
    """The version that runs the whole suite besides that of the build, which other tests run; all without a draw."""
    if not draw:
        return versions
    others = [version for version in versions if parts(version) != sys.version_info[:2]]
    return sorted(others, key=lambda version: hashlib.sha256(f"{draw}\n{version}".encode()).digest())[:1]


def run(*command, **more):
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], check=True, **more)


@contextlib.contextmanager
def locked(folder):
    """One test at a time works in the folder of a wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def packages():
    """What building, using and testing the package needs, as pyproject.toml says it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return [package for key in ("requires", "dependencies", "test") for package in json.loads(re.search(rf"^{key} = (\[.*\])$", text, re.M)[1])]


def environment(program, folder):
    """The interpreter of a virtual environment that holds the packages; SystemExit(77) where they cannot be had."""
    python = folder / "bin" / "python"
    made_of = folder / ".made-of"
    wanted = " ".join([program, *packages()])
    if made_of.exists() and made_of.read_text() == wanted:
        return python
    run(program, "-m", "venv", "--clear", folder)
    try:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2", "--only-binary=:all:", *packages())
    except subprocess.CalledProcessError:
        print(f"the package index gives {program} no {', '.join(packages())}")
        sys.exit(77)
    made_of.write_text(wanted)
    return python


def takes(version, extension):
    """Whether an interpreter of this version imports an extension of this name."""
    if ".abi3." in extension.name:
        return parts(version) >= STABLE_FROM
    return f".cpython-{version.replace('.', '')}-" in extension.name


def make_wheel(version, arguments, work):
    """The wheel for this version, by pip as a user calls it, but for what the build has compiled before."""
    if takes(version, arguments.extension):
        python = sys.executable
        settings = {"SEGFOLD_PYTHON_EXTENSION": arguments.extension}
    else:
        run("cmake", "--install", arguments.build, "--prefix", work / "prefix", stdout=subprocess.DEVNULL)
        settings = {"SEGFOLD_PYTHON_LIBRARIES": work / "prefix", "SEGFOLD_PORTABLE": "OFF", "CMAKE_CXX_COMPILER": arguments.compiler,
                    "CMAKE_CXX_FLAGS_RELEASE": "-O0 -DNDEBUG"}  # fmt: skip
        stable = [other for other in VERSIONS if parts(other) >= STABLE_FROM and find(other)[0]]
        builder = stable[0] if version in stable else version
        python = environment(find(builder)[0], work / builder)
    for old in work.glob("*.whl"):
        old.unlink()
    defines = [word for key, value in settings.items() for word in ("--config-settings", f"cmake.define.{key}={value}")]
    run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", *defines,
        "--config-settings", f"build-dir={work / 'build'}", "-w", work, ROOT,
        env=os.environ | dict(CMAKE_BUILD_PARALLEL_LEVEL="1"))  # fmt: skip
    (wheel,) = work.glob("segfold-*.whl")
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("version", choices=VERSIONS)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--extension", type=pathlib.Path, required=True)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    version = arguments.version

    program, reason = find(version)
    if not program:
        print(reason)
        return 77
    work = arguments.build / "interpreters" / ("stable" if parts(version) >= STABLE_FROM else version)
    with locked(work):
        wheel = make_wheel(version, arguments, work)
        python = environment(program, work / version)
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", wheel)

    draw = os.environ.get("SEGFOLD_TEST_DRAW", "")
    whole = version in drawn([other for other in VERSIONS if find(other)[0]], draw)
    print(f"{wheel.name} is installed for {program}; {'the whole suite' if whole else 'a short suite'} follows", flush=True)
    surroundings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SEGFOLD_PYTHON_EXTENSION")}
    surroundings |= dict(OMP_WAIT_POLICY="passive", PYTHONDONTWRITEBYTECODE="1")
    pytest = [python, "-m", "pytest", "-q", "-ra", "-p", "no:cacheprovider"]
    if whole:
        run(*pytest, AS_RUNS, cwd=ROOT, env=surroundings)
    if shutil.which("g++"):  # hundreds of texts, each for a few elements
        surroundings["CXX"] = "g++ -O0"
    run(*pytest, *([SUITE, f"--ignore={AS_RUNS}"] if whole else SHORT), cwd=ROOT, env=surroundings)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(error.cmd)}\nended with {error.returncode}")
