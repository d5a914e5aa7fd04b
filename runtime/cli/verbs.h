#pragma once
// The verbs of the program, and the help pages.
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

// Each function takes the words after the verb and returns the program's exit code. Throws if the verb fails.
int verb_run(const Words& words);
int verb_scan(const Words& words);
int verb_check(const Words& words);
int verb_emit(const Words& words);
int verb_bench(const Words& words);
int verb_paper(const Words& words);
int verb_cache(const Words& words);
int verb_stages(const Words& words);
int verb_devices(const Words& words);
int verb_operators(const Words& words);
int verb_regress(const Words& words);
int verb_tune(const Words& words);

/// Runs the command line and returns the exit code. `words` does not contain the program's name.
int dispatch(const Words& words);

}  // namespace segfold::cli
