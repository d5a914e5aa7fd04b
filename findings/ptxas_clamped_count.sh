#!/usr/bin/env bash
# ptxas 13.0 gets `count == 8` wrong for a count that was cut to 0..8: it asks whether the cut changed nothing.
#
# Guess: `max(min(left, 8), 0) == 8` is true from 8 on. Compilers may use what the hardware has, and mean the same.
# Truth: for sm_90 and sm_100 ptxas 13.0 takes one instruction for both cuts, VIMNMX.RELU, and its predicate for the comparison.
# An H200 (driver 580.159) then goes the way of equal counts for 0 to 8, and the other way for 9 and more; the count itself is
# right. NVRTC holds the same ptxas. That of 13.5 compares the count, as that of 13.0 does for sm_80 and sm_120. A comparison of
# the uncut value, `left >= 8`, is compiled as it stands.
#
# Read: "Parallel Thread Execution ISA", 9.0, min, max and setp. No GPU is needed: the script looks at the machine code.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python=${PYTHON:-python3}
for package in nvidia-cuda-nvcc==13.0.88 nvidia-cuda-nvcc==13.5.37 nvidia-cuda-nvdisasm==13.5.37; do
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --dest "$folder/$package" "$package" || exit 2
    "$python" -m zipfile -e "$folder/$package"/*.whl "$folder/$package"
done
disassembler=$(find "$folder" -name nvdisasm -type f)
chmod +x "$disassembler"

cat >"$folder/cut.ptx" <<'PTX'
.version 9.0
.target ARCHITECTURE
.address_size 64
.visible .entry cut(.param .u64 all_left, .param .u64 ways)
{
    .reg .pred %p1;
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [all_left];
    ld.param.u64 %rd2, [ways];
    mov.u32 %r1, %tid.x;
    mul.wide.s32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.b32 %r2, [%rd4];
    min.s32 %r3, %r2, 8;
    max.s32 %r4, %r3, 0;
    setp.eq.s32 %p1, %r4, 8;
    @%p1 bra EQUAL;
    st.global.b32 [%rd5], %r4;
    ret;
EQUAL:
    add.s32 %r5, %r4, 100;
    st.global.b32 [%rd5], %r5;
    ret;
}
PTX

seen=$(for version in 13.0.88 13.5.37; do
    assembler=$(find "$folder/nvidia-cuda-nvcc==$version" -name ptxas -type f)
    chmod +x "$assembler"
    for architecture in sm_80 sm_90 sm_100 sm_120; do
        sed "s/ARCHITECTURE/$architecture/" "$folder/cut.ptx" >"$folder/one.ptx"
        "$assembler" -arch="$architecture" "$folder/one.ptx" -o "$folder/one.cubin"
        code=$("$disassembler" -c "$folder/one.cubin")
        if grep -qE 'VIMNMX\S*RELU R[0-9]+, P[0-9]' <<<"$code" && ! grep -q ISETP <<<"$code"; then
            echo "ptxas $version, $architecture: the predicate of VIMNMX.RELU"
        elif grep -qE 'ISETP\S* P[0-9], PT, R[0-9]+, 0x8' <<<"$code"; then
            echo "ptxas $version, $architecture: a comparison with 8"
        else
            echo "ptxas $version, $architecture: something else"
        fi
    done
done)

described='ptxas 13.0.88, sm_80: a comparison with 8
ptxas 13.0.88, sm_90: the predicate of VIMNMX.RELU
ptxas 13.0.88, sm_100: the predicate of VIMNMX.RELU
ptxas 13.0.88, sm_120: a comparison with 8
ptxas 13.5.37, sm_80: a comparison with 8
ptxas 13.5.37, sm_90: a comparison with 8
ptxas 13.5.37, sm_100: a comparison with 8
ptxas 13.5.37, sm_120: a comparison with 8'
printf '%s\n' "$seen"
[[ $seen == "$described" ]] || { printf '\nThe behaviour has changed. It was:\n%s\n' "$described"; exit 1; }
