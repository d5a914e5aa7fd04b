#!/usr/bin/env bash
# nvcc from PyPI is not pinned by its version: an older nvcc gets a newer compiler, whose PTX its ptxas refuses.
#
# Guess: `pip install nvidia-cuda-nvcc==13.2.78` is nvcc 13.2, the same every day.
# Truth: that package holds the driver program and ptxas. The compiler proper (cicc) is in nvidia-nvvm, the headers in
# nvidia-cuda-crt, and both are required without a version, so pip takes the newest. cicc of 13.5 writes PTX 9.5, ptxas
# of 13.2 knows 9.2: every compilation ends in an error, while `pip check` finds nothing broken. Pin
# nvidia-nvvm and nvidia-cuda-crt as well.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    nvidia-cuda-nvcc==13.2.78 nvidia-nvvm==13.5.37 nvidia-cuda-crt==13.5.37 nvidia-cuda-runtime==13.2.75 || exit 2

command -v g++ > "$folder/found" || { echo "nvcc needs g++" >&2; exit 2; }
nvcc=$(echo "$folder"/venv/lib/python*/site-packages/nvidia/*/bin/nvcc)
echo '__global__ void k(int* x) { *x = 1; }' > "$folder/k.cu"

compile() {
    "$nvcc" -cubin -arch=sm_90 "$folder/k.cu" -o "$folder/k.cubin" > "$folder/said" 2>&1 && echo compiles ||
        grep -o "Unsupported .version [0-9.]*" "$folder/said"
}
seen=$("$folder/venv/bin/python" -c 'from importlib.metadata import requires
print("nvidia-cuda-nvcc 13.2.78 requires:", *sorted(requires("nvidia-cuda-nvcc")))')
seen+=$'\n'"pip check: $("$folder/venv/bin/pip" check)"
seen+=$'\n'"with nvidia-nvvm 13.5.37: $(compile)"
"$folder/venv/bin/pip" install --quiet nvidia-nvvm==13.2.78 nvidia-cuda-crt==13.2.78 || exit 2
seen+=$'\n'"with nvidia-nvvm 13.2.78: $(compile)"

described='nvidia-cuda-nvcc 13.2.78 requires: nvidia-cuda-crt nvidia-cuda-runtime nvidia-nvvm
pip check: No broken requirements found.
with nvidia-nvvm 13.5.37: Unsupported .version 9.5
with nvidia-nvvm 13.2.78: compiles'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
