#pragma once
// The order in which stages are tried. kernels/ranks/grow.py derives it from measured rows.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/grown_text.h"

namespace segfold {

/// Predicts the rate of each stage as a share of the rate of the best other stage.
///
/// Each stage has boosted decision trees. Source: Friedman 2001, Greedy Function Approximation: A Gradient
/// Boosting Machine.
class StageOrder {
public:
    /// The order in kernels/ranks/order.txt, which is part of the program.
    static const StageOrder& standard();

    /// Reads a text that grow.py wrote. Throws SpecError, whose message names the line.
    explicit StageOrder(std::string_view text);

    /// Returns the predicted rate of `stage` as a share of the best other stage's rate. Above 1, `stage`
    /// itself is the best. Returns none if no row has the stage with this form of segments, and with or
    /// without features as in `facts`. If no row has the stage with write-back, predicts the rate of its
    /// fold.
    [[nodiscard]] std::optional<double> expected_share(std::string_view stage, const OrderFacts& facts) const;

    /// Returns the measured workload nearest to `facts` with the shares of its three best stages, such as
    /// "sum_f32 offsets, 1048576 elements in 3000 segments, NVIDIA H200: lean_stream 1.00, warp_stream 0.97".
    /// Considers only workloads whose best stage satisfies `has`. Empty if no workload of this kind was
    /// measured.
    [[nodiscard]] std::string_view nearest(const OrderFacts& facts,
                                           const std::function<bool(std::string_view stage)>& has) const;

    /// Number of measured rows of each device, by the device's name.
    [[nodiscard]] const std::map<std::string, int>& rows() const { return rows_; }

private:
    struct Trees {
        int base = 0;                     ///< logarithm of the mean share, in thousandths
        unsigned kinds = 0;               ///< one bit for each kind of work that rows have
        std::vector<std::size_t> places;  ///< indices in `trees_`; a leaf is a logarithm in thousandths
    };

    /// A measured workload.
    struct Sample {
        OrderFacts facts;
        std::string text;
        std::string best;  ///< best stage of the workload
    };

    std::map<std::string, int> rows_;
    std::vector<Sample> samples_;
    DecisionTrees trees_;
    std::map<std::string, Trees, std::less<>> stages_;
};

}  // namespace segfold
