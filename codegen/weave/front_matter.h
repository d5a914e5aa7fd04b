#pragma once
// Reads lines that occur in the front matter of both stages and probes. All functions with a parameter
// `place` throw SpecError for a faulty line. The message begins with `place`.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/formula.h"

namespace segfold {

/// A number of a stage or probe that users may choose, and its possible values. The first value is the
/// default.
struct Tunable {
    std::string name;
    std::vector<int> values;
};

/// A scratch buffer: memory that the runtime allocates for a launch.
struct Scratch {
    std::string name;     ///< the kernel parameter's name
    std::string element;  ///< type of an element, such as "State", "Index" or "unsigned"
    Formula count;
    /// True if it must be zero before the first launch. Kernels leave it ready for the next launch.
    bool zero = false;
};

/// One kernel launch.
struct Launch {
    std::string kernel;
    Formula grid, block;
    std::optional<Formula> shared;  ///< bytes of dynamic shared memory for each block; may use plan_facts()
};

/// Splits `text` at each `separator`, and removes blanks around the items.
std::vector<std::string> split(std::string_view text, char separator);

/// Reads "NAME = VALUE, VALUE, ...". FIRST..LAST stands for all values from FIRST to LAST.
Tunable read_tunable(const std::string& argument, const std::string& place);

/// Appends a tunable to `tunables`. Throws SpecError if `tunables` already has one of the same name.
void add_tunable(std::vector<Tunable>& tunables, Tunable tunable, const std::string& place);

/// Sets `value` to `argument`, the text after the directive `word`. Throws SpecError if `value` is already
/// set.
void set_once(std::string& value, const std::string& word, const std::string& argument,
              const std::string& place);

/// Reads a size of the form "NAME = FORMULA".
Size read_size(const std::string& argument, const std::string& place);

/// Reads "NAME : ELEMENT[COUNT] [zero]". ELEMENT must be one of `elements`.
Scratch read_scratch(const std::string& argument, const std::string& place,
                     std::span<const std::string_view> elements);

/// Reads "KERNEL grid = FORMULA block = FORMULA [shared = FORMULA]".
Launch read_launch(const std::string& argument, const std::string& place);

}  // namespace segfold
