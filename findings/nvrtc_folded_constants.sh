#!/usr/bin/env bash
# NVRTC folds constants without regard to -ftz=true and --use_fast_math: the same operation has two results.
#
# Guess: --ftz=true and --use_fast_math say how float operations behave, so an expression of constants gives what the
# same instructions give at run time.
# Truth: the compiler's folder keeps subnormal numbers and rounds correctly. With --ftz=true, 1e-38f * 0.1f is the
# subnormal 1e-39 if both are constants, while the same product of a loaded value is `mul.ftz.f32`, which gives 0. With
# --use_fast_math, expf(1.0f) is the exact constant and expf(x) is an `ex2.approx`. A constant that the compiler can see
# (an identity, a scalar that is written into the source) and one that is passed at launch may round differently.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    nvidia-cuda-nvrtc==13.2.78 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import ctypes
import glob
import re
import struct
import sys

packages = f"{sys.prefix}/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
nvrtc = ctypes.CDLL(glob.glob(f"{packages}/nvidia/*/lib/libnvrtc.so.13")[0])


def check(status):
    if status:
        raise RuntimeError(f"NVRTC error {status}")


def compiled(source, options, kind):
    """The PTX or the CUBIN of a source."""
    program = ctypes.c_void_p()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    texts = [option.encode() for option in ("--gpu-architecture=sm_90", *options)]
    check(nvrtc.nvrtcCompileProgram(program, len(texts), (ctypes.c_char_p * len(texts))(*texts)))
    size = ctypes.c_size_t()
    check(getattr(nvrtc, f"nvrtcGet{kind}Size")(program, ctypes.byref(size)))
    result = ctypes.create_string_buffer(size.value)
    check(getattr(nvrtc, f"nvrtcGet{kind}")(program, result))
    return result.raw


def shown(name, expression, option):
    source = f'extern "C" __global__ void k(float* o, const float* x) {{ o[0] = {expression}; }}'
    ptx = compiled(source, [option], "PTX").decode("latin-1")
    found = re.findall(r"\b((?:mul|ex2|div|rcp)[.a-z]*f32)\b", ptx)
    for bits in re.findall(r"mov\.[ub]32\s+%r\d+, (\d+);", ptx):
        found.append("the constant %.9g" % struct.unpack("f", struct.pack("I", int(bits))))
    print(f"{option:16} {name:16}", ", ".join(found))


major, minor = ctypes.c_int(), ctypes.c_int()
nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
print(f"NVRTC {major.value}.{minor.value}, sm_90")

shown("1e-38f * 0.1f", "1e-38f * 0.1f", "--ftz=true")
shown("x * 0.1f", "x[0] * 0.1f", "--ftz=true")
shown("expf(1.0f)", "expf(1.0f)", "--use_fast_math")
shown("expf(x)", "expf(x[0])", "--use_fast_math")
shown("1.0f / 3.0f", "1.0f / 3.0f", "--use_fast_math")
shown("1.0f / x", "1.0f / x[0]", "--use_fast_math")
PY
)

described='NVRTC 13.2, sm_90
--ftz=true       1e-38f * 0.1f    the constant 1.00000022e-39
--ftz=true       x * 0.1f         mul.ftz.f32
--use_fast_math  expf(1.0f)       the constant 2.71828175
--use_fast_math  expf(x)          mul.ftz.f32, ex2.approx.ftz.f32
--use_fast_math  1.0f / 3.0f      the constant 0.333333343
--use_fast_math  1.0f / x         rcp.approx.ftz.f32'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
