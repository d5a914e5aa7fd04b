#include "codegen/order/grown_text.h"

#include <algorithm>

#include "dsl/error.h"

namespace segfold {

bool GrownText::next_line()
{
    while (!text_.empty()) {
        line_ = text_.substr(0, text_.find('\n'));
        text_.remove_prefix(std::min(text_.size(), line_.size() + 1));
        ++number_;
        if (!line_.empty() && !line_.starts_with('#'))
            return true;
    }
    return false;
}

std::string_view GrownText::word()
{
    const auto word = line_.substr(0, line_.find(' '));
    line_.remove_prefix(std::min(line_.size(), word.size() + 1));
    return word;
}

bool GrownText::takes(std::string_view word)
{
    const bool is_there = line_.starts_with(word) && line_.substr(word.size()).starts_with(' ');
    if (is_there)
        line_.remove_prefix(word.size() + 1);
    return is_there;
}

void GrownText::fail(const std::string& what) const
{
    throw SpecError(std::string(file_) + ":" + std::to_string(number_) + ": " + what);
}

std::size_t DecisionTrees::add(const GrownText& from, std::string_view tree)
{
    const auto root = nodes_.size();
    add_branch(from, tree);
    if (!tree.empty())
        from.fail("the tree ends before its word does");
    return root;
}

void DecisionTrees::add_branch(const GrownText& from, std::string_view& tree)
{
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzAB";  // one letter for each fact
    static_assert(kLetters.size() == std::tuple_size_v<OrderFacts>);
    if (tree.empty())
        from.fail("the tree does not end with its word");
    const char first = tree.front();
    const auto fact = kLetters.find(first);
    const bool asks = fact != kLetters.npos;
    if (!asks && first != '+' && first != '-')
        from.fail("'" + std::string(1, first) + "' is neither a fact nor the sign of a leaf");
    if (first != '-')
        tree.remove_prefix(1);
    const auto at = nodes_.size();
    nodes_.push_back({static_cast<std::int16_t>(asks ? static_cast<int>(fact) : -1), from.number(tree), 0});
    if (!asks)
        return;
    add_branch(from, tree);
    nodes_[at].above = static_cast<std::uint32_t>(nodes_.size());
    add_branch(from, tree);
}

bool DecisionTrees::has_leaves_below(std::size_t count) const
{
    return std::ranges::all_of(nodes_, [&](const Node& node) {
        return node.fact >= 0 || (node.number >= 0 && static_cast<std::size_t>(node.number) < count);
    });
}

}  // namespace segfold
