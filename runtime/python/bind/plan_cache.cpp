#include "runtime/python/bind/plan_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/data/segments.h"

namespace segfold::python {

PlanOptions FoldWords::plan_options(std::int64_t num_features) const
{
    PlanOptions options;
    options.request = request;
    options.num_features = num_features;
    options.longest = longest;
    options.validates_segments = validates_segments;
    options.trusts_tables = trusts_tables;
    options.assumes_finite = assumes_finite;
    return options;
}

std::string FoldWords::key() const
{
    if (request.is_open() && longest == 0 && !validates_segments && !trusts_tables && !assumes_finite &&
        session.kernels.empty() && session.assume.empty())
        return {};
    std::string text =
        fmt::format("{} {} {} {} {} {} {}", request.stage.value_or(""), request.is_reproducible, longest,
                    validates_segments, trusts_tables, assumes_finite, session.kernels);
    for (const auto& [name, value] : request.settings)
        text += fmt::format(" {}={}", name, value);
    for (const auto law : session.assume)
        text += fmt::format(" {}", name(law));
    return text;
}

std::shared_ptr<const PlanCache::Entry> PlanCache::find(const PlanKey& key)
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(entries_, [&](const auto& entry) { return entry->key == key; });
    if (found == entries_.end())
        return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front();
}

std::shared_ptr<const PlanCache::Entry> PlanCache::find_similar(const PlanKey& key)
{
    const auto order = [](std::int64_t number) { return std::bit_width(static_cast<std::uint64_t>(number)); };
    const auto bits = [](const PlanKey& of) { return index_bits_for({of.num_elements, of.num_entries}); };
    const auto is_alike = [&](const PlanKey& other) {
        return order(other.num_elements) == order(key.num_elements) &&
               order(other.longest) == order(key.longest) && other.order_of_items == key.order_of_items &&
               (key.kind == LayoutKind::uniform ? other.num_entries == key.num_entries
                                                : order(other.num_entries) == order(key.num_entries));
    };
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const Entry> found;
    for (const auto& entry : entries_) {
        auto wanted = key;
        wanted.num_elements = entry->key.num_elements;
        wanted.num_entries = entry->key.num_entries;
        wanted.stream = entry->key.stream;
        wanted.longest = entry->key.longest;
        wanted.order_of_items = entry->key.order_of_items;
        if (wanted != entry->key || bits(entry->key) != bits(key))
            continue;
        if (is_alike(entry->key))
            return entry;
        if (key.device == PlanKey::kHost && !found)
            found = entry;
    }
    return found;
}

namespace {

/// A GPU may still use the memory of a plan that is about to go.
void wait_for(const PlanCache::Entry& entry)
{
    if (const auto* context = entry.session->backend().context())
        context->synchronize();
}

}  // namespace

void PlanCache::add(std::shared_ptr<const Entry> entry)
{
    std::list<std::shared_ptr<const Entry>> gone;
    {
        const std::lock_guard lock(mutex_);
        entries_.push_front(std::move(entry));
        std::size_t num_kept = 0;
        std::int64_t bytes = 0;
        auto first_gone = entries_.begin();
        for (; first_gone != entries_.end() && num_kept < kMost; ++first_gone, ++num_kept) {
            bytes += (*first_gone)->plan->scratch_bytes();
            if (num_kept > 0 && bytes > kMostScratchBytes)
                break;
        }
        gone.splice(gone.end(), entries_, first_gone, entries_.end());
    }
    for (const auto& one : gone)
        wait_for(*one);
}

void PlanCache::clear()
{
    std::list<std::shared_ptr<const Entry>> entries;
    {
        const std::lock_guard lock(mutex_);
        entries.swap(entries_);
    }
    for (const auto& entry : entries)
        wait_for(*entry);
}

std::size_t PlanCache::size()
{
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

}  // namespace segfold::python
