#pragma once
// Mutants of which a person has said that nothing can tell them from the text, or that nothing does yet.
#include <span>
#include <string>
#include <vector>

#include "tests/mutants/rules.h"

namespace segfold::test {

/// An entry of known.txt.
struct KnownMutant {
    int line = 0;        ///< of the entry
    bool is_equivalent;  ///< else it survives, and a test for it is missing
    std::string file, rule, before, after;
    int number = 0;  ///< 0: all of them
    std::string reason;

    [[nodiscard]] bool matches(const Mutant& mutant) const;
};

/// Reads entries. Throws InputError with `path` and the line.
std::vector<KnownMutant> read_known(const std::string& path, const std::string& text);

/// The entry for a mutant, null where there is none.
const KnownMutant* find_known(std::span<const KnownMutant> known, const Mutant& mutant);

}  // namespace segfold::test
