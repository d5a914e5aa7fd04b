#pragma once
// Partial results of groups in any order: a state for each group, joined by `+` in the order of the parts.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsl/evaluation/evaluator.h"
#include "runtime/data/workload.h"
#include "runtime/scale/segment_cursor.h"

namespace segfold {

/// Facts that the partials of one fold by groups share.
struct GroupJoining {
    /// `marks` is the type of the numbers or keys of groups. Throws InputError for numbers that are no
    /// integers, and for a negative number of groups.
    GroupJoining(const Operator& op, const StreamGroups& groups, Type marks);

    Operator op;
    StreamGroups groups;
    Type marks;
    Bytecode bytecode;
    /// A text that identifies the operator, and how elements name their groups.
    std::string fingerprint;
};

/// Results of all groups.
struct GroupResults {
    Results results;  ///< an array for each result field, and the keys if elements have keys
    std::vector<std::int64_t> lengths;  ///< number of elements of each group
    std::vector<std::size_t> places;    ///< for each group of the partial: its place among the results
};

/// The fold of a part of the elements, cut anywhere: a state for each group that has elements in the part.
///
/// A group is known by its mark: its number, or the bits of its key. `a += b` makes the partial of both
/// parts; `a` is the earlier part.
class GroupPartial {
public:
    using Value = Slot<double>;

    /// Makes the partial of no elements. Throws InputError if memory does not suffice for the number of
    /// groups.
    explicit GroupPartial(std::shared_ptr<const GroupJoining> joining);

    [[nodiscard]] std::size_t num_groups() const { return lengths_.size(); }
    /// The number of a group's elements in this part.
    [[nodiscard]] std::int64_t length(std::size_t group) const { return lengths_[group]; }
    /// The state of a group's elements, which must not be none.
    [[nodiscard]] const Value* state(std::size_t group) const { return &states_[group * num_fields()]; }
    /// The number of elements of the longest group.
    [[nodiscard]] std::int64_t longest() const { return longest_; }
    [[nodiscard]] std::uint64_t mark(std::size_t group) const { return has_keys() ? keys_[group] : group; }
    /// Returns the group of a mark; none if this part has no such group.
    [[nodiscard]] std::optional<std::size_t> find(std::uint64_t mark) const;
    /// Returns the group of a mark, and adds the group if it is new. Throws InputError if memory does not
    /// suffice for it.
    std::size_t add(std::uint64_t mark);

    /// Adds later elements of a group; if `in_front` is true, earlier ones. `state` is their state.
    void join(std::size_t group, std::int64_t length, const Value* state, bool in_front = false);
    /// Adds a later part; if `in_front` is true, an earlier one.
    void join(const GroupPartial& other, bool in_front);
    GroupPartial& operator+=(const GroupPartial& later)
    {
        join(later, false);
        return *this;
    }

    /// Returns the results of all groups, in the order of their numbers or keys. Throws InputError for a
    /// group without elements if the operator has no result for it.
    [[nodiscard]] GroupResults results() const;

    /// Returns the partial as bytes, for another process: 48 bytes, 8 + 8 F for each group with a state of F
    /// fields, and 8 for its key.
    [[nodiscard]] std::vector<std::byte> to_bytes() const;
    /// Throws InputError for damaged bytes, and for bytes of another fold.
    [[nodiscard]] static GroupPartial from_bytes(std::shared_ptr<const GroupJoining> joining,
                                                 std::span<const std::byte> bytes);

private:
    [[nodiscard]] std::size_t num_fields() const { return joining_->op.state.size(); }
    [[nodiscard]] bool has_keys() const { return joining_->groups.order.has_value(); }
    void grow_to(std::size_t num_groups);
    [[nodiscard]] std::vector<std::size_t> places_of_keys(Array& sorted) const;

    std::shared_ptr<const GroupJoining> joining_;
    std::size_t checked_ = std::size_t{1} << 20;  ///< memory suffices for so many groups
    std::vector<std::int64_t> lengths_;
    std::int64_t longest_ = 0;
    std::vector<Value> states_;        ///< [groups][fields]; undefined for a group without elements
    std::vector<std::uint64_t> keys_;  ///< bits of each group's key, in the order in which they first stand
    std::unordered_map<std::uint64_t, std::size_t> groups_of_keys_;
    std::unique_ptr<Evaluator<double>> evaluator_;  ///< null until the first combination
};

}  // namespace segfold
