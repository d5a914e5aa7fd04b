#include "runtime/scale/group_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/data/groups.h"
#include "runtime/data/key_order.h"
#include "runtime/scale/serialized.h"
#include "runtime/support/processes/memory_at_hand.h"
#include "runtime/support/text_table.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

/// The header of the totals' bytes.
struct TotalsHeading {
    std::array<char, 8> mark = {'S', 'F', 'G', 'R', 'O', 'U', 'P', '1'};
    std::uint64_t identity = 0;  ///< hash of the operator and of the way in which elements name groups
    std::uint64_t checksum = 0;
    std::int64_t num_groups = 0, num_fields = 0, num_keys = 0;
};
static_assert(sizeof(TotalsHeading) == 48);

}  // namespace

GroupTotals::GroupTotals(const Operator& op, const StreamGroups& groups, Type marks, FoldPart fold_part)
    : op_(op),
      groups_(groups),
      marks_(marks),
      fold_part_(std::move(fold_part)),
      part_(piece_operator(op)),
      bytecode_(compile_bytecode(op)),
      evaluator_(bytecode_)
{
    if (op.scan)
        throw InputError(
            fmt::format("operator {} gives running results, and a stream has no memory for those of groups; "
                        "fold it in one "
                        "piece",
                        op.name));
    if (groups.order && std::ranges::count(part_.bases, BaseTable::segment) != 0)
        throw InputError(
            fmt::format("operator {} lifts the number of a segment, and keys are numbered once all are read; "
                        "fold it in one "
                        "piece",
                        op.name));
    if (!groups.order && !is_integer(marks))
        throw InputError(fmt::format("the numbers of groups are {}; they are integers", name(marks)));
    if (groups.num_groups) {
        if (*groups.num_groups < 0)
            throw InputError(fmt::format("the number of groups is {}; it is 0 or more", *groups.num_groups));
        grow_to(static_cast<std::size_t>(*groups.num_groups));
    }
}

void GroupTotals::grow_to(std::size_t num_groups)
{
    const auto num_fields = op_.state.size();
    if (num_groups > checked_) {          // checking is slow, so it is done seldom
        constexpr std::size_t kKey = 64;  // bytes of a key in the list and in the hash table
        const auto bytes = 16 + 8 * num_fields + (groups_.order ? kKey : 0);
        require_memory(static_cast<double>(num_groups) * static_cast<double>(bytes),
                       "states of " + count_text(static_cast<std::int64_t>(num_groups), "group"));
        checked_ = 2 * num_groups;
    }
    lengths_.resize(num_groups);
    states_.resize(num_groups * num_fields);
    if (!groups_.order)
        places_.resize(num_groups, -1);
}

std::int64_t GroupTotals::longest() const { return lengths_.empty() ? 0 : std::ranges::max(lengths_); }

GroupTotals::PartGroups GroupTotals::groups_of(const Array& marks)
{
    return groups_.order ? groups_by_key(marks) : groups_by_number(marks);
}

GroupTotals::PartGroups GroupTotals::groups_by_number(const Array& marks)
{
    PartGroups part{Array(Type::i32, marks.length()), {}, {}};
    const auto numbers = part.numbers.as<std::int32_t>();
    visit_integers(marks, [&]<class Number>(std::span<const Number> given) {
        for (std::size_t i = 0; i < given.size(); ++i) {
            const auto number = given[i];
            if (std::cmp_less(number, 0)) {
                numbers[i] = -1;
                continue;
            }
            const auto most = groups_.num_groups.value_or(std::numeric_limits<std::int64_t>::max());
            if (std::cmp_greater_equal(number, most))
                refuse_group(static_cast<std::int64_t>(i), fmt::format("{}", number), most);
            const auto group = static_cast<std::size_t>(number);
            if (group >= lengths_.size())
                grow_to(group + 1);
            auto& place = places_[group];
            if (place < 0) {
                place = static_cast<std::int32_t>(part.groups.size());
                part.groups.push_back(static_cast<std::int64_t>(group));
                part.lengths.push_back(0);
            }
            numbers[i] = place;
            ++part.lengths[static_cast<std::size_t>(place)];
        }
    });
    for (const auto group : part.groups)
        places_[static_cast<std::size_t>(group)] = -1;
    return part;
}

GroupTotals::PartGroups GroupTotals::groups_by_key(const Array& keys)
{
    auto [numbers, firsts] = number_keys({&keys, 1}, KeyOrder::first);
    const auto width = size_bytes(keys.type());
    const auto distinct = chosen_from(keys, firsts);
    PartGroups part{std::move(numbers), {}, std::vector<std::int64_t>(distinct.length())};
    for (std::size_t k = 0; k < distinct.length(); ++k) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, distinct.data() + k * width, width);
        const auto [found, is_new] = groups_of_keys_.try_emplace(bits, std::ssize(keys_));
        if (is_new)
            keys_.push_back(bits);
        part.groups.push_back(found->second);
    }
    grow_to(keys_.size());
    visit_integers(part.numbers, [&](auto each) {
        for (const auto number : each)
            ++part.lengths[static_cast<std::size_t>(number)];
    });
    return part;
}

void GroupTotals::add(std::span<const Array> columns, const Array& marks, std::int64_t first_element)
{
    const auto part = groups_of(marks);
    if (part.groups.empty())
        return;
    std::vector<ArrayView> inputs;
    for (std::size_t i = 0; i < op_.parameters.size(); ++i)
        inputs.push_back(view_of(columns[i]));
    std::vector<std::int64_t> positions;  // position in its group of each group's first element in the part
    for (const auto group : part.groups)
        positions.push_back(lengths_[static_cast<std::size_t>(group)]);
    const std::array first = {first_element};
    for (const auto base : part_.bases)
        inputs.emplace_back(base == BaseTable::index     ? ArrayView(first)
                            : base == BaseTable::segment ? ArrayView(part.groups)
                                                         : ArrayView(positions));
    const auto folded = fold_part_(part_.op, inputs, groups(view_of(part.numbers), std::ssize(part.groups)));
    plan_ = folded.plan();
    for (const auto& warning : folded.warnings())
        if (std::ranges::count(warnings_, warning) == 0)
            warnings_.push_back(warning);
    join(part, folded.results());
}

void GroupTotals::join(const PartGroups& part, const Results& states)
{
    const auto num_fields = op_.state.size();
    std::vector<Value> later(num_fields);
    for (std::size_t p = 0; p < part.groups.size(); ++p) {
        const auto group = static_cast<std::size_t>(part.groups[p]);
        auto* const total = &states_[group * num_fields];
        const bool is_first = lengths_[group] == 0;
        auto* const into = is_first ? total : later.data();
        for (std::size_t f = 0; f < num_fields; ++f)
            Machine<double>::load(into[f], states[f].array.type(), states[f].array.data(),
                                  static_cast<std::int64_t>(p));
        if (!is_first)
            evaluator_.combine(total, later.data(), total);
        lengths_[group] += part.lengths[p];
    }
}

GroupResults GroupTotals::results()
{
    const auto num_groups = lengths_.size();
    std::vector<std::size_t> places(num_groups);  // index of each group in the results
    for (std::size_t g = 0; g < num_groups; ++g)
        places[g] = g;
    GroupResults all;
    all.lengths.resize(num_groups);
    if (groups_.order) {
        const auto width = size_bytes(marks_);
        Array keys(marks_, num_groups), sorted(marks_, num_groups);
        for (std::size_t g = 0; g < num_groups; ++g)
            std::memcpy(keys.data() + g * width, &keys_[g], width);
        const auto numbered = number_keys({&keys, 1}, *groups_.order);
        visit_integers(numbered.numbers, [&](auto numbers) { std::ranges::copy(numbers, places.begin()); });
        for (std::size_t g = 0; g < num_groups; ++g)
            std::memcpy(sorted.data() + places[g] * width, &keys_[g], width);
        all.results.keys = std::move(sorted);
    }
    const auto fields = op_.keeps_results ? op_.results : std::vector<ResultField>();
    for (const auto& field : fields)
        all.results.push_back({field.name, Array(field.type, num_groups)});
    std::vector<Value> state(op_.state.size()), result(fields.size());
    for (std::size_t g = 0; g < num_groups; ++g) {
        const auto place = places[g];
        const auto segment = static_cast<std::int64_t>(place);
        all.lengths[place] = lengths_[g];
        if (lengths_[g] != 0) {
            evaluator_.finish(&states_[g * state.size()], segment, lengths_[g], result.data());
        } else if (!op_.takes_empty_segments()) {
            throw InputError(fmt::format("segment {} is empty, and operator {} has no identity; {}", segment,
                                         op_.name, advice_on_empty_segments(op_)));
        } else if (op_.empty) {
            evaluator_.empty(segment, result.data());
        } else {
            evaluator_.identity(state.data());
            evaluator_.finish(state.data(), segment, 0, result.data());
        }
        for (std::size_t f = 0; f < fields.size(); ++f)
            Machine<double>::store(result[f], fields[f].type, all.results[f].array.data(), segment);
    }
    return all;
}

std::string GroupTotals::fingerprint() const
{
    return fmt::format("{}\n{} {}\n", print(op_), name(marks_),
                       groups_.order ? fmt::format("keys {}", static_cast<int>(*groups_.order))
                                     : fmt::format("groups {}", groups_.num_groups.value_or(-1)));
}

std::vector<std::byte> GroupTotals::to_bytes() const
{
    TotalsHeading heading;
    heading.identity = hash_of(fingerprint());
    heading.num_groups = std::ssize(lengths_);
    heading.num_fields = std::ssize(op_.state);
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
    const auto checksum = checksum_of(bytes, offsetof(TotalsHeading, checksum));
    std::memcpy(bytes.data() + offsetof(TotalsHeading, checksum), &checksum, sizeof checksum);
    return bytes;
}

void GroupTotals::from_bytes(std::span<const std::byte> bytes)
{
    const auto require = [](bool holds, const char* why) {
        if (!holds)
            throw InputError(fmt::format("the bytes of totals of groups are {}", why));
    };
    TotalsHeading heading;
    const auto mark = heading.mark;
    require(bytes.size() >= sizeof heading, "cut short");
    std::memcpy(&heading, bytes.data(), sizeof heading);
    require(heading.mark == mark, "of another program or version");
    require(checksum_of(bytes, offsetof(TotalsHeading, checksum)) == heading.checksum, "damaged");
    require(heading.identity == hash_of(fingerprint()), "of another operator or of other groups");
    const auto count = static_cast<std::size_t>(heading.num_groups);
    const auto width = op_.state.size();
    require(std::cmp_equal(heading.num_fields, width) &&
                heading.num_keys == (groups_.order ? heading.num_groups : 0) &&
                bytes.size() == sizeof heading + 8 * (count * (1 + width) + (groups_.order ? count : 0)),
            "damaged: they are not as many as they say");
    grow_to(count);
    keys_.resize(groups_.order ? count : 0);
    auto rest = bytes.subspan(sizeof heading);
    const auto take = [&](auto& into) {
        const auto size = std::as_bytes(std::span(into)).size();
        if (size != 0)
            std::memcpy(into.data(), rest.data(), size);
        rest = rest.subspan(size);
    };
    take(lengths_);
    take(states_);
    take(keys_);
    groups_of_keys_.clear();
    for (std::size_t g = 0; g < keys_.size(); ++g)
        groups_of_keys_.emplace(keys_[g], static_cast<std::int64_t>(g));
}

}  // namespace segfold
