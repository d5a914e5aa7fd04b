#pragma once
// segfold tune --show and --forget: list and remove the user's tuning records.
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kRecordFlags[] = {{"show"}, {"forget", "spot|tuned|all"}};

/// True if the flags request to list or to remove records.
bool asks_about_records(const Arguments& arguments);

/// Lists the user's records of usable plans, or removes records. If an operator is named, only its records.
int tune_records(const Arguments& arguments);

}  // namespace segfold::cli
