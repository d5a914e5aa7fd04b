#include "codegen/order/stage_order.h"

#include <algorithm>
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

constexpr std::array<std::string_view, 4> kForms = {"uniform", "offsets", "flags", "keys"};
// Work in addition to a fold of columns. For example, "offsets+map" is a kind of work.
constexpr std::array<std::string_view, 4> kExtras = {"", "+map", "+rows", "+map+rows"};

/// Returns the kind of work that the next word names, such as "offsets" or "offsets+map"; see kind_of().
std::size_t kind_named(GrownText& line)
{
    const auto word = line.word();
    const auto plus = std::min(word.find('+'), word.size());
    const auto form = std::ranges::find(kForms, word.substr(0, plus)) - kForms.begin();
    const auto extra = std::ranges::find(kExtras, word.substr(plus)) - kExtras.begin();
    if (form == std::ssize(kForms) || extra == std::ssize(kExtras))
        line.fail("'" + std::string(word) + "' is no kind of work");
    return static_cast<std::size_t>(form) + kForms.size() * static_cast<std::size_t>(extra);
}

/// Returns the kind of work: the form of segments, with or without write-back, with or without rows of
/// features.
std::size_t kind_of(const OrderFacts& facts)
{
    return static_cast<std::size_t>(facts[kFormFact]) +
           kForms.size() *
               ((facts[kMapFact] != 0 ? 1U : 0U) + (facts[kRowBytesFact] != kUnknownFact ? 2U : 0U));
}

}  // namespace

const StageOrder& StageOrder::standard()
{
    static const StageOrder& order = lasting([] { return StageOrder(embedded_ranks().front().text); });
    return order;
}

StageOrder::StageOrder(std::string_view text)
{
    Trees* stage = nullptr;
    for (GrownText line("kernels/ranks/order.txt", text); line.next_line();) {
        if (line.takes("rows")) {
            const int count = line.number<int>();
            rows_.emplace(line.rest(), count);
        } else if (line.takes("near")) {
            Sample sample;
            for (auto& fact : sample.facts)
                fact = line.number();
            sample.text = line.rest();
            const auto shares = line.rest().substr(std::min(line.rest().find(": ") + 2, line.rest().size()));
            sample.best = shares.substr(0, shares.find(' '));
            samples_.push_back(std::move(sample));
        } else if (line.takes("stage")) {
            stage = &stages_[std::string(line.word())];
            stage->base = line.number();
            while (!line.rest().empty())
                stage->kinds |= 1U << kind_named(line);
        } else if (stage == nullptr) {
            line.fail("a tree stands before the first stage");
        } else {
            stage->places.push_back(trees_.add(line, line.rest()));
        }
    }
}

std::string_view StageOrder::nearest(const OrderFacts& facts,
                                     const std::function<bool(std::string_view)>& has) const
{
    constexpr int kMost = 8 * 16;  // distance limit for one fact: eight octaves
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
    // If no row has the stage with write-back, its share in a fold counts. The elements are then mapped by a
    // second launch.
    auto fold = facts;
    fold[kMapFact] = 0;
    const auto has = [&](const OrderFacts& work) { return (found->second.kinds >> kind_of(work) & 1U) != 0; };
    if (!has(facts))
        return facts[kMapFact] != 0 && has(fold) ? expected_share(stage, fold) : std::nullopt;
    int sum = found->second.base;
    for (const auto tree : found->second.places)
        sum += trees_.leaf(tree, facts);
    return std::exp(sum / 1000.0);
}

}  // namespace segfold
