"""Compiled plans in one file; tests/cli/cli_emit_compiled_test.cpp takes NVRTC away."""

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
    assert sf.cache.import_plans(file) == made


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
    assert not file.exists()
    file.write_bytes(b"no archive")
    with pytest.raises(sf.InputError, match="plans.zip"):
        sf.cache.import_plans(file)
