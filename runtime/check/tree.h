#pragma once
// Finds out in which tree (association order) a plan combines a segment's elements, and what changes this
// tree.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// A change to the input or the device that may alter a segment's tree.
enum class TreeCause : std::uint8_t {
    neighbours,  ///< the segments before and after have other lengths
    alignment,   ///< arrays begin one element after an aligned address
    size,        ///< more segments follow in the data
    device,      ///< the device has another number of multiprocessors
};

/// Names of causes, in the order of TreeCause.
inline constexpr std::array<std::string_view, 4> kTreeCauses = {"neighbours", "alignment", "size", "device"};

/// The trees in which a stage combines segments of one form.
struct TreeRow {
    std::string stage;
    SegmentForm form = SegmentForm::offsets;
    Configuration configuration;
    /// Number of segments whose tree changed, for each cause; nothing if the form does not allow this change.
    std::array<std::optional<std::int64_t>, kTreeCauses.size()> changed;
    /// Number of the tree, counted from 0. Rows of one form with the same number have the same tree.
    int tree = 0;
    std::string fault;  ///< fault that simt found; the results are then not set
};

/// The stages and plans to examine.
struct TreeRequest {
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    bool is_reproducible = false;  ///< examines the plans of --reproducible
    std::uint64_t seed = 7;
};

/// Returns an operator that hashes the tree, with the columns and laws of `op`. Equal trees give equal
/// results; different trees give equal results with probability 2^-64, because the operator is neither
/// associative nor commutative. Its identity is neutral.
[[nodiscard]] Operator bracket_operator(const Operator& op);

/// Runs the plans of `op` on simt, with bracket_operator() instead of `op`. Compares the results of equal
/// segments of many lengths. Leaves out stages that cannot serve the operator.
[[nodiscard]] std::vector<TreeRow> compare_trees(
    const Operator& op, const TreeRequest& request,
    const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
