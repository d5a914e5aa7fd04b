#include "codegen/order/stage_order.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_ranks();

namespace {

constexpr int kUnknown = -9999;
constexpr int kSteps = 16;  // of an octave
// Places among the facts. Those of kRowFacts come first.
constexpr std::size_t kElementBytes = 0, kStateBytes = 1, kMap = 5, kRowBytes = 6, kResultBytes = 13,
                      kForm = kRowFacts.size();
constexpr std::array<std::string_view, 4> kForms = {"uniform", "offsets", "flags", "keys"};
// One for each fact.
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzAB";
static_assert(kLetters.size() == std::tuple_size_v<OrderFacts>);
// What is done beside folding columns. "offsets+map" is a kind of work.
constexpr std::array<std::string_view, 4> kExtras = {"", "+map", "+rows", "+map+rows"};

/// The logarithm of `value` in sixteenths of an octave, rounded down.
int steps(double value)
{
    return value > 0 ? static_cast<int>(std::floor(kSteps * std::log2(value))) : kUnknown;
}

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

/// The place of "offsets", "offsets+map" and so on; see kind_of().
std::size_t kind_named(std::string_view word, int line)
{
    const auto plus = std::min(word.find('+'), word.size());
    const auto form = std::ranges::find(kForms, word.substr(0, plus)) - kForms.begin();
    const auto extra = std::ranges::find(kExtras, word.substr(plus)) - kExtras.begin();
    if (form == std::ssize(kForms) || extra == std::ssize(kExtras))
        fail(line, "'" + std::string(word) + "' is no kind of work");
    return static_cast<std::size_t>(form) + kForms.size() * static_cast<std::size_t>(extra);
}

/// The kind of work: a form of segments, with write-back, rows of features, both or neither.
std::size_t kind_of(const OrderFacts& facts)
{
    return static_cast<std::size_t>(facts[kForm]) +
           kForms.size() * ((facts[kMap] != 0 ? 1U : 0U) + (facts[kRowBytes] != kUnknown ? 2U : 0U));
}

}  // namespace

OrderFacts order_facts(const FormulaNames& plan_facts)
{
    static const FormulaName num_elements("num_elements"), num_segments("num_segments"),
        longest_length("longest_length"), padded_elements("padded_elements"), num_features("num_features"),
        whole("whole"), uniform("uniform"), flags("flags"), keys("keys");
    static const auto& row_facts = lasting([] {  // folds may go on while the process ends
        std::vector<FormulaName> names;
        for (const auto& [name, is_logarithm] : kRowFacts)
            names.emplace_back(name);
        return names;
    });
    const auto value = [&](FormulaName name) {
        const auto* found = plan_facts.find(name);
        return found == nullptr ? std::int64_t{0} : *found;
    };
    const bool is_equal = value(uniform) != 0 || value(whole) != 0;
    constexpr std::int64_t kElements = std::int64_t{1} << 24, kMean = 64, kFeatures = 64;
    std::int64_t elements = value(num_elements), segments = value(num_segments);
    if (elements <= 0)
        elements = segments > 0 ? segments * kMean : kElements;
    if (value(whole) != 0)
        segments = 1;
    if (segments <= 0)
        segments = std::max<std::int64_t>(1, elements / kMean);
    const std::int64_t longest = is_equal ? elements / segments : value(longest_length);
    const std::int64_t padded = is_equal ? elements : value(padded_elements);
    const auto row_bytes = is_equal ? longest * value(row_facts[kElementBytes]) : 0;
    const auto n = static_cast<double>(elements), m = static_cast<double>(segments),
               most = static_cast<double>(longest), mean = n / m,
               bytes = static_cast<double>(value(row_facts[kElementBytes])),
               state = static_cast<double>(value(row_facts[kStateBytes])),
               results = static_cast<double>(value(row_facts[kResultBytes]));
    OrderFacts facts = {};
    auto next = facts.begin();
    for (std::size_t i = 0; i < kRowFacts.size(); ++i) {
        const auto own = value(row_facts[i]);
        *next++ = kRowFacts[i].second ? steps(static_cast<double>(own)) : static_cast<int>(own);
    }
    const bool has_rows = value(row_facts[kRowBytes]) != 0;
    const auto features = value(num_features) > 0 ? value(num_features) : kFeatures;
    for (const auto fact : {value(flags) != 0  ? 2
                            : value(keys) != 0 ? 3
                            : is_equal         ? 0
                                               : 1,
                            steps(n), steps(m), steps(mean), steps(most / mean), steps(most / n),
                            steps(static_cast<double>(padded) / n),
                            static_cast<int>(std::min<std::int64_t>(16, row_bytes & -row_bytes)),
                            steps(n * bytes), steps(mean * bytes), steps(mean * state), steps(most),
                            steps(m * results), steps(has_rows ? static_cast<double>(features) : 0)})
        *next++ = fact;
    return facts;
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
        } else if (line.starts_with("near ")) {
            take_word(line);
            Sample sample;
            for (auto& fact : sample.facts)
                fact = number_of(take_word(line), number);
            sample.text = line;
            line.remove_prefix(std::min(line.find(": ") + 2, line.size()));
            sample.best = take_word(line);
            samples_.push_back(std::move(sample));
        } else if (line.starts_with("stage ")) {
            take_word(line);
            trees = &stages_[std::string(take_word(line))];
            trees->base = number_of(take_word(line), number);
            while (!line.empty())
                trees->kinds |= 1U << kind_named(take_word(line), number);
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
        const auto asked = kLetters.find(line.front());
        const bool asks = asked != kLetters.npos;
        if (!asks && line.front() != '+' && line.front() != '-')
            fail(line_number,
                 "'" + std::string(line.substr(0, 1)) + "' is neither a fact nor the sign of a leaf");
        const auto fact = static_cast<std::int16_t>(asks ? static_cast<int>(asked) : -1);
        // A number, with its sign where it is negative, ends before the next letter or sign.
        const std::size_t begin = line.front() == '-' ? 0 : 1;
        const auto end = std::min(line.find_first_not_of("0123456789", begin + 1), line.size());
        nodes_.push_back(
            {fact, static_cast<std::int16_t>(number_of(line.substr(begin, end - begin), line_number)), 0});
        line.remove_prefix(end);
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

std::string_view StageOrder::nearest(const OrderFacts& facts,
                                     const std::function<bool(std::string_view)>& has) const
{
    constexpr int kMost = 8 * kSteps;  // of one fact
    std::string_view text;
    int least = std::numeric_limits<int>::max();
    for (const auto& sample : samples_) {
        if (kind_of(sample.facts) != kind_of(facts) || !has(sample.best))
            continue;
        int away = 0;
        for (std::size_t i = 0; i < facts.size(); ++i)
            away += std::min(std::abs(facts[i] - sample.facts[i]), kMost);
        if (away < least) {
            least = away;
            text = sample.text;
        }
    }
    return text;
}

std::optional<double> StageOrder::expected_share(std::string_view stage, const OrderFacts& facts) const
{
    const auto found = stages_.find(stage);
    if (found == stages_.end())
        return std::nullopt;
    // Without rows of write-back a stage counts as in a fold: the elements are mapped by a launch after it.
    auto fold = facts;
    fold[kMap] = 0;
    const auto has = [&](const OrderFacts& work) { return (found->second.kinds >> kind_of(work) & 1U) != 0; };
    if (!has(facts))
        return facts[kMap] != 0 && has(fold) ? expected_share(stage, fold) : std::nullopt;
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
