#pragma once
// Compiles several programs as one, because NVRTC takes longer to start than to compile a small kernel.
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "runtime/backends/cuda/compile/compile.h"

namespace segfold::cuda {

/// A program that may share a compilation with other programs.
struct Variant {
    CompileRequest request;
    std::vector<std::string> kernels;  ///< names of all kernels of the source, declared extern "C"
};

/// True if a source can be compiled together with other sources.
///
/// False if the source includes files, tests whether files exist, uses the time, or has a directive other
/// than `#pragma unroll`. Macros and other pragmas would affect the texts that follow.
[[nodiscard]] bool can_share_program(const CompileRequest& request);

/// Joins the variants into one text. Each variant is in its own namespace, such as `variant_3` for the
/// fourth.
///
/// A variant's kernels and dynamic shared arrays are renamed, such as to variant_3_NAME. Compiler messages
/// keep each program's name and line numbers.
[[nodiscard]] std::string batch_source(std::span<const Variant> variants);

/// The result of compiling one variant.
struct BatchOutcome {
    Compiled compiled;
    std::exception_ptr failure;  ///< the error that compile() would throw; null if it succeeded
};

/// Compiles variants together. Variants that cannot share a program are compiled alone.
///
/// The variants of a program have the same architecture, options and dynamic shared arrays. They share the
/// image and the warnings. Each variant gets the report of its own kernels, under their own names, and an
/// equal part of the time.
///
/// A variant has the same code as if compiled alone. Only a text of several kernels differs by a few
/// instructions, because alone its kernels are compiled in parallel. If the program does not compile, each
/// variant is compiled alone. So only faulty variants fail, each with its own message.
///
/// Calls `done` with the index and the outcome of each variant when its compilation ends. Passes on
/// exceptions of `done`.
void compile_batch(std::span<const Variant> variants,
                   const std::function<void(std::size_t variant, BatchOutcome outcome)>& done);

}  // namespace segfold::cuda
