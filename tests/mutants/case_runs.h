#pragma once
// What the stages that find segments in flags or keys are delicate about.
#include <string>
#include <utility>
#include <vector>

#include "codegen/stage.h"
#include "tests/mutants/cases.h"

namespace segfold::test {

/// Cases of a stage that finds segments without names, each with what it is about.
std::vector<std::pair<MutantCase, std::string>> run_cases(const Stage& stage);

}  // namespace segfold::test
