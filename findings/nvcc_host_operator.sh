#!/usr/bin/env bash
# nvcc: an operator without __device__ that a library calls can vanish from the kernel without an error or a warning.
#
# Guess: a functor whose operator() lacks __device__ does not compile when device code calls it; CUB says so.
# Truth: that holds where the caller is a __device__ function. Where it is __host__ __device__, nvcc has no more than a
# warning, which is not shown for cuda::std::accumulate and thrust::transform_iterator: theirs are system headers, or
# have the check switched off. nvcc ends with 0 and takes the call for unreachable. The fold below becomes a kernel that
# stores 0 whatever the data are, and the lift one that stores nothing. With __device__ both load, compute and store.
#
# Read: "CUDA C++ Programming Guide", execution space specifiers, which leaves calls across spaces undefined.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv" && "$folder/venv/bin/pip" install --quiet \
    nvidia-cuda-nvcc==13.2.78 nvidia-nvvm==13.2.78 nvidia-cuda-crt==13.2.78 nvidia-cuda-runtime==13.2.75 \
    nvidia-cuda-cccl==13.2.75 || exit 2

command -v g++ > "$folder/found" || { echo "nvcc needs g++" >&2; exit 2; }
nvcc=$(echo "$folder"/venv/lib/python*/site-packages/nvidia/*/bin/nvcc)
cat > "$folder/kernel.cu" <<'CU'
#include <cuda/std/numeric>
#include <thrust/iterator/transform_iterator.h>

struct Sum {
    SPACE float operator()(float earlier, float later) const { return earlier + later; }
};
struct Square {
    SPACE float operator()(float x) const { return x * x; }
};

extern "C" __global__ void fold(float* out, const float* in, int n)
{
    *out = cuda::std::accumulate(in, in + n, 0.0f, Sum{});
}

extern "C" __global__ void lift(float* out, const float* in)
{
    out[threadIdx.x] = thrust::make_transform_iterator(in, Square{})[threadIdx.x];
}
CU

seen=$("$nvcc" --version | grep -o 'V[0-9][0-9.]*')
for space in "" __device__; do
    code=0
    "$nvcc" -std=c++17 -arch=sm_90 -ptx "-DSPACE=$space" "$folder/kernel.cu" -o "$folder/kernel.ptx" \
        > "$folder/said" 2>&1 || code=$?
    seen+=$'\n'"operator() with ${space:-no specifier}: exit code $code, lines of nvcc: $(wc -l < "$folder/said")"
    for kernel in fold lift; do
        ptx=$(sed -n "/entry $kernel(/,/^}/p" "$folder/kernel.ptx")
        count() { grep -cE "$1" <<< "$ptx" || true; }
        any() { [ "$(count "$1")" -gt 0 ] && echo yes || echo no; }
        seen+=$'\n'"  $kernel: loads data $(any 'ld\.global'), computes $(any '(add|mul|fma)[.a-z]*f32')"
        seen+=", stores $(any 'st\.global')"
    done
done

described='V13.2.78
operator() with no specifier: exit code 0, lines of nvcc: 0
  fold: loads data no, computes no, stores yes
  lift: loads data no, computes no, stores no
operator() with __device__: exit code 0, lines of nvcc: 0
  fold: loads data yes, computes yes, stores yes
  lift: loads data yes, computes yes, stores yes'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
