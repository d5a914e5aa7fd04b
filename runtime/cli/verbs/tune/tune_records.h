#pragma once
// segfold tune --show and --forget: lists and removes the user's records.
#include "runtime/cli/arguments/arguments.h"

namespace segfold::cli {

inline constexpr Flag kRecordFlags[] = {{"show"}, {"forget", "spot|tuned|all"}};

/// True if the flags ask to list or to remove records.
bool asks_about_records(const Arguments& arguments);

/// Lists the user's records that may choose a plan, or removes records; of one operator if one is named.
int tune_records(const Arguments& arguments);

}  // namespace segfold::cli
