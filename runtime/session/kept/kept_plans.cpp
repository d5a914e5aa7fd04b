#include "runtime/session/kept/kept_plans.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "runtime/backends/backend.h"
#include "runtime/backends/cuda/driver/context.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/plan_state.h"

namespace segfold {

PlanKey::PlanKey(const SegmentsView& segments, std::int64_t elements, const PlanOptions& options,
                 std::uint64_t num_findings)
    : kind(segments.kind),
      index(segments.first.type),
      num_elements(elements),
      num_features(options.num_features),
      num_entries(segments.kind == LayoutKind::uniform ? segments.uniform_length : segments.first.length),
      num_groups(segments.num_groups.value_or(0)),
      words(key_of(options)),
      findings(num_findings)
{}

std::string key_of(const PlanOptions& options)
{
    const auto& [stage, settings, is_reproducible, numbers, measured_stages, first] = options.request;
    if (options.request.is_open() && numbers == Numbers::constant && measured_stages == 1 &&
        first == First::automatic && options.longest == 0 && !options.validates_segments &&
        !options.trusts_tables && !options.assumes_finite)
        return {};
    auto text =
        fmt::format("{} {} {} {} {} {} {} {} {}", stage.value_or(""), is_reproducible,
                    static_cast<int>(numbers), measured_stages, static_cast<int>(first), options.longest,
                    options.validates_segments, options.trusts_tables, options.assumes_finite);
    for (const auto& [name, value] : settings)
        text += fmt::format(" {}={}", name, value);
    return text;
}

KeptPlan::KeptPlan(PlanKey made_for, Plan made)
    : key(std::move(made_for)),
      plan(std::make_shared<Plan>(std::move(made))),
      num_segments(plan->state().sizes.sizes.num_segments)
{}

const std::string& KeptPlan::text() const
{
    const auto& state = plan->state();
    return state.program ? state.program->text : state.nothing;
}

void Fold::find_segments()
{
    found = std::make_shared<const Segments>(found_segments(segments, num_elements));
    segments = offsets(view_of(found->offsets));
}

std::shared_ptr<const KeptPlan> OperatorPlans::find(const PlanKey& key)
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(plans_, [&](const auto& kept) { return kept->key == key; });
    if (found == plans_.end())
        return nullptr;
    plans_.splice(plans_.begin(), plans_, found);
    return plans_.front();
}

std::shared_ptr<const KeptPlan> OperatorPlans::find_on_any_stream(PlanKey key)
{
    const std::lock_guard lock(mutex_);
    for (const auto& kept : plans_) {
        key.stream = kept->key.stream;
        if (key == kept->key)
            return kept;
    }
    return nullptr;
}

std::shared_ptr<const KeptPlan> OperatorPlans::find_similar(const PlanKey& key)
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
    std::shared_ptr<const KeptPlan> found;
    for (const auto& kept : plans_) {
        auto wanted = key;
        wanted.num_elements = kept->key.num_elements;
        wanted.num_entries = kept->key.num_entries;
        wanted.stream = kept->key.stream;
        wanted.longest = kept->key.longest;
        wanted.order_of_items = kept->key.order_of_items;
        if (wanted != kept->key || bits(kept->key) != bits(key))
            continue;
        if (is_alike(kept->key))
            return kept;
        if (!key.is_on_device && !found)
            found = kept;
    }
    return found;
}

void OperatorPlans::let_go(const std::list<std::shared_ptr<const KeptPlan>>& gone) const
{
    // A GPU may still use the memory of plans that are about to be destroyed.
    if (const auto* context = gone.empty() ? nullptr : backend_->context())
        context->synchronize();
}

void OperatorPlans::add(std::shared_ptr<const KeptPlan> plan)
{
    std::list<std::shared_ptr<const KeptPlan>> gone;
    {
        const std::lock_guard lock(mutex_);
        plans_.push_front(std::move(plan));
        std::size_t num_kept = 0;
        std::int64_t bytes = 0;
        auto first_gone = plans_.begin();
        for (; first_gone != plans_.end() && num_kept < kMost; ++first_gone, ++num_kept) {
            bytes += (*first_gone)->plan->scratch_bytes();
            if (num_kept > 0 && bytes > kMostScratchBytes)
                break;
        }
        gone.splice(gone.end(), plans_, first_gone, plans_.end());
    }
    let_go(gone);
}

void OperatorPlans::clear()
{
    std::list<std::shared_ptr<const KeptPlan>> gone;
    {
        const std::lock_guard lock(mutex_);
        gone.swap(plans_);
    }
    let_go(gone);
}

std::size_t OperatorPlans::size()
{
    const std::lock_guard lock(mutex_);
    return plans_.size();
}

std::optional<FoldAsks> OperatorPlans::asks(const std::string& scalars, std::uint64_t findings)
{
    const std::lock_guard lock(mutex_);
    const auto found = asks_.find(scalars);
    return found != asks_.end() && found->second.findings == findings ? std::optional(found->second)
                                                                      : std::nullopt;
}

void OperatorPlans::keep_asks(const std::string& scalars, const FoldAsks& known)
{
    constexpr std::size_t kMostAsks = 256;  // bounds the map if the scalars of each call differ
    const std::lock_guard lock(mutex_);
    if (asks_.size() >= kMostAsks && !asks_.contains(scalars))
        asks_.clear();
    asks_.insert_or_assign(scalars, known);
}

}  // namespace segfold
