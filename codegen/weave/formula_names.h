#pragma once
// The names in formulas and their values.
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace segfold {

/// A name in a formula. Each distinct name has its own number in the process, which lookups use as an index.
class FormulaName {
public:
    template <std::convertible_to<std::string_view> Text>
    FormulaName(const Text& text)  // NOLINT(google-explicit-constructor): converts from text
        : kept_(&kept(text))
    {}

    [[nodiscard]] const std::string& text() const { return kept_->first; }
    /// The name's number, from 0. Equal names have equal numbers.
    [[nodiscard]] std::size_t number() const { return kept_->second; }
    bool operator==(const FormulaName&) const = default;

private:
    using Kept = std::pair<const std::string, std::size_t>;
    static const Kept& kept(std::string_view text);

    const Kept* kept_;
};

/// A map from the names in formulas to their values; bools are 0 and 1. Copies must be cheap, because the
/// choice of a stage makes several of them.
class FormulaNames {
public:
    using Entry = std::pair<FormulaName, std::int64_t>;

    FormulaNames() = default;
    FormulaNames(std::initializer_list<Entry> entries) : FormulaNames(entries.begin(), entries.end()) {}
    template <std::input_iterator Iterator>
    FormulaNames(Iterator begin, Iterator end)
    {
        for (; begin != end; ++begin)
            emplace(begin->first, begin->second);
    }

    [[nodiscard]] bool empty() const { return num_known_ == 0; }
    /// Returns a pointer to the value of a name; null if the name is not in the map.
    [[nodiscard]] const std::int64_t* find(FormulaName name) const
    {
        const auto place = name.number();
        return place < slots_.size() && slots_[place].is_known ? &slots_[place].value : nullptr;
    }
    [[nodiscard]] bool contains(FormulaName name) const { return find(name) != nullptr; }
    /// Returns the value of a name. Throws std::out_of_range if the name is not in the map.
    [[nodiscard]] std::int64_t at(FormulaName name) const
    {
        const auto* value = find(name);
        if (value == nullptr)
            throw std::out_of_range("no value for " + name.text());
        return *value;
    }
    /// Returns a reference to the value of a name. If the name is not in the map, adds it with value 0.
    std::int64_t& operator[](FormulaName name)
    {
        const auto place = name.number();
        if (place >= slots_.size())
            slots_.resize(place + 1);
        auto& slot = slots_[place];
        num_known_ += slot.is_known ? 0 : 1;
        slot.is_known = true;
        return slot.value;
    }
    /// Adds a name with its value. If the name is already in the map, it keeps its value.
    void emplace(FormulaName name, std::int64_t value)
    {
        if (!contains(name))
            (*this)[name] = value;
    }
    void erase(FormulaName name)
    {
        if (!contains(name))
            return;
        slots_[name.number()] = {};
        --num_known_;
    }
    /// Returns all names in the map, in alphabetical order.
    [[nodiscard]] std::vector<std::string_view> names() const;

private:
    struct Slot {
        std::int64_t value;
        bool is_known;
    };

    std::vector<Slot> slots_;  ///< indexed by FormulaName::number()
    std::size_t num_known_ = 0;
};

}  // namespace segfold
