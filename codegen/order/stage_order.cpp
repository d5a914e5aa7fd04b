#include "codegen/order/stage_order.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_ranks();

namespace {

constexpr int kUnknown = -9999;
constexpr std::size_t kForm = 6;  // place of the form among the facts
constexpr std::array<std::string_view, 4> kForms = {"uniform", "offsets", "flags", "keys"};

/// The logarithm of `value` in sixteenths of an octave, rounded down.
int steps(double value) { return value > 0 ? static_cast<int>(std::floor(16 * std::log2(value))) : kUnknown; }

[[noreturn]] void fail(int line, const std::string& what)
{
    throw SpecError("kernels/ranks/order.txt:" + std::to_string(line) + ": " + what);
}

/// The next word of a line, which loses it; empty at the end.
std::string_view take_word(std::string_view& line)
{
    const auto word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(line.size(), word.size() + 1));
    return word;
}

template <class Number = std::int16_t>
Number number_of(std::string_view digits, int line)
{
    Number number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size())
        fail(line, "'" + std::string(digits) + "' is not a number of " + std::to_string(8 * sizeof number) +
                       " bits");
    return number;
}

}  // namespace

OrderFacts order_facts(const FormulaNames& plan_facts)
{
    static const FormulaName num_elements("num_elements"), num_segments("num_segments"),
        longest_length("longest_length"), padded_elements("padded_elements"), whole("whole"),
        uniform("uniform"), flags("flags"), keys("keys"), element_bytes("element_bytes"),
        state_bytes("state_bytes"), combine_cost("combine_cost"), commutative("commutative"),
        gathers("gathers");
    const auto value = [&](FormulaName name) {
        const auto* found = plan_facts.find(name);
        return found == nullptr ? std::int64_t{0} : *found;
    };
    const bool is_equal = value(uniform) != 0 || value(whole) != 0;
    constexpr std::int64_t kElements = std::int64_t{1} << 24, kMean = 64;
    std::int64_t elements = value(num_elements), segments = value(num_segments);
    if (elements <= 0)
        elements = segments > 0 ? segments * kMean : kElements;
    if (value(whole) != 0)
        segments = 1;
    if (segments <= 0)
        segments = std::max<std::int64_t>(1, elements / kMean);
    const std::int64_t longest = is_equal ? elements / segments : value(longest_length);
    const std::int64_t padded = is_equal ? elements : value(padded_elements);
    const auto n = static_cast<double>(elements), m = static_cast<double>(segments),
               most = static_cast<double>(longest), bytes = static_cast<double>(value(element_bytes)),
               state = static_cast<double>(value(state_bytes));
    const double mean = n / m;
    const auto row_bytes = is_equal ? longest * value(element_bytes) : 0;
    const auto alignment = std::min<std::int64_t>(16, row_bytes & -row_bytes);
    const int form = value(flags) != 0 ? 2 : value(keys) != 0 ? 3 : is_equal ? 0 : 1;
    return {steps(n),
            steps(m),
            steps(mean),
            steps(most / mean),
            steps(most / n),
            steps(static_cast<double>(padded) / n),
            form,
            static_cast<int>(alignment),
            steps(bytes),
            steps(state),
            steps(static_cast<double>(value(combine_cost))),
            static_cast<int>(value(commutative)),
            static_cast<int>(value(gathers)),
            steps(n * bytes),
            steps(mean * bytes),
            steps(mean * state),
            steps(most),
            steps(m * state)};
}

OrderFacts as_offsets(OrderFacts facts)
{
    facts[kForm] = 1;
    return facts;
}

const StageOrder& StageOrder::standard()
{
    static const StageOrder& order = lasting([] { return StageOrder(embedded_ranks().front().text); });
    return order;
}

StageOrder::StageOrder(std::string_view text)
{
    Trees* trees = nullptr;
    for (int number = 1; !text.empty(); ++number) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.empty() || line.starts_with('#'))
            continue;
        if (line.starts_with("rows ")) {
            take_word(line);
            const int count = number_of<int>(take_word(line), number);
            rows_.emplace(line, count);
        } else if (line.starts_with("stage ")) {
            take_word(line);
            trees = &stages_[std::string(take_word(line))];
            trees->base = number_of(take_word(line), number);
            while (!line.empty()) {
                const auto word = take_word(line);
                const auto form = std::ranges::find(kForms, word) - kForms.begin();
                if (form == std::ssize(kForms))
                    fail(number, "'" + std::string(word) + "' is no form of segments");
                trees->forms |= 1U << form;
            }
        } else if (trees == nullptr)
            fail(number, "a tree stands before the first stage");
        else
            add_tree(line, number, *trees);
    }
}

/// Nodes stand in the order in which a tree is walked. `open` holds questions whose second branch has not
/// begun.
void StageOrder::add_tree(std::string_view line, int line_number, Trees& trees)
{
    trees.roots.push_back(static_cast<std::int32_t>(nodes_.size()));
    std::vector<std::size_t> open;
    bool is_whole = false;
    while (!line.empty()) {
        if (is_whole)
            fail(line_number, "the tree ends before the line does");
        auto word = take_word(line);
        const bool asks = !word.empty() && word.front() >= 'a' && word.front() <= 'z';
        const auto fact = static_cast<std::int16_t>(asks ? word.front() - 'a' : -1);
        if (fact >= static_cast<std::int16_t>(OrderFacts().size()))
            fail(line_number, "'" + std::string(word) + "' asks a fact that is not known");
        word.remove_prefix(asks ? 1 : 0);
        nodes_.push_back({fact, static_cast<std::int16_t>(number_of(word, line_number)), 0});
        if (asks) {
            open.push_back(nodes_.size() - 1);
            continue;
        }
        // A leaf ends every branch whose second part has been read.
        while (!open.empty() && nodes_[open.back()].above != 0)
            open.pop_back();
        is_whole = open.empty();
        if (!is_whole)
            nodes_[open.back()].above = static_cast<std::int32_t>(nodes_.size());
    }
    if (!is_whole)
        fail(line_number, "the tree does not end with the line");
}

std::optional<double> StageOrder::expected_share(std::string_view stage, const OrderFacts& facts) const
{
    const auto found = stages_.find(stage);
    if (found == stages_.end() || (found->second.forms >> facts[kForm] & 1U) == 0)
        return std::nullopt;
    int sum = found->second.base;
    for (const auto root : found->second.roots) {
        auto at = static_cast<std::size_t>(root);
        while (nodes_[at].fact >= 0)
            at = facts[static_cast<std::size_t>(nodes_[at].fact)] <= nodes_[at].number
                     ? at + 1
                     : static_cast<std::size_t>(nodes_[at].above);
        sum += nodes_[at].number;
    }
    return std::exp(sum / 1000.0);
}

}  // namespace segfold
