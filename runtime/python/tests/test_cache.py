"""Compiled plans in one file; tests/cli/cli_emit_compiled_test.cpp takes NVRTC away."""

import os
import pathlib
import subprocess
import sys
import time
import zipfile

import pytest

import segfold as sf


@pytest.fixture
def folder(tmp_path, monkeypatch):
    try:
        sf.nvrtc()
    except sf.DeviceError as error:
        pytest.skip(str(error))
    return tmp_path


def test_what_is_exported_is_imported(folder):
    file = folder / "plans.zip"
    made = sf.cache.export_plans(
        file, [sf.standard.sum_i32], architectures=["sm_80", "sm_90"], layouts=["uniform=4"], num_elements=1 << 20
    )
    assert {kernel.architecture for kernel in made.kernels} == {"sm_80", "sm_90"}
    assert all(kernel.num_bytes > 0 and kernel.name.endswith(".cu") for kernel in made.kernels)
    assert len(zipfile.ZipFile(file).namelist()) == len(made.kernels) + 1
    kept = pathlib.Path(os.environ["SEGFOLD_CACHE_DIR"])
    before = {entry.name for entry in kept.iterdir()}
    assert len([name for name in before if name.endswith(".kernel")]) >= len(made.kernels), "an export keeps what it compiles"
    for name in before:
        (kept / name).unlink()
    assert sf.cache.import_plans(file) == made
    after = [entry.name.rpartition(".")[2] for entry in kept.iterdir()]
    assert after.count("imported") == len(made.kernels) and after.count("nvrtc") == 1


def test_wrong_words_are_named(folder):
    file = folder / "plans.zip"
    with pytest.raises(sf.InputError, match="no architecture is named"):
        sf.cache.export_plans(file, [sf.standard.sum_i32], architectures=[])
    with pytest.raises(sf.InputError, match="does not compile for 'h100'; it knows sm_"):
        sf.cache.export_plans(file, [sf.standard.sum_i32], architectures=["h100"])
    with pytest.raises(sf.InputError, match="is of no type yet"):
        sf.cache.export_plans(file, [sf.standard.sum], architectures=["sm_90"])
    with pytest.raises(TypeError):
        sf.cache.export_plans(file, ["sum"], architectures=["sm_90"])
    with pytest.raises(TypeError, match=r"operators\[1\] is None; give operators"):
        sf.cache.export_plans(file, [sf.standard.sum_i32, None], architectures=["sm_90"])
    with pytest.raises(sf.InputError, match="no operator is named"):
        sf.cache.export_plans(file, [], architectures=["sm_90"])
    assert not file.exists()
    file.write_bytes(b"no archive")
    with pytest.raises(sf.InputError, match="plans.zip"):
        sf.cache.import_plans(file)


@pytest.mark.parametrize(
    "words, message",
    [
        ({"layouts": []}, "no layout is named"),
        ({"index_bits": 7}, "index_bits is 7; it must be 32 or 64"),
        ({"layouts": ["keys"], "key_bytes": 0}, "key_bytes is 0; it must be 1, 2, 4 or 8"),
        ({"layouts": ["keys"], "key_bytes": 16}, "key_bytes is 16; it must be 1, 2, 4 or 8"),
        ({"num_elements": 0}, "num_elements is 0; it must be from 1 to 1099511627776"),
        ({"num_elements": -5}, "num_elements is -5; it must be from 1"),
        ({"num_elements": 2**62 + 5, "index_bits": 64}, "num_elements is 4611686018427387909; it must be from 1"),
        ({"num_elements": 2**31}, r"--elements \(num_elements\) is 2147483648, .* --index-bits 64 \(index_bits=64\)"),
    ],
)
def test_numbers_out_of_their_range_are_refused(folder, words, message):
    file = folder / "plans.zip"
    with pytest.raises(sf.InputError, match=message):
        sf.cache.export_plans(file, [sf.standard.sum_i32], architectures=["sm_90"], **words)
    assert not file.exists()


LONG_EXPORT = """
import _thread, sys, threading, time
import segfold as sf

threading.Timer(2, _thread.interrupt_main).start()
beats = []
threading.Thread(target=lambda: [(time.sleep(0.05), beats.append(0)) for _ in range(10000)], daemon=True).start()
begin = time.monotonic()
try:
    architectures, layouts = ["sm_80", "sm_86", "sm_90", "sm_100"], ["offsets", "keys", "ranges", "flags"]
    sf.cache.export_plans(sys.argv[1], [sf.standard.moments.typed("f64")], architectures=architectures, layouts=layouts)
except KeyboardInterrupt:
    print(time.monotonic() - begin, len(beats))
"""


def test_an_export_ends_with_its_caller(folder):
    words = {**os.environ, "SEGFOLD_CACHE_DIR": str(folder / "cache")}
    begin = time.monotonic()
    found = subprocess.run([sys.executable, "-c", LONG_EXPORT, str(folder / "plans.zip")], env=words, capture_output=True, text=True, timeout=300)
    seconds = time.monotonic() - begin
    assert found.returncode == 0, found.stderr
    waited, beats = map(float, found.stdout.split())
    assert waited < 5, "left alone, it compiles for a minute and more on two cores"
    assert beats >= 10, "other threads go on meanwhile"
    assert seconds < 20, "the work ends soon after its caller"
    assert not (folder / "plans.zip").exists()
