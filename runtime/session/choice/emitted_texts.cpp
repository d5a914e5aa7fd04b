#include "runtime/session/choice/emitted_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace segfold {
namespace {

constexpr std::size_t kMost = 64;

/// Returns the key of an entry: a text that contains all inputs of emit().
std::string key_of(const Problem& problem, const Stage& stage, const Configuration& configuration,
                   const Catalogue& catalogue, Numbers numbers)
{
    const auto& laws = problem.laws;
    const auto& target = problem.target;
    const auto digest = digest_of(problem.written);
    return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {:x} {:x}\n{}",
                       fmt::ptr(&catalogue), stage.name, configuration, static_cast<int>(numbers),
                       static_cast<int>(problem.form), problem.index_bits, problem.key_bytes,
                       static_cast<int>(problem.number_type), problem.has_ends, laws.associative,
                       laws.commutative, laws.idempotent, laws.assumes_associative, target.has_async_copies,
                       target.has_bf16_conversions, target.block_shared_bytes, target.compute_capability,
                       target.has_f16_conversions, problem.checked_tables, problem.op.keeps_results,
                       digest.first(), digest.second(), problem.written.description);
}

}  // namespace

Emitted EmittedTexts::get(const Problem& problem, const Stage& stage, const Configuration& configuration,
                          const Catalogue& catalogue, Numbers numbers)
{
    auto key = key_of(problem, stage, configuration, catalogue, numbers);
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(entries_, key, &Entry::first);
        if (found != entries_.end()) {
            entries_.splice(entries_.begin(), entries_, found);
            return *entries_.front().second;
        }
    }
    auto emitted = std::make_shared<const Emitted>(emit(problem, stage, configuration, catalogue, numbers));
    const std::lock_guard lock(mutex_);
    entries_.emplace_front(std::move(key), emitted);
    if (entries_.size() > kMost)
        entries_.pop_back();
    return *emitted;
}

std::size_t EmittedTexts::size() const
{
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace segfold
