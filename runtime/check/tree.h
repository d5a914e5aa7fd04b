#pragma once
// The tree in which a plan combines the elements of a segment, and the causes that change it.
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/catalogue.h"

namespace segfold::regress {

/// A cause that may change the tree.
enum class TreeCause : std::uint8_t {
    neighbours,  ///< other segments before and behind, of other lengths
    alignment,   ///< arrays that begin an element behind an aligned address
    size,        ///< more segments behind
    device,      ///< another number of multiprocessors
};

/// In the order of TreeCause.
inline constexpr std::array<std::string_view, 4> kTreeCauses = {"neighbours", "alignment", "size", "device"};

/// How a stage combines over one form of segments.
struct TreeRow {
    std::string stage;
    SegmentForm form = SegmentForm::offsets;
    Configuration configuration;
    /// Segments with another tree, by cause; nothing if a form knows no such change.
    std::array<std::optional<std::int64_t>, kTreeCauses.size()> changed;
    int tree = 0;       ///< rows of one form and one number have the same trees; numbers begin at 0
    std::string fault;  ///< fault that simt found; the other members are then unset
};

/// The plan to look at.
struct TreeRequest {
    std::vector<const Stage*> stages;
    const Catalogue& catalogue;
    bool is_reproducible = false;  ///< the plans of --reproducible
    std::uint64_t seed = 7;
};

/// A hash that is neither associative nor commutative, over the columns of `op`, with its laws: results are
/// equal where trees are, and else but by chance of 2^-64. Its identity is neutral.
[[nodiscard]] Operator bracket_operator(const Operator& op);

/// Runs the plans of `op` with bracket_operator() instead, on simt, and compares the results of the same
/// segments of many lengths. Stages that cannot serve the operator are left out.
[[nodiscard]] std::vector<TreeRow> compare_trees(
    const Operator& op, const TreeRequest& request,
    const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
