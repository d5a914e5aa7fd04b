#include "codegen/order/grown_configurations.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold {

std::span<const EmbeddedFile> embedded_ranks();

namespace {

[[noreturn]] void fail_at(int line, const std::string& what)
{
    throw SpecError("kernels/ranks/configurations.txt:" + std::to_string(line) + ": " + what);
}

/// The number at the begin of `text`, which loses it.
template <class Number>
Number take_number(std::string_view& text, int line)
{
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc())
        fail_at(line, "'" + std::string(text.substr(0, 8)) + "' begins with no number of " +
                          std::to_string(8 * sizeof number) + " bits");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return number;
}

/// The text up to `end`, which `text` loses together with it.
std::string_view take_until(std::string_view& text, char end)
{
    const auto word = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

}  // namespace

const GrownConfigurations& GrownConfigurations::standard()
{
    static const GrownConfigurations& grown = lasting([] {
        const auto files = embedded_ranks();
        return GrownConfigurations(std::ranges::find(files, "configurations.txt", &EmbeddedFile::path)->text);
    });
    return grown;
}

GrownConfigurations::GrownConfigurations(std::string_view text)
{
    Grown* grown = nullptr;
    const auto require_all = [&](int line) {
        if (grown != nullptr && std::ranges::any_of(grown->tree, [&](const Node& node) {
                return node.fact < 0 && static_cast<std::size_t>(node.number) >= grown->configurations.size();
            }))
            fail_at(line, "a leaf of the stage above names a configuration that is not there");
    };
    std::vector<std::string> names;  // of the stage's tunables
    int number = 1;
    for (; !text.empty(); ++number) {
        auto line = take_until(text, '\n');
        if (line.empty() || line.starts_with('#'))
            continue;
        if (line.starts_with("stage ")) {
            require_all(number);
            take_until(line, ' ');
            grown = &stages_[std::string(take_until(line, ' '))];
            auto tree = take_until(line, ' ');
            read_branch(tree, number, *grown);
            if (!tree.empty())
                fail_at(number, "the tree ends before its word does");
            for (names.clear(); !line.empty();)
                names.emplace_back(take_until(line, ' '));
            continue;
        }
        if (grown == nullptr)
            fail_at(number, "a configuration stands before the first stage");
        auto& configuration = grown->configurations.emplace_back();
        for (const auto& name : names) {
            auto word = take_until(line, ' ');
            configuration[name] = take_number<int>(word, number);
        }
    }
    require_all(number);
}

void GrownConfigurations::read_branch(std::string_view& text, int line, Grown& grown)
{
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    if (text.empty())
        fail_at(line, "the tree does not end with its word");
    const char first = text.front();
    const auto fact = kLetters.find(first);
    const bool asks = fact < std::tuple_size_v<OrderFacts>;
    if (!asks && first != '+')
        fail_at(line, "'" + std::string(1, first) + "' is neither a fact nor the sign of a leaf");
    text.remove_prefix(1);
    const auto at = grown.tree.size();
    grown.tree.push_back({asks ? static_cast<std::int16_t>(fact) : std::int16_t{-1},
                          take_number<std::int16_t>(text, line), 0});
    if (!asks)
        return;
    read_branch(text, line, grown);
    grown.tree[at].above = static_cast<std::uint16_t>(grown.tree.size());
    read_branch(text, line, grown);
}

const std::map<std::string, int>& GrownConfigurations::of(std::string_view stage,
                                                          const FormulaNames& plan_facts) const
{
    static const auto& none = lasting([] { return std::map<std::string, int>(); });
    const auto found = stages_.find(stage);
    if (found == stages_.end() || plan_facts.empty())
        return none;
    const auto facts = order_facts(plan_facts);
    const auto& [tree, configurations] = found->second;
    std::size_t at = 0;
    while (tree[at].fact >= 0)
        at = facts[static_cast<std::size_t>(tree[at].fact)] <= tree[at].number ? at + 1 : tree[at].above;
    return configurations[static_cast<std::size_t>(tree[at].number)];
}

}  // namespace segfold
