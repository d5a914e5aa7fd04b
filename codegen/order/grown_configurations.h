#pragma once
// Which configuration a stage has if nobody chooses one, grown from measured rows by
// kernels/ranks/configure.py.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/stage_order.h"

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
    /// A question, or a leaf. The branch for numbers up to `number` stands behind the question.
    struct Node {
        std::int16_t fact;    ///< -1: a leaf
        std::int16_t number;  ///< of a leaf: the place of its configuration
        std::uint16_t above;  ///< the branch for greater numbers
    };
    struct Grown {
        std::vector<Node> tree;
        std::vector<std::map<std::string, int>> configurations;
    };

    static void read_branch(std::string_view& text, int line, Grown& grown);

    std::map<std::string, Grown, std::less<>> stages_;
};

}  // namespace segfold
