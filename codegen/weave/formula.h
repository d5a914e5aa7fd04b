#pragma once
// The integer expressions of stage files: sizes of grids and scratch memory, needs, conditions on tunables.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dsl/expression.h"

namespace segfold {

/// Values of the names in formulas; bools are 0 and 1. The object is cheap to copy, since choosing a stage
/// makes several copies.
class FormulaNames {
public:
    using Entry = std::pair<std::string, std::int64_t>;

    FormulaNames() = default;
    FormulaNames(std::initializer_list<Entry> entries) : FormulaNames(entries.begin(), entries.end()) {}
    template <std::input_iterator Iterator>
    FormulaNames(Iterator begin, Iterator end)
    {
        for (; begin != end; ++begin)
            emplace(begin->first, begin->second);
    }

    /// Entries in the order of their names.
    [[nodiscard]] auto begin() const { return entries_.begin(); }
    [[nodiscard]] auto end() const { return entries_.end(); }
    [[nodiscard]] bool empty() const { return entries_.empty(); }
    [[nodiscard]] auto find(std::string_view name) const
    {
        const auto found = place_of(name);
        return found != entries_.end() && found->first == name ? found : entries_.end();
    }
    [[nodiscard]] bool contains(std::string_view name) const { return find(name) != entries_.end(); }
    /// Throws std::out_of_range for an unknown name.
    [[nodiscard]] std::int64_t at(std::string_view name) const
    {
        const auto found = find(name);
        if (found == end())
            throw std::out_of_range("no value for " + std::string(name));
        return found->second;
    }
    /// A new name starts at 0.
    std::int64_t& operator[](std::string_view name)
    {
        auto place = entries_.begin() + (place_of(name) - entries_.begin());
        if (place == entries_.end() || place->first != name)
            place = entries_.emplace(place, name, 0);
        return place->second;
    }
    /// Adds a name. An existing name keeps its value.
    void emplace(std::string_view name, std::int64_t value)
    {
        if (!contains(name))
            (*this)[name] = value;
    }
    void erase(std::string_view name)
    {
        if (const auto found = find(name); found != entries_.end())
            entries_.erase(found);
    }

private:
    [[nodiscard]] std::vector<Entry>::const_iterator place_of(std::string_view name) const
    {
        return std::ranges::lower_bound(entries_, name, {},
                                        [](const Entry& entry) { return std::string_view(entry.first); });
    }

    std::vector<Entry> entries_;
};

/// An expression over 64-bit integers, in the language's own grammar, with ceil_div(a, b), min and max.
class Formula {
public:
    Formula() = default;
    /// `place` names the text in messages, such as "stages/tile_scan.cu:9". Throws SpecError.
    Formula(std::string place, const std::string& text);

    /// Returns the value; comparisons and logic give 0 or 1. Throws SpecError for an unknown name, a division
    /// by zero, or a value beyond 64 bits.
    [[nodiscard]] std::int64_t value(const FormulaNames& names) const;
    /// True if `names` has every name in the formula.
    [[nodiscard]] bool is_over(const FormulaNames& names) const;
    [[nodiscard]] const std::string& text() const { return text_; }
    /// File and line, for messages.
    [[nodiscard]] const std::string& place() const { return place_; }

private:
    std::string place_;
    std::string text_;
    Expression expression_;
};

}  // namespace segfold
