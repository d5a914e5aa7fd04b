#pragma once
// Folds groups whose elements are read part by part. Keeps one state for each group.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/array_view.h"
#include "runtime/data/workload.h"
#include "runtime/scale/segment_cursor.h"
#include "runtime/scale/slices/slice_operators.h"
#include "runtime/session/folded.h"
#include "runtime/session/segments_view.h"

namespace segfold {

/// Results of all groups.
struct GroupResults {
    Results results;  ///< an array for each result field, and the keys if elements have keys
    std::vector<std::int64_t> lengths;  ///< number of elements of each group
};

/// The states of groups over all parts so far. Elements of a group are combined in their order.
class GroupTotals {
public:
    /// Folds the elements of one part. Every group of `segments` has an element.
    using FoldPart = std::function<Folded(const Operator& op, std::span<const ArrayView> inputs,
                                          const SegmentsView& segments)>;

    /// `marks` is the type of the group numbers or keys. Throws InputError if group numbers are no integers,
    /// or if the operator cannot be folded part by part.
    GroupTotals(const Operator& op, const StreamGroups& groups, Type marks, FoldPart fold_part);
    GroupTotals(const GroupTotals&) = delete;
    GroupTotals& operator=(const GroupTotals&) = delete;

    /// Folds the next part, whose first element is element `first_element` of the whole input.
    ///
    ///   columns  the part of each column, and whole tables
    ///   marks    the group number or the key of each element
    ///
    /// Throws InputError for a group number that is too large; the message counts elements from the part's
    /// begin.
    void add(std::span<const Array> columns, const Array& marks, std::int64_t first_element);

    /// The number of elements of the longest group so far.
    [[nodiscard]] std::int64_t longest() const;
    /// Returns the results of all groups. Throws InputError for a group without elements if the operator has
    /// no result for it.
    [[nodiscard]] GroupResults results();

    /// The operator that folds the groups.
    [[nodiscard]] const Operator& op() const { return op_; }
    /// Folded::plan() of the last part.
    [[nodiscard]] const std::string& plan() const { return plan_; }
    /// The warnings of all parts, each once.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    /// A text that identifies the operator and the way in which elements name their groups.
    [[nodiscard]] std::string fingerprint() const;
    /// Returns the totals as bytes, so that another stream can continue from them. They are 48 bytes, 8 + 8 F
    /// for each group with a state of F fields, and 8 for each key.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// Replaces the totals. Throws InputError for damaged bytes, and for bytes of another operator or other
    /// groups.
    void from_bytes(std::span<const std::byte> bytes);

private:
    using Value = Slot<double>;
    /// The groups that have elements in a part.
    struct PartGroups {
        Array numbers;                      ///< for each element the index in `groups`; -1: no group
        std::vector<std::int64_t> groups;   ///< index of each group in the totals
        std::vector<std::int64_t> lengths;  ///< elements of each group in the part
    };

    [[nodiscard]] PartGroups groups_of(const Array& marks);
    [[nodiscard]] PartGroups groups_by_number(const Array& numbers);
    [[nodiscard]] PartGroups groups_by_key(const Array& keys);
    void grow_to(std::size_t num_groups);
    void join(const PartGroups& part, const Results& states);

    Operator op_;
    StreamGroups groups_;
    Type marks_;
    FoldPart fold_part_;
    PartOperator part_;
    Bytecode bytecode_;
    Evaluator<double> evaluator_;
    std::size_t checked_ = std::size_t{1} << 20;  ///< number of groups for which memory is known to suffice
    std::vector<std::int64_t> lengths_;           ///< elements of each group so far
    std::vector<Value> states_;         ///< [groups][fields]; undefined for a group without elements
    std::vector<std::int32_t> places_;  ///< [group numbers]: index in the current part; -1: none
    std::vector<std::uint64_t> keys_;   ///< bits of each group's key, in the order of first occurrence
    std::unordered_map<std::uint64_t, std::int64_t> groups_of_keys_;
    std::string plan_;
    std::vector<std::string> warnings_;
};

}  // namespace segfold
