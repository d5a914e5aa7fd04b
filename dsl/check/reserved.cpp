#include <algorithm>
#include <array>

#include "dsl/check/check.h"

namespace segfold {
namespace {

/// Words with a meaning in the language, which no parameter, field or local may take.
constexpr std::array<std::string_view, 23> kReserved = {
    "operator", "state",    "lift",    "combine", "append", "finish",  "empty",  "map",
    "scan",     "laws",     "let",     "table",   "true",   "false",   "inf",    "nan",
    "index",    "position", "segment", "length",  "lowest", "highest", "epsilon"};

}  // namespace

bool is_reserved(std::string_view name) { return std::ranges::find(kReserved, name) != kReserved.end(); }

bool is_taken(std::string_view name) { return is_reserved(name) || find_type(name) || find_function(name); }

}  // namespace segfold
