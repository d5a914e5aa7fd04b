// The program's entry: the only place where exceptions end.
#include <csignal>
#include <exception>
#include <filesystem>
#include <new>

#include "dsl/error.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/verbs.h"
#include "runtime/cuda/compile.h"
#include "runtime/files/leftovers.h"

int main(int argc, char** argv)
{
    constexpr int kInput = 2, kOurFault = 4;
    // A reader of standard output may leave at any time; write_output sees that as an error number.
    std::signal(SIGPIPE, SIG_IGN);
    // Nor does a limit on the size of files end the program: whoever writes sees an error number.
    std::signal(SIGXFSZ, SIG_IGN);
    segfold::remove_leftovers_at_signals();
    segfold::cuda::keep_memory_for_compilations();
    try {
        return segfold::cli::dispatch({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const segfold::Error& error) {
        segfold::cli::write_error(error.what());
        return error.exit_code();
    } catch (const std::bad_alloc&) {
        segfold::cli::write_error("out of memory; try fewer elements");
        return kInput;
    } catch (const std::filesystem::filesystem_error& error) {
        // Whoever meets one and can say more has done so.
        segfold::cli::write_error(error.path1().string() + ": " + error.code().message());
        return kInput;
    } catch (const std::exception& error) {
        segfold::cli::write_error(std::string("internal error: ") + error.what());
        return kOurFault;
    }
}
