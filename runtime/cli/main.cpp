// The program's entry: the only place where exceptions end.
#include <csignal>
#include <exception>
#include <new>

#include "dsl/error.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/cuda/compile.h"

int main(int argc, char** argv)
{
    constexpr int kOurFault = 4;
    // A reader of standard output may leave at any time; write_output sees that as an error number.
    std::signal(SIGPIPE, SIG_IGN);
    segfold::cuda::keep_memory_for_compilations();
    try {
        return segfold::cli::dispatch({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const segfold::Error& error) {
        segfold::cli::write_error(error.what());
        return error.exit_code();
    } catch (const std::bad_alloc&) {
        segfold::cli::write_error("out of memory; try fewer elements");
        return kOurFault;
    } catch (const std::exception& error) {
        segfold::cli::write_error(std::string("internal error: ") + error.what());
        return kOurFault;
    }
}
