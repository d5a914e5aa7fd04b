#!/usr/bin/env bash
# PTX without any fma can still be contracted: x * x - y * y is mul, mul, sub in PTX and FMUL, FFMA on the device.
#
# Guess: NVRTC's default --fmad=true writes `fma.rn.f32` into the PTX, so a look at the PTX tells whether a fold is
# contracted, and a PTX with mul and add alone computes what the source says.
# Truth: NVRTC fuses some pairs itself and leaves others to ptxas. `mul.f32` and `sub.f32` without a rounding modifier
# are a licence to fuse. The difference of two squares then rounds one square and not the other: it is not 0 for x = y,
# and combine(a, b) is no longer -combine(b, a). --fmad=false, or __fmul_rn, writes `.rn`, which ptxas keeps.
#
# Read: "Parallel Thread Execution ISA", floating-point instructions mul and add, notes on an absent rounding modifier.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    nvidia-cuda-nvrtc==13.2.78 nvidia-cuda-nvdisasm==13.2.78 || exit 2

seen=$("$folder/venv/bin/python" - <<'PY'
import ctypes
import glob
import re
import subprocess
import sys
import tempfile

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


def shown(name, expression, *options):
    source = f'extern "C" __global__ void k(float* o, const float* x) {{ o[0] = {expression}; }}'
    ptx = re.findall(r"\b((?:fma|mul|add|sub)[.a-z]*f32)\b", compiled(source, options, "PTX").decode("latin-1"))
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(compiled(source, options, "CUBIN"))
        file.flush()
        [disassembler] = glob.glob(f"{packages}/nvidia/*/bin/nvdisasm")
        text = subprocess.run([disassembler, file.name], capture_output=True, text=True, check=True).stdout
    print(name)
    print("  PTX   ", *ptx)
    print("  device", *re.findall(r"\b(FFMA|FMUL|FADD)\b", text))


major, minor = ctypes.c_int(), ctypes.c_int()
nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
print(f"NVRTC {major.value}.{minor.value}, sm_90")

shown("x * y + z", "x[0] * x[1] + x[2]")
shown("x * x - y * y", "x[0] * x[0] - x[1] * x[1]")
shown("x * x - y * y, --fmad=false", "x[0] * x[0] - x[1] * x[1]", "--fmad=false")
shown("__fmul_rn(x, x) - __fmul_rn(y, y)", "__fmul_rn(x[0], x[0]) - __fmul_rn(x[1], x[1])")
PY
)

described='NVRTC 13.2, sm_90
x * y + z
  PTX    fma.rn.f32
  device FFMA
x * x - y * y
  PTX    mul.f32 mul.f32 sub.f32
  device FMUL FFMA
x * x - y * y, --fmad=false
  PTX    mul.rn.f32 mul.rn.f32 sub.rn.f32
  device FMUL FMUL FADD
__fmul_rn(x, x) - __fmul_rn(y, y)
  PTX    mul.rn.f32 mul.rn.f32 sub.f32
  device FMUL FMUL FADD'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
