#pragma once
// The order in which stages are tried, grown from measured rows by kernels/ranks/grow.py.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/grown_text.h"

namespace segfold {

/// Expects which share of the best other stage's rate each stage reaches.
///
/// A stage has boosted trees. Source: Friedman 2001, Greedy Function Approximation: A Gradient Boosting
/// Machine.
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
    struct Trees {
        int base = 0;                     ///< thousandths of the logarithm of the mean share
        unsigned kinds = 0;               ///< a bit for each kind of work that rows have
        std::vector<std::size_t> places;  ///< in `trees_`; a leaf has thousandths of a logarithm
    };

    /// A measured workload.
    struct Sample {
        OrderFacts facts;
        std::string text;
        std::string best;  ///< its best stage
    };

    std::map<std::string, int> rows_;
    std::vector<Sample> samples_;
    DecisionTrees trees_;
    std::map<std::string, Trees, std::less<>> stages_;
};

}  // namespace segfold
