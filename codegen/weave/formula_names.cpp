#include "codegen/weave/formula_names.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "codegen/weave/mention.h"
#include "dsl/lasting.h"

namespace segfold {
namespace {

/// All names in the process, by number. Pointers to entries stay valid.
struct NumberedNames {
    std::shared_mutex mutex;
    std::unordered_map<std::string, std::size_t, WordHash, std::equal_to<>> numbers;
};

NumberedNames& numbered_names()
{
    static auto& names = lasting([] { return NumberedNames(); });
    return names;
}

}  // namespace

const FormulaName::Kept& FormulaName::kept(std::string_view text)
{
    auto& [mutex, numbers] = numbered_names();
    {
        const std::shared_lock lock(mutex);
        if (const auto known = numbers.find(text); known != numbers.end())
            return *known;
    }
    const std::lock_guard lock(mutex);
    return *numbers.emplace(text, numbers.size()).first;
}

std::vector<std::string_view> FormulaNames::names() const
{
    std::vector<std::string_view> names;
    auto& [mutex, numbers] = numbered_names();
    const std::shared_lock lock(mutex);
    for (const auto& [name, number] : numbers)
        if (number < slots_.size() && slots_[number].is_known)
            names.emplace_back(name);
    std::ranges::sort(names);
    return names;
}

}  // namespace segfold
