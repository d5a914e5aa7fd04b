#pragma once
// Several programs compiled as one: NVRTC takes longer to begin a program than to compile a small kernel.
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/compile/compile.h"

namespace segfold::cuda {

/// A program that may be compiled together with others.
struct Variant {
    CompileRequest request;
    std::vector<std::string> kernels;  ///< the names of all kernels of the source, each declared extern "C"
};

/// True if a source can stand among others.
///
/// False if it includes or asks for files or the time, or has any directive but `#pragma unroll`: macros and
/// other pragmas would reach the texts that follow.
[[nodiscard]] bool can_share_program(const CompileRequest& request);

/// One text of all variants, each in a namespace of its own, `variant_3` for the fourth.
///
/// Its kernels and dynamic shared arrays are called variant_3_NAME. Lines keep their numbers and the names of
/// their programs.
[[nodiscard]] std::string batch_source(std::span<const Variant> variants);

/// The outcome of one variant.
struct BatchOutcome {
    Compiled compiled;
    std::exception_ptr failure;  ///< the error that compile() throws; null if it compiled
};

/// Compiles variants together; those that cannot share a program alone.
///
/// A program takes variants of one architecture, with the same options and the same dynamic shared arrays.
/// They share its image and its warnings; each has the report of its own kernels, under their own names and
/// as if it had been compiled by itself, and an equal part of the time. (Texts of several kernels come out
/// with some instructions more or less by themselves, where their kernels are compiled side by side.) If the
/// program does not compile, each is compiled by itself: a faulty one spoils no other and gets its own
/// message.
///
/// Calls `done` with the place of each variant and its outcome, as each ends. Lets errors of `done` pass.
void compile_batch(std::span<const Variant> variants,
                   const std::function<void(std::size_t variant, BatchOutcome outcome)>& done);

}  // namespace segfold::cuda
