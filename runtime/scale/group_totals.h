#pragma once
// Folds groups whose elements are read part after part: a state for each group.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"
#include "runtime/scale/group_partial.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/session/folded.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// One pass over all elements.
enum class GroupPass : std::uint8_t {
    lengths,  ///< counts the elements of groups
    states,   ///< folds groups
    /// Gives the outputs of elements: running results, which need the states of the elements before, and
    /// write-back, which needs results(). Also folds groups if the operator has a scan.
    outputs,
};

/// Folds elements of groups, part after part. Elements of a group are folded in their order.
///
/// Write-back takes a pass `states` before the pass `outputs`. A scan from the end takes the last part first.
/// It needs a pass before if the operator reads `position`.
class GroupTotals {
public:
    /// Folds the elements of a part by the groups of `segments`, none of which is empty.
    using FoldPart = std::function<Folded(const Operator& op, std::span<const ArrayView> inputs,
                                          const SegmentsView& segments)>;

    /// Throws InputError for numbers of groups that are no integers, and for an operator that cannot be
    /// folded part after part.
    GroupTotals(const Operator& op, const StreamGroups& groups, Type marks, FoldPart fold_part);
    GroupTotals(const GroupTotals&) = delete;
    GroupTotals& operator=(const GroupTotals&) = delete;

    /// The operator whose groups these are.
    [[nodiscard]] const Operator& op() const { return joining_->op; }
    [[nodiscard]] const std::shared_ptr<const GroupJoining>& joining() const { return joining_; }
    /// What GroupPass::lengths counts.
    [[nodiscard]] const std::shared_ptr<const GroupJoining>& joining_of_lengths() const { return counting_; }
    [[nodiscard]] bool reads_positions() const { return reads_positions_; }
    /// True if the operator gives outputs from results of groups.
    [[nodiscard]] bool reads_results() const { return joining_->op.map.has_value(); }
    /// True if the pass `outputs` takes the last part first.
    [[nodiscard]] bool scans_from_end() const { return op().scan && op().scan->reverse; }
    [[nodiscard]] bool is_from_end() const { return pass_ == GroupPass::outputs && scans_from_end(); }

    /// Begins a pass with no elements.
    void begin(GroupPass pass);
    /// Goes on from the fold of the elements to which the pass comes before those of add().
    void go_on_from(GroupPartial&& before) { sum_ = std::move(before); }
    /// Sets where elements stand in their groups. `before` counts the elements before those of add() and of
    /// go_on_from(); for a pass from the end it counts all elements.
    void set_positions(std::shared_ptr<const GroupPartial> before) { before_ = std::move(before); }
    /// Sets the folds of all groups, whose results write-back reads.
    void set_totals(std::shared_ptr<const GroupPartial> all);
    [[nodiscard]] const std::shared_ptr<const GroupPartial>& totals() const { return all_; }

    /// Folds the next elements of the pass, of which the first is `first_element` of the whole input.
    ///
    ///   columns  the part of each column, and whole tables
    ///   marks    the number or the key of each element's group
    ///
    /// Returns the outputs of the elements in the pass `outputs`, else nothing. Throws InputError for a
    /// number that no group has; the message counts elements from the part's begin.
    Results add(std::span<const Array> columns, const Array& marks, std::int64_t first_element);

    /// The fold of the elements of this pass, and of those of go_on_from().
    [[nodiscard]] const GroupPartial& sum() const { return sum_; }
    [[nodiscard]] GroupPartial take_sum() { return std::move(sum_); }
    /// Returns the results of all groups: those that the operator returns. Throws InputError for a group
    /// without elements if the operator has no result for it.
    [[nodiscard]] GroupResults results();

    /// The text of Folded::plan() of the last part.
    [[nodiscard]] const std::string& plan() const { return plan_; }
    /// Doubts that the folds of parts have told; each stands here once.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    /// The groups that have elements in a part.
    struct PartGroups {
        Array numbers;                      ///< number of each element's group among `marks`; -1: no group
        std::vector<std::uint64_t> marks;   ///< mark of each group
        std::vector<std::int64_t> lengths;  ///< elements of each group in the part
        std::vector<std::size_t> groups;    ///< place of each group in the sum
    };

    [[nodiscard]] PartGroups groups_of(const Array& marks);
    void number(PartGroups& part, const Array& numbers);
    [[nodiscard]] std::vector<Array> bases_of(const PartOperator& folded, const PartGroups& part,
                                              std::int64_t first_element) const;
    [[nodiscard]] std::int64_t position_of(const PartGroups& part, std::size_t group) const;
    [[nodiscard]] std::size_t place_of(std::uint64_t mark) const;
    /// Adds a part to the sum. `states` begins with the states of its groups; null if lengths suffice.
    void join(const PartGroups& part, const Results* states);
    void keep_news(const Folded& folded);

    std::shared_ptr<const GroupJoining> joining_, counting_;
    FoldPart fold_part_;
    PartOperator states_;
    std::optional<PartOperator> outputs_;  ///< empty without outputs
    bool reads_positions_;
    GroupPass pass_ = GroupPass::states;
    GroupPartial sum_;
    std::shared_ptr<const GroupPartial> before_;  ///< see set_positions(); null if it is nothing
    std::shared_ptr<const GroupPartial> all_;     ///< see set_totals()
    GroupResults all_results_;                    ///< those of `all_`, with results that are not returned
    std::vector<std::int32_t> places_;            ///< of each number: its place in the part at hand, or -1
    std::string plan_;
    std::vector<std::string> warnings_;
};

}  // namespace segfold
