#pragma once
// The lines of front matter that stages and probes share. Each reader throws SpecError that begins with
// `place`.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/weave/formula.h"

namespace segfold {

/// A name with the values it may take; the first is the default.
struct Tunable {
    std::string name;
    std::vector<int> values;
};

/// Memory that the runtime allocates for a launch.
struct Scratch {
    std::string name;     ///< of the kernel parameter
    std::string element;  ///< "State", "Index", "unsigned", "u64", "bool"
    Formula count;
    bool zero = false;  ///< must be zero before the first launch; kernels leave it fit for the next
};

/// One kernel launch.
struct Launch {
    std::string kernel;
    Formula grid, block;
    std::optional<Formula>
        shared;  ///< bytes of dynamic shared memory a block, over plan_facts() and the like
};

/// The items between separators, without blanks around them.
std::vector<std::string> split(std::string_view text, char separator);

/// "NAME = VALUE, VALUE, ..."; FIRST..LAST stands for all values from one to the other.
Tunable read_tunable(const std::string& argument, const std::string& place);

/// Appends a tunable whose name is new.
void add_tunable(std::vector<Tunable>& tunables, Tunable tunable, const std::string& place);

/// Sets a value that a file may state once.
void set_once(std::string& value, const std::string& word, const std::string& argument,
              const std::string& place);

/// "NAME = FORMULA"
std::pair<std::string, Formula> read_size(const std::string& argument, const std::string& place);

/// "NAME : ELEMENT[COUNT] [zero]" with one of the given elements.
Scratch read_scratch(const std::string& argument, const std::string& place,
                     std::span<const std::string_view> elements);

/// "KERNEL grid = FORMULA block = FORMULA [shared = FORMULA]"
Launch read_launch(const std::string& argument, const std::string& place);

}  // namespace segfold
