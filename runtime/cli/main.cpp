// The entry point of the program. Only here are all exceptions caught.
#include <csignal>
#include <exception>

#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/cli/failure.h"
#include "runtime/cli/verbs.h"
#include "runtime/support/files/leftovers.h"

int main(int argc, char** argv)
{
    // The reader of standard output may close it at any time. Writing must then return an error instead of
    // ending the program.
    std::signal(SIGPIPE, SIG_IGN);
    // Exceeding the limit on file sizes must also return an error.
    std::signal(SIGXFSZ, SIG_IGN);
    segfold::remove_leftovers_at_signals();
    segfold::cuda::keep_memory_for_compilations();
    segfold::cuda::set_cpu_option("--backend cpu");
    const segfold::cli::Words words(argv + (argc > 0 ? 1 : 0), argv + argc);
    try {
        return segfold::cli::dispatch(words);
    } catch (const std::exception& error) {
        return segfold::cli::report(words, segfold::cli::failure_of(error));
    }
}
