"""The wheel: what is in it, and three lines of Python in a place where nothing else is.

The extension is the one that the build has made; a wheel from a clean clone compiles it (`pip install .`).
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import tarfile
import zipfile

import numpy
import pytest

import segfold as sf

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    extension = os.environ.get("SEGFOLD_PYTHON_EXTENSION")
    if not extension:
        pytest.skip("SEGFOLD_PYTHON_EXTENSION does not name an extension that was built")
    if importlib.util.find_spec("scikit_build_core") is None:
        pytest.skip("no scikit-build-core is here")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check",
         "--config-settings", f"cmake.define.SEGFOLD_PYTHON_EXTENSION={extension}",
         "--config-settings", f"build-dir={folder}/build", "-w", str(folder), str(ROOT)],
        check=True,
    )  # fmt: skip
    (made,) = folder.glob("segfold-*.whl")
    return made


def test_wheels_serve_python_3_10_to_3_14():
    """By the table that cibuildwheel reads; a wheel of the stable ABI serves later versions too."""
    tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    built = {int(name.removeprefix("cp3").removesuffix("-*")) for name in project["tool"]["cibuildwheel"]["build"]}
    stable = int(project["tool"]["scikit-build"]["wheel"]["py-api"].removeprefix("cp3"))
    assert stable in built
    assert {minor for minor in range(10, 15) if minor in built or minor >= stable} == set(range(10, 15))
    assert project["project"]["requires-python"] == f">=3.{min(built)}"


def test_wheels_are_built_and_tested_with_folds_for_jax(monkeypatch):
    """cibuildwheel builds apart from every environment, so that the build itself asks for jaxlib; other builds work without it."""
    tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")
    build = pytest.importorskip("scikit_build_core.build", reason="no scikit-build-core is here")
    words = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    assert "has_xla()" in words["test-command"]
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("SEGFOLD_JAX", raising=False)
    assert not any(name.startswith("jaxlib") for name in build.get_requires_for_build_wheel())
    for name, value in words["environment"].items():
        monkeypatch.setenv(name, value)
    assert any(name.startswith("jaxlib") for name in build.get_requires_for_build_wheel())


def test_the_source_distribution_can_be_configured(tmp_path, monkeypatch):
    """It has every source that CMake wants, no folder of other figures, and is small. A release compiles it (tests/interpreters/release.py)."""
    build = pytest.importorskip("scikit_build_core.build", reason="no scikit-build-core is here")
    pytest.importorskip("nanobind", reason="no nanobind is here")
    monkeypatch.chdir(ROOT)
    archive = tmp_path / build.build_sdist(str(tmp_path))
    assert archive.stat().st_size < 4_000_000
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
        file.extractall(tmp_path)
    assert not [name for name in names if name.split("/")[0] in ("papers", "findings", "tests", "build", ".git", ".github")]
    assert {"runtime/papers/compare.cpp", "runtime/python/tests/test_wheel.py", "docs/conf.py", "LICENSE"} <= names
    defines = dict(SEGFOLD_PYTHON="ON", SEGFOLD_TESTS="OFF", SEGFOLD_INSTALL="OFF", SEGFOLD_CUDA="OFF", Python_EXECUTABLE=sys.executable)
    source = tmp_path / archive.name.removesuffix(".tar.gz")
    ran = subprocess.run(["cmake", "-S", source, "-B", tmp_path / "build", *(f"-D{key}={value}" for key, value in defines.items())], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


def test_what_is_in_the_wheel(wheel):
    files = set(zipfile.ZipFile(wheel).namelist())
    package = {f"segfold/{path.name}" for path in (ROOT / "runtime/python/segfold").iterdir() if path.suffix != ".so" and path.is_file()}
    extension = {f"segfold/{pathlib.Path(sf._segfold.__file__).name}"}
    assert {name for name in files if ".dist-info/" not in name} == package | extension
    metadata = zipfile.ZipFile(wheel).read(next(name for name in files if name.endswith("/METADATA"))).decode()
    assert f"Version: {sf.__version__}\n" in metadata
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert needed == ["Requires-Dist: numpy>=1.23"]
    tags = wheel.name.split("-")[2:4]
    if sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED"):
        assert tags == ["cp312", "abi3"]
    else:
        assert tags[0] == f"cp3{sys.version_info.minor}"


def test_three_lines_in_a_fresh_environment(wheel, tmp_path):
    """NumPy and the wheel, and nothing else on the path."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    program = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}]; "
        f"sys.path.append({str(pathlib.Path(numpy.__file__).parents[1])!r})\n"
        "import numpy as np, segfold as sf\n"
        "op = sf.operator('operator most(x: f32) -> f32 { state m: f32 = -inf lift x combine(a, b) max(a, b) }')\n"
        "print(sf.__file__, op(np.array([3, 1, 4, 1, 5], np.float32), lengths=np.array([3, 2])))\n"
    )
    ran = subprocess.run([sys.executable, "-I", "-S", "-c", program], check=True, capture_output=True, text=True, cwd=tmp_path)
    assert ran.stdout == f"{tmp_path}/segfold/__init__.py [4. 5.]\n"
