#pragma once
// Runs the cases of the stages that have a mutant, until one of them tells it from the text as it is.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/mutants/rules.h"

namespace segfold::test {

enum class Verdict {
    killed,      ///< a result differs, a check of the executor speaks, or nothing ends
    survived,    ///< all cases agree
    equivalent,  ///< operands swapped where combine() commutes
    unreached,   ///< no case has the changed line in its text
    broken,      ///< does not compile
    unfinished   ///< time ran out
};

/// "killed", "survived", ...
std::string name(Verdict verdict);
/// Throws InputError for a word that is none.
Verdict verdict_from(const std::string& word);

/// What came of one mutant.
struct Outcome {
    Verdict verdict = Verdict::unfinished;
    int level = 0;       ///< up to which level cases were run
    std::string detail;  ///< the case that killed it and how, else how many cases were run
    double seconds = 0;
};

/// How mutants are tried.
struct TrialOptions {
    int level = 2;           ///< of MutantCase: the highest that is run
    int jobs = 2;            ///< processes at a time
    double seconds = 300;    ///< wall time that one mutant may take
    double run_seconds = 2;  ///< processor time of one run, after which it is taken to hang
    int optimisation = 1;    ///< of the executor's compiler
    /// Instead of the cases what `segfold check --stage STAGE` does, without an operator and other flags.
    bool by_check = false;
};

/// Files of stages and parts, below kernels/, sorted.
std::vector<std::string> mutated_files();
/// The text of such a file. Throws InputError for any other.
std::string text_of(const std::string& file);

/// Tries every mutant in a process of its own; `report` hears of each as it ends.
void try_mutants(std::span<const Mutant> mutants, const TrialOptions& options,
                 const std::function<void(const Mutant&, const Outcome&)>& report);

/// Runs all cases of a stage on the text as it is: what went wrong, nothing where all agree.
std::vector<std::string> try_unchanged(const std::string& stage, const TrialOptions& options);

}  // namespace segfold::test
