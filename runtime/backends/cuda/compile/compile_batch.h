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

/// True where a source can stand among others.
///
/// False where it includes or asks for files or the time, or has any directive but `#pragma unroll`: macros
/// and other pragmas would reach the texts that follow.
[[nodiscard]] bool can_share_program(const CompileRequest& request);

/// One text of all variants, each in a namespace of its own, `variant_3` for the fourth.
///
/// Its kernels and dynamic shared arrays are called variant_3_NAME. Lines keep their numbers and the names of
/// their programs.
[[nodiscard]] std::string batch_source(std::span<const Variant> variants);

/// The outcome of one variant.
struct BatchOutcome {
    Compiled compiled;
    std::exception_ptr failure;  ///< as compile() throws it; null where it did not
};

/// Compiles variants together, and by themselves what cannot share a program.
///
/// A program takes variants of one architecture, with the same options and the same dynamic shared arrays.
/// They share its image and its warnings; each has the report of its own kernels, under their own names and
/// as if it had been compiled by itself, and an equal part of the time. (Texts of several kernels come out
/// with some instructions more or less by themselves, where their kernels are compiled side by side.) Where
/// the program does not compile, each is compiled by itself, so that one that is at fault spoils no other and
/// gets its own message.
///
/// Calls `done` with the place of each variant and its outcome, as each ends. Throws what `done` throws.
void compile_batch(std::span<const Variant> variants,
                   const std::function<void(std::size_t variant, BatchOutcome outcome)>& done);

}  // namespace segfold::cuda
