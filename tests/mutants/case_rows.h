#pragma once
// What the stages over rows are delicate about.
#include <string>
#include <utility>
#include <vector>

#include "codegen/stage.h"
#include "tests/mutants/cases.h"

namespace segfold::test {

/// Cases of a stage over rows without names, each with what it is about.
std::vector<std::pair<MutantCase, std::string>> row_cases(const Stage& stage);

}  // namespace segfold::test
