#include "runtime/bench/agreement.h"

#include <fmt/format.h>

#include <cstring>

#include "dsl/rows.h"
#include "runtime/judge/reference.h"

namespace segfold::bench {
namespace {

/// Results of the host with those of the segments that a peer by key did not see, and in their segments'
/// places.
Results put_in_place(Results results, const Results& reference, const Filled& filled)
{
    if (filled.places == 0)
        return results;
    const auto places = filled.places_on_host();
    Results all;
    for (std::size_t f = 0; f < results.size(); ++f) {
        auto array = reference[f].array.copy();
        const auto size = size_bytes(array.type());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const auto segment = static_cast<std::size_t>(places[i]);
            std::memcpy(array.data() + segment * size,
                        results[f].array.data() + (filled.is_compacted ? i : segment) * size, size);
        }
        all.push_back({results[f].name, std::move(array)});
    }
    return all;
}

}  // namespace

double tolerance(Type type)
{
    switch (type) {
        case Type::f64:
            return 1e-9;
        case Type::f16:
            return 0.05;
        case Type::bf16:
            return 0.2;
        default:
            return 1e-3;
    }
}

Agreements::Agreements(const Workload& workload, PlacedWorkload& placed)
    : workload_(workload), placed_(placed), is_exact_(is_exact(workload.op))
{
    if (workload.segments.num_elements * workload.num_features <= kMostJudged)
        judge_ = std::make_unique<Judge>(workload);
}

Agreements::~Agreements() = default;

Agreement Agreements::check(const std::string& name, const Filled& filled)
{
    if (judge_)
        return against_reference(filled);
    if (!first_name_.empty())
        return against_first(filled);
    if (filled.is_by_key && filled.places != 0)
        return {false, true, "nothing to compare with"};
    first_name_ = name;
    placed_.keep_results();
    return {false, true, "the first, others are compared with it"};
}

Agreement Agreements::against_reference(const Filled& filled)
{
    auto results = placed_.results();
    if (filled.is_by_key)
        results = put_in_place(std::move(results), judge_->reference(), filled);
    const auto comparison = judge_->compare(results);
    return {true, comparison.agrees(), comparison.agrees() ? "reference" : print(comparison)};
}

Agreement Agreements::against_first(const Filled& filled)
{
    const auto count =
        filled.is_by_key ? filled.num_runs : workload_.segments.num_segments * workload_.num_features;
    const auto* values = has_rows(workload_.op) ? "numbers" : "segments";
    bool same_bits = true;
    const auto fields = returned_fields(workload_.op);
    for (std::size_t f = 0; f < fields.size(); ++f) {
        const auto& field = fields[f];
        const auto difference = placed_.difference(f, is_exact_ ? 0.0 : tolerance(field.type), filled);
        same_bits = same_bits && difference.bits == 0;
        // Of rows these are numbers, num_features for each segment or element.
        const auto first = difference.first / static_cast<unsigned long long>(workload_.num_features);
        if (difference.beyond != 0)
            return {true, false,
                    f + workload_.op.outputs.size() < fields.size()
                        ? fmt::format("{} of {} {} differ from {} in field {}, the first is segment {}",
                                      difference.beyond, count, values, first_name_, field.name, first)
                        : fmt::format("{} elements differ from {} in output {}, the first is element {}",
                                      difference.beyond, first_name_, field.name, first)};
    }
    return {true, true, first_name_ + (same_bits ? ", bit for bit" : ", within rounding")};
}

}  // namespace segfold::bench
