#pragma once
// Which configuration a stage has if nobody chooses one, grown from measured rows by
// kernels/ranks/configure.py.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/grown_text.h"

namespace segfold {

/// For each stage that rows have measured a decision tree, whose leaves are configurations.
class GrownConfigurations {
public:
    /// Those in kernels/ranks/configurations.txt, which is part of the program.
    static const GrownConfigurations& standard();

    /// Reads the text that configure.py writes. Throws SpecError that names the line.
    explicit GrownConfigurations(std::string_view text);

    /// Returns the values of a stage's tunables for a workload with these plan_facts(); none without facts,
    /// or for a stage that no row has. The workload need not allow them; see nearest_configuration().
    [[nodiscard]] const std::map<std::string, int>& of(std::string_view stage,
                                                       const FormulaNames& plan_facts) const;

private:
    struct Grown {
        DecisionTrees tree;  ///< a leaf has the place of its configuration
        std::vector<std::map<std::string, int>> configurations;
    };

    std::map<std::string, Grown, std::less<>> stages_;
};

}  // namespace segfold
