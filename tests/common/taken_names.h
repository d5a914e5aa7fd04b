#pragma once
// An operator whose names are all used by CUDA, C++ or emitted text.

namespace segfold {

/// Uses names of CUDA, C++, kernels/ and emitted functions wherever a user may choose a name.
inline constexpr const char* kTakenNames = R"(
operator int(floorf: f32, to_f32: f32, divide_i32: i32, double: f64, kWarpThreads: u8, fmin: table f64)
    -> (u8: u8, f16: f16, index: i64, segment: i32, min: f64, i64: i64) {
  state { present: u8; present_: f16; State: i64; join: i32; bits: f64; length_: i64 }
  lift {
    let inputs = floor(floorf) + f32(divide_i32 / i32(kWarpThreads));
    let unused = floorf;
    let also_unused = unused + 1;
    present = kWarpThreads; present_ = f16(inputs * to_f32); State = index; join = divide_i32 % i32(segment);
    bits = min(double, fmin[position]); length_ = position
  }
  combine(threadIdx, fmaxf) {
    let results = max(threadIdx.bits, fmaxf.bits);
    present = threadIdx.present; present_ = min(threadIdx.present_, fmaxf.present_);
    State = threadIdx.State + fmaxf.State; join = threadIdx.join; bits = results; length_ = fmaxf.length_
  }
  finish { let results = i64(present); u8 = present; f16 = present_; index = State; segment = join; min = bits; i64 = results }
}
)";

}  // namespace segfold
