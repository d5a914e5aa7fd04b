#pragma once
// Finds the tree in which a plan combines a segment's elements, and what changes that tree.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// A change that may alter the tree.
enum class TreeCause : std::uint8_t {
    neighbours,  ///< segments before and after it have other lengths
    alignment,   ///< arrays begin one element after an aligned address
    size,        ///< more segments follow it in the data
    device,      ///< another number of multiprocessors
};

/// Names of causes, in the order of TreeCause.
inline constexpr std::array<std::string_view, 4> kTreeCauses = {"neighbours", "alignment", "size", "device"};

/// The trees in which a stage combines segments of one form.
struct TreeRow {
    std::string stage;
    SegmentForm form = SegmentForm::offsets;
    Configuration configuration;
    /// Number of segments whose tree changed, by cause; nothing if the form does not allow the change.
    std::array<std::optional<std::int64_t>, kTreeCauses.size()> changed;
    /// Number of the tree, from 0. Rows of one form with equal numbers share a tree.
    int tree = 0;
    std::string fault;  ///< a fault that simt found; then no result is set
};

/// The stages and plans to examine.
struct TreeRequest {
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    bool is_reproducible = false;  ///< examines the plans of --reproducible
    std::uint64_t seed = 7;
};

/// Returns a hash operator with the columns and laws of `op`. It is neither associative nor commutative, so
/// results are equal if trees are equal, and otherwise only with probability 2^-64. Its identity is neutral.
[[nodiscard]] Operator bracket_operator(const Operator& op);

/// Runs the plans of `op` on simt with bracket_operator() in its place, and compares the results of equal
/// segments of many lengths. Leaves out stages that cannot serve the operator.
[[nodiscard]] std::vector<TreeRow> compare_trees(
    const Operator& op, const TreeRequest& request,
    const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
