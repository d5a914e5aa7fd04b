#pragma once
// Changes of a kernel's text, one place at a time, made by rule.
#include <string>
#include <vector>

namespace segfold::test {

/// A change of one place of a stage or part.
struct Mutant {
    std::string file;  ///< below kernels/
    int line = 0;      ///< of the change, from 1
    std::string rule;
    std::string before, after;  ///< the changed lines without comments, spaces squeezed
    /// From 1, among those of the file that are equal in rule, before and after.
    int number = 1;
    std::size_t offset = 0, length = 0;  ///< what is replaced
    std::string replacement;
};

/// "parts/reduce/run.cuh:12 swap: combine(a, b) => combine(b, a)"
std::string print(const Mutant& mutant);

/// What tells a mutant from all others of all files, whatever stands around the changed lines.
std::string identity_of(const Mutant& mutant);

/// All changes that the rules make of a file's text, in the order of their places.
std::vector<Mutant> mutants_of(const std::string& file, const std::string& text);

/// The text with the change.
std::string mutated(std::string text, const Mutant& mutant);

}  // namespace segfold::test
