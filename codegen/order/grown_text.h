#pragma once
// Reads texts that are derived (grown) from measured rows, and their decision trees.
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/order/order_facts.h"

namespace segfold {

/// The lines of a grown text, read word by word. Empty lines and comments are skipped.
class GrownText {
public:
    /// `file` is the name of the text in messages.
    GrownText(std::string_view file, std::string_view text) : file_(file), text_(text) {}

    /// Goes to the next line. Returns false at the end of the text.
    bool next_line();
    /// The part of the line that has not been read.
    [[nodiscard]] std::string_view rest() const { return line_; }
    /// Reads the next word; empty at the end of the line.
    std::string_view word();
    /// Reads the next word if it is `word` and another word follows. Returns true if it was read.
    bool takes(std::string_view word);
    /// Reads a number from the beginning of `text` and removes it there. Throws SpecError if there is no
    /// number.
    template <class Number = std::int16_t>
    Number number(std::string_view& text) const
    {
        Number number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error != std::errc())
            fail("'" + std::string(text.substr(0, 8)) + "' begins with no number of " +
                 std::to_string(8 * sizeof number) + " bits");
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        return number;
    }
    /// Reads the next word as a number. Ignores characters after the number.
    template <class Number = std::int16_t>
    Number number()
    {
        auto text = word();
        return number<Number>(text);
    }
    /// Throws SpecError, whose message names the line.
    [[noreturn]] void fail(const std::string& what) const;

private:
    std::string_view file_, text_, line_;
    int number_ = 0;  ///< number of the current line, from 1
};

/// Decision trees over whole numbers. Nothing rounds, so every machine decides alike.
class DecisionTrees {
public:
    /// Adds a tree and returns its index. `tree` lists the nodes from the root. A letter stands for a
    /// question about a fact, followed by the greatest number for which the next branch is taken. A number
    /// with a sign is a leaf. Throws SpecError, whose message names the line of `from`.
    std::size_t add(const GrownText& from, std::string_view tree);
    /// Returns the number of the leaf to which the facts lead.
    [[nodiscard]] int leaf(std::size_t tree, const OrderFacts& facts) const
    {
        auto at = tree;
        while (nodes_[at].fact >= 0)
            at = facts[static_cast<std::size_t>(nodes_[at].fact)] <= nodes_[at].number ? at + 1
                                                                                       : nodes_[at].above;
        return nodes_[at].number;
    }
    /// True if all leaf numbers are from 0 to `count` - 1.
    [[nodiscard]] bool has_leaves_below(std::size_t count) const;

private:
    /// A question or a leaf. The branch for numbers up to `number` follows the question directly.
    struct Node {
        std::int16_t fact;    ///< index of the fact in question; -1: a leaf
        std::int16_t number;  ///< question: greatest value that takes the next branch; leaf: its number
        std::uint32_t above;  ///< question: index of the branch for greater values
    };

    void add_branch(const GrownText& from, std::string_view& tree);

    std::vector<Node> nodes_;
};

}  // namespace segfold
