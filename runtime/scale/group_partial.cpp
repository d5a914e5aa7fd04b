#include "runtime/scale/group_partial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/data/groups.h"
#include "runtime/scale/serialized.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

/// The begin of a partial's bytes.
struct GroupHeading {
    std::array<char, 8> mark = {'S', 'F', 'G', 'R', 'O', 'U', 'P', '1'};
    std::uint64_t identity = 0;  ///< of the operator, and of numbers or keys
    std::uint64_t checksum = 0;
    std::int64_t num_groups = 0, num_fields = 0, num_keys = 0;
};
static_assert(sizeof(GroupHeading) == 48);

}  // namespace

GroupJoining::GroupJoining(const Operator& folded, const StreamGroups& given, Type type)
    : op(folded), groups(given), marks(type), bytecode(compile_bytecode(folded))
{
    if (!groups.order && !is_integer(marks))
        throw InputError(fmt::format("the numbers of groups are {}; they are integers", name(marks)));
    if (groups.num_groups && *groups.num_groups < 0)
        throw InputError(fmt::format("the number of groups is {}; it is 0 or more", *groups.num_groups));
    fingerprint = fmt::format("{}\n{} {}\n", print(op), name(marks),
                              groups.order ? fmt::format("keys {}", static_cast<int>(*groups.order))
                                           : fmt::format("groups {}", groups.num_groups.value_or(-1)));
}

GroupPartial::GroupPartial(std::shared_ptr<const GroupJoining> joining) : joining_(std::move(joining))
{
    grow_to(static_cast<std::size_t>(joining_->groups.num_groups.value_or(0)));
}

void GroupPartial::grow_to(std::size_t num_groups)
{
    if (num_groups > checked_) {          // the check is slow
        constexpr std::size_t kKey = 64;  // in the list and in the table of keys
        const auto bytes = 16 + 8 * num_fields() + (has_keys() ? kKey : 0);
        require_memory(static_cast<double>(num_groups) * static_cast<double>(bytes),
                       "states of " + count_text(static_cast<std::int64_t>(num_groups), "group"));
        checked_ = 2 * num_groups;
    }
    lengths_.resize(num_groups);
    states_.resize(num_groups * num_fields());
}

std::optional<std::size_t> GroupPartial::find(std::uint64_t mark) const
{
    if (!has_keys())
        return mark < num_groups() ? std::optional(static_cast<std::size_t>(mark)) : std::nullopt;
    const auto found = groups_of_keys_.find(mark);
    return found == groups_of_keys_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t GroupPartial::add(std::uint64_t mark)
{
    if (!has_keys()) {
        const auto group = static_cast<std::size_t>(mark);
        if (group >= num_groups())
            grow_to(group + 1);
        return group;
    }
    const auto [found, is_new] = groups_of_keys_.try_emplace(mark, keys_.size());
    if (is_new) {
        keys_.push_back(mark);
        grow_to(keys_.size());
    }
    return found->second;
}

void GroupPartial::join(std::size_t group, std::int64_t length, const Value* state, bool in_front)
{
    if (length == 0)
        return;
    auto* const own = &states_[group * num_fields()];
    longest_ = std::max(longest_, lengths_[group] + length);
    if (std::exchange(lengths_[group], lengths_[group] + length) == 0) {
        std::copy_n(state, num_fields(), own);
        return;
    }
    if (!evaluator_)
        evaluator_ = std::make_unique<Evaluator<double>>(joining_->bytecode);
    in_front ? evaluator_->combine(state, own, own) : evaluator_->combine(own, state, own);
}

void GroupPartial::join(const GroupPartial& other, bool in_front)
{
    for (std::size_t group = 0; group < other.num_groups(); ++group)
        join(add(other.mark(group)), other.length(group), other.state(group), in_front);
}

/// Returns for each group the place of its key among all keys, and writes the keys in this order.
std::vector<std::size_t> GroupPartial::places_of_keys(Array& sorted) const
{
    const auto width = size_bytes(joining_->marks);
    Array keys(joining_->marks, num_groups());
    sorted = Array(joining_->marks, num_groups());
    for (std::size_t g = 0; g < num_groups(); ++g)
        std::memcpy(keys.data() + g * width, &keys_[g], width);
    std::vector<std::size_t> places(num_groups());
    const auto numbered = number_keys({&keys, 1}, *joining_->groups.order);
    visit_integers(numbered.numbers, [&](auto numbers) { std::ranges::copy(numbers, places.begin()); });
    for (std::size_t g = 0; g < num_groups(); ++g)
        std::memcpy(sorted.data() + places[g] * width, &keys_[g], width);
    return places;
}

GroupResults GroupPartial::results() const
{
    const auto& op = joining_->op;
    GroupResults all;
    all.lengths.resize(num_groups());
    if (has_keys()) {
        Array sorted;
        all.places = places_of_keys(sorted);
        all.results.keys = std::move(sorted);
    } else {
        for (std::size_t g = 0; g < num_groups(); ++g)
            all.places.push_back(g);
    }
    for (const auto& field : op.results)
        all.results.push_back({field.name, Array(field.type, num_groups())});
    Evaluator<double> evaluator(joining_->bytecode);
    std::vector<Value> identity(num_fields()), result(op.results.size());
    for (std::size_t g = 0; g < num_groups(); ++g) {
        const auto segment = static_cast<std::int64_t>(all.places[g]);
        all.lengths[all.places[g]] = lengths_[g];
        if (lengths_[g] != 0) {
            evaluator.finish(state(g), segment, lengths_[g], result.data());
        } else if (!op.takes_empty_segments()) {
            throw InputError(fmt::format("segment {} is empty, and operator {} has no identity; {}", segment,
                                         op.name, advice_on_empty_segments(op)));
        } else if (op.empty) {
            evaluator.empty(segment, result.data());
        } else if (op.has_identity()) {
            evaluator.identity(identity.data());
            evaluator.finish(identity.data(), segment, 0, result.data());
        } else {
            continue;  // results that are not returned
        }
        for (std::size_t f = 0; f < op.results.size(); ++f)
            Machine<double>::store(result[f], op.results[f].type, all.results[f].array.data(), segment);
    }
    return all;
}

std::vector<std::byte> GroupPartial::to_bytes() const
{
    GroupHeading heading;
    heading.identity = hash_of(joining_->fingerprint);
    heading.num_groups = std::ssize(lengths_);
    heading.num_fields = std::ssize(joining_->op.state);
    heading.num_keys = std::ssize(keys_);
    std::vector<std::byte> bytes(sizeof heading);
    std::memcpy(bytes.data(), &heading, sizeof heading);
    const auto add = [&](const auto& values) {
        const auto more = std::as_bytes(std::span(values));
        bytes.insert(bytes.end(), more.begin(), more.end());
    };
    add(lengths_);
    add(states_);
    add(keys_);
    const auto checksum = checksum_of(bytes, offsetof(GroupHeading, checksum));
    std::memcpy(bytes.data() + offsetof(GroupHeading, checksum), &checksum, sizeof checksum);
    return bytes;
}

GroupPartial GroupPartial::from_bytes(std::shared_ptr<const GroupJoining> joining,
                                      std::span<const std::byte> bytes)
{
    const auto require = [](bool holds, const char* why) {
        if (!holds)
            throw InputError(fmt::format("the bytes of totals of groups are {}", why));
    };
    GroupHeading heading;
    const auto mark = heading.mark;
    require(bytes.size() >= sizeof heading, "cut short");
    std::memcpy(&heading, bytes.data(), sizeof heading);
    require(heading.mark == mark, "of another program or version");
    require(checksum_of(bytes, offsetof(GroupHeading, checksum)) == heading.checksum, "damaged");
    require(heading.identity == hash_of(joining->fingerprint), "of another operator or of other groups");
    GroupPartial all(std::move(joining));
    const auto count = static_cast<std::size_t>(heading.num_groups);
    const auto width = all.num_fields();
    require(std::cmp_equal(heading.num_fields, width) &&
                heading.num_keys == (all.has_keys() ? heading.num_groups : 0) &&
                bytes.size() == sizeof heading + 8 * (count * (1 + width) + (all.has_keys() ? count : 0)),
            "damaged: they are not as many as they say");
    all.grow_to(count);
    all.keys_.resize(all.has_keys() ? count : 0);
    auto rest = bytes.subspan(sizeof heading);
    const auto take = [&](auto& into) {
        const auto size = std::as_bytes(std::span(into)).size();
        if (size != 0)
            std::memcpy(into.data(), rest.data(), size);
        rest = rest.subspan(size);
    };
    take(all.lengths_);
    if (!all.lengths_.empty())
        all.longest_ = std::ranges::max(all.lengths_);
    take(all.states_);
    take(all.keys_);
    for (std::size_t g = 0; g < all.keys_.size(); ++g)
        all.groups_of_keys_.emplace(all.keys_[g], g);
    return all;
}

}  // namespace segfold
