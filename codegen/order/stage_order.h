#pragma once
// The order in which stages are tried, grown from measured rows by kernels/ranks/grow.py.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/weave/formula_names.h"

namespace segfold {

/// The facts of operators and machines that measured rows have, by their names in problem_facts(). `true` for
/// those that the order asks as logarithms.
constexpr std::array<std::pair<std::string_view, bool>, 14> kRowFacts = {{{"element_bytes", true},
                                                                          {"state_bytes", true},
                                                                          {"combine_cost", true},
                                                                          {"commutative", false},
                                                                          {"gathers", false},
                                                                          {"map", false},
                                                                          {"row_bytes", true},
                                                                          {"gathers_rows", false},
                                                                          {"calls_library", false},
                                                                          {"mixed_fields", false},
                                                                          {"many_fields", false},
                                                                          {"wide_vectors", false},
                                                                          {"element_cost", true},
                                                                          {"result_bytes", true}}};

/// What the order asks, one number for each of FACTS in kernels/ranks/grow.py.
using OrderFacts = std::array<int, 28>;

/// Returns `facts` as those of segments by offsets, which a kernel makes of flags and keys.
OrderFacts as_offsets(OrderFacts facts);

/// Returns what the order asks of plan_facts(). Unknown sizes count as 2^24 elements in segments of 64, rows
/// of unknown length as 64 features.
OrderFacts order_facts(const FormulaNames& plan_facts);

/// Expects which share of the best other stage's rate each stage reaches.
///
/// A stage has boosted trees. A tree asks whole numbers, so that nothing rounds and every machine decides
/// alike. Source: Friedman 2001, Greedy Function Approximation: A Gradient Boosting Machine.
class StageOrder {
public:
    /// The order in kernels/ranks/order.txt, which is part of the program.
    static const StageOrder& standard();

    /// Reads the text that grow.py writes. Throws SpecError that names the line.
    explicit StageOrder(std::string_view text);

    /// Returns the share of the best other stage's rate that `stage` is expected to reach; above 1 it is
    /// itself the best. None if no row has the stage, the form of segments, and features or none; write-back
    /// that no row has counts as a fold.
    [[nodiscard]] std::optional<double> expected_share(std::string_view stage, const OrderFacts& facts) const;

    /// Returns the measured workload that is nearest to `facts`, with the shares of its three best stages:
    /// "sum_f32 offsets, 1048576 elements in 3000 segments, NVIDIA H200: lean_stream 1.00, warp_stream 0.97".
    /// Empty if no workload of that kind was measured.
    /// Only workloads whose best stage `has` knows count.
    [[nodiscard]] std::string_view nearest(const OrderFacts& facts,
                                           const std::function<bool(std::string_view stage)>& has) const;

    /// How many measured rows each device has, by its name.
    [[nodiscard]] const std::map<std::string, int>& rows() const { return rows_; }

private:
    /// A question, or a leaf. The branch for numbers up to `number` stands behind the question.
    struct Node {
        std::int16_t fact;    ///< -1: a leaf
        std::int16_t number;  ///< of a leaf: thousandths of a logarithm
        std::int32_t above;   ///< the branch for greater numbers
    };
    struct Trees {
        int base = 0;        ///< thousandths of the logarithm of the mean share
        unsigned kinds = 0;  ///< a bit for each kind of work that rows have
        std::vector<std::int32_t> roots;
    };

    void add_tree(std::string_view line, int line_number, Trees& trees);

    /// A measured workload.
    struct Sample {
        OrderFacts facts;
        std::string text;
        std::string best;  ///< its best stage
    };

    std::map<std::string, int> rows_;
    std::vector<Sample> samples_;
    std::vector<Node> nodes_;
    std::map<std::string, Trees, std::less<>> stages_;
};

}  // namespace segfold
