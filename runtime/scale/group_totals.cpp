#include "runtime/scale/group_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "dsl/error.h"
#include "runtime/data/groups.h"
#include "runtime/data/key_order.h"
#include "runtime/support/visit_type.h"

namespace segfold {
namespace {

bool reads_position(const Operator& op)
{
    return uses_name(op.lift, "position") || (op.scan && uses_name(op.scan->block, "position")) ||
           (op.map && uses_name(*op.map, "position"));
}

/// Throws InputError if a part's operator reads the numbers of groups that have keys before all keys are
/// read.
void require_no_numbers(const Operator& op, const PartOperator& part)
{
    if (std::ranges::count(part.bases, BaseTable::segment) != 0)
        throw InputError(
            fmt::format("operator {} reads the number of a segment, and keys are numbered once all are read; "
                        "fold it in one piece",
                        op.name));
}

}  // namespace

GroupTotals::GroupTotals(const Operator& op, const StreamGroups& groups, Type marks, FoldPart fold_part)
    : joining_(std::make_shared<GroupJoining>(op, groups, marks)),
      counting_(std::make_shared<GroupJoining>(stateless_operator(op), groups, marks)),
      fold_part_(std::move(fold_part)),
      states_(piece_operator(op)),
      reads_positions_(reads_position(op)),
      sum_(joining_)
{
    if (!op.outputs.empty())
        outputs_ = output_piece_operator(op);
    if (!groups.order)
        return;
    require_no_numbers(op, states_);
    if (outputs_ && !reads_results())
        require_no_numbers(op, *outputs_);
}

void GroupTotals::begin(GroupPass pass)
{
    pass_ = pass;
    before_.reset();
    const bool has_states = pass == GroupPass::states || (pass == GroupPass::outputs && op().scan);
    sum_ = GroupPartial(has_states ? joining_ : counting_);
}

void GroupTotals::set_totals(std::shared_ptr<const GroupPartial> all)
{
    all_ = std::move(all);
    all_results_ = all_->results();
}

GroupResults GroupTotals::results()
{
    auto all = all_ ? std::move(all_results_) : sum_.results();
    if (!op().keeps_results)
        all.results.clear();
    return all;
}

void GroupTotals::number(PartGroups& part, const Array& given)
{
    part.numbers = Array(Type::i32, given.length());
    const auto numbers = part.numbers.as<std::int32_t>();
    const auto most = joining_->groups.num_groups.value_or(std::numeric_limits<std::int64_t>::max());
    visit_integers(given, [&]<class Number>(std::span<const Number> marks) {
        for (std::size_t i = 0; i < marks.size(); ++i) {
            const auto mark = marks[i];
            if (std::cmp_less(mark, 0)) {
                numbers[i] = -1;
                continue;
            }
            if (std::cmp_greater_equal(mark, most))
                refuse_group(static_cast<std::int64_t>(i), fmt::format("{}", mark), most);
            const auto group = sum_.add(static_cast<std::uint64_t>(mark));
            if (group >= places_.size())
                places_.resize(std::max(group + 1, sum_.num_groups()), -1);
            auto& place = places_[group];
            if (place < 0) {
                place = static_cast<std::int32_t>(part.marks.size());
                part.marks.push_back(group);
                part.lengths.push_back(0);
            }
            numbers[i] = place;
            ++part.lengths[static_cast<std::size_t>(place)];
        }
    });
    for (const auto group : part.marks)
        places_[group] = -1;
}

GroupTotals::PartGroups GroupTotals::groups_of(const Array& marks)
{
    PartGroups part;
    if (!joining_->groups.order) {
        number(part, marks);
    } else {
        auto [numbers, firsts] = number_keys({&marks, 1}, KeyOrder::first);
        const auto width = size_bytes(marks.type());
        const auto distinct = chosen_from(marks, firsts);
        part.numbers = std::move(numbers);
        part.lengths.resize(distinct.length());
        for (std::size_t k = 0; k < distinct.length(); ++k) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, distinct.data() + k * width, width);
            part.marks.push_back(bits);
        }
        visit_integers(part.numbers, [&](auto each) {
            for (const auto number : each)
                ++part.lengths[static_cast<std::size_t>(number)];
        });
    }
    for (const auto mark : part.marks)
        part.groups.push_back(sum_.add(mark));
    return part;
}

/// The place of a group among all results.
std::size_t GroupTotals::place_of(std::uint64_t mark) const
{
    const auto group = all_->find(mark);
    if (!group)
        throw InputError(
            "a group has elements that it had not when the elements were read before; a stream "
            "reads them twice, and nothing may change them meanwhile");
    return all_results_.places[*group];
}

/// The position in its group of the part's first element of group `p`.
std::int64_t GroupTotals::position_of(const PartGroups& part, std::size_t p) const
{
    std::int64_t before = 0;
    if (before_)
        if (const auto group = before_->find(part.marks[p]))
            before = before_->length(*group);
    const auto passed = sum_.length(part.groups[p]);
    return is_from_end() ? before - passed - part.lengths[p] : before + passed;
}

std::vector<Array> GroupTotals::bases_of(const PartOperator& folded, const PartGroups& part,
                                         std::int64_t first_element) const
{
    std::vector<Array> tables;
    const auto count = part.marks.size();
    std::size_t field = 0, result = 0;
    for (std::size_t i = 0; i < folded.bases.size(); ++i) {
        const auto base = folded.bases[i];
        const auto type = folded.op.parameters[op().parameters.size() + i].type;
        auto& table = tables.emplace_back(type, base == BaseTable::index ? 1 : count);
        if (base == BaseTable::index) {
            table.as<std::int64_t>()[0] = first_element;
        } else if (base == BaseTable::carry) {
            const auto place = field++;
            for (std::size_t p = 0; p < count; ++p)
                Machine<double>::store(sum_.length(part.groups[p]) != 0 ? sum_.state(part.groups[p])[place]
                                                                        : GroupPartial::Value{},
                                       type, table.data(), static_cast<std::int64_t>(p));
        } else if (base == BaseTable::result) {
            const auto& all = all_results_.results[result++].array;
            const auto width = size_bytes(type);
            for (std::size_t p = 0; p < count; ++p)
                std::memcpy(table.data() + p * width, all.data() + place_of(part.marks[p]) * width, width);
        } else {
            const auto values = table.as<std::int64_t>();
            for (std::size_t p = 0; p < count; ++p)
                values[p] = base == BaseTable::position  ? position_of(part, p)
                            : base == BaseTable::carried ? sum_.length(part.groups[p])
                            : base == BaseTable::first   ? (scans_from_end() ? part.lengths[p] - 1 : 0)
                            : base == BaseTable::length  ? all_results_.lengths[place_of(part.marks[p])]
                            : joining_->groups.order     ? static_cast<std::int64_t>(place_of(part.marks[p]))
                                                         : static_cast<std::int64_t>(part.marks[p]);
        }
    }
    return tables;
}

void GroupTotals::join(const PartGroups& part, const Results* states)
{
    std::vector<GroupPartial::Value> state(joining_->op.state.size());
    for (std::size_t p = 0; p < part.marks.size(); ++p) {
        for (std::size_t f = 0; f < state.size() && states != nullptr; ++f)
            Machine<double>::load(state[f], (*states)[f].array.type(), (*states)[f].array.data(),
                                  static_cast<std::int64_t>(p));
        sum_.join(part.groups[p], part.lengths[p], state.data(), is_from_end());
    }
}

void GroupTotals::keep_news(const Folded& folded)
{
    plan_ = folded.plan();
    for (const auto& warning : folded.warnings())
        if (std::ranges::count(warnings_, warning) == 0)
            warnings_.push_back(warning);
}

Results GroupTotals::add(std::span<const Array> columns, const Array& marks, std::int64_t first_element)
{
    const auto part = groups_of(marks);
    const bool gives_outputs = pass_ == GroupPass::outputs;
    Results outputs;
    if (part.marks.empty() && gives_outputs)  // elements of no group have zeros
        for (const auto& output : op().outputs)
            outputs.push_back({output.name, Array(output.type, marks.length())});
    for (auto& output : outputs)
        std::memset(output.array.data(), 0, output.array.bytes());
    if (part.marks.empty() || pass_ == GroupPass::lengths) {
        join(part, nullptr);
        return outputs;
    }
    const auto& folded_op = gives_outputs ? *outputs_ : states_;
    const auto tables = bases_of(folded_op, part, first_element);
    std::vector<ArrayView> inputs;
    for (std::size_t i = 0; i < op().parameters.size(); ++i)
        inputs.push_back(view_of(columns[i]));
    for (const auto& table : tables)
        inputs.push_back(view_of(table));
    const auto folded =
        fold_part_(folded_op.op, inputs, groups(view_of(part.numbers), std::ssize(part.marks)));
    keep_news(folded);
    const auto& results = folded.results();
    // A write-back alone has no states, and the lengths alone go on.
    const bool has_states = !gives_outputs || op().scan;
    join(part, has_states ? &results : nullptr);
    if (gives_outputs)
        for (std::size_t i = 0; i < op().outputs.size(); ++i)
            outputs.push_back(
                {op().outputs[i].name, results[results.size() - op().outputs.size() + i].array.copy()});
    return outputs;
}

}  // namespace segfold
