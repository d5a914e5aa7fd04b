#pragma once
// Default configurations of stages. kernels/ranks/configure.py derives them from measured rows.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/grown_text.h"

namespace segfold {

/// One decision tree for each measured stage. The leaves of a tree are configurations.
class GrownConfigurations {
public:
    /// The configurations in kernels/ranks/configurations.txt, which is part of the program.
    static const GrownConfigurations& standard();

    /// Reads a text that configure.py wrote. Throws SpecError, whose message names the line.
    explicit GrownConfigurations(std::string_view text);

    /// Returns the values of a stage's tunables for a workload. Empty if `plan_facts` is empty or no row has
    /// the stage. The workload's conditions may exclude these values; see nearest_configuration().
    [[nodiscard]] const std::map<std::string, int>& of(std::string_view stage,
                                                       const FormulaNames& plan_facts) const;

private:
    struct Grown {
        DecisionTrees tree;  ///< leaves are indices of `configurations`
        std::vector<std::map<std::string, int>> configurations;
    };

    std::map<std::string, Grown, std::less<>> stages_;
};

}  // namespace segfold
