#include "runtime/check/elements_to_go_round.h"

#include <algorithm>

#include "runtime/backends/launch_plan.h"
#include "runtime/check/smallest_configuration.h"

namespace segfold::regress {
namespace {

// Number of elements at which every bounded grid has its largest size.
constexpr std::int64_t kMany = std::int64_t{1} << 29;
constexpr std::int64_t kMeanLength = 16;
constexpr int kSizedMultiprocessors = 4;

std::vector<KernelLaunch> launches_of(const Emitted& emitted, std::int64_t num_elements)
{
    const auto length = emitted.form == SegmentForm::whole ? num_elements : kMeanLength;
    return plan_launches(emitted,
                         {.num_elements = num_elements,
                          .num_segments = num_elements / length,
                          .num_items = num_elements,
                          .uniform_length = length},
                         kSizedMultiprocessors)
        .launches;
}

std::int64_t elements_of(const Emitted& emitted, std::int64_t least, std::int64_t most)
{
    const auto many = launches_of(emitted, kMany), more = launches_of(emitted, 2 * kMany);
    const auto goes_round = [&](std::int64_t num_elements) {
        const auto now = launches_of(emitted, num_elements), half = launches_of(emitted, num_elements / 2);
        if (half.size() != many.size() || now.size() != many.size())
            return false;  // too few elements: some launch has no blocks
        for (std::size_t i = 0; i < many.size(); ++i)
            if (many[i].grid == more[i].grid ? half[i].grid < many[i].grid : now[i].grid < 2)
                return false;
        return true;
    };
    auto num_elements = least;
    while (num_elements < most && !goes_round(num_elements))
        num_elements += std::max<std::int64_t>(1, num_elements / 12);
    return std::min(num_elements, most);
}

}  // namespace

std::int64_t elements_to_go_round(const Stage& stage, const Problem& problem, const Catalogue& catalogue,
                                  std::int64_t least, std::int64_t most)
{
    auto needed = least;
    for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                            SegmentForm::ranges, SegmentForm::flags, SegmentForm::keys}) {
        auto formed = problem;
        formed.form = kernel_form(formed.op, form);
        if (catalogue.unmet(stage, formed))
            continue;
        const auto emitted = emit(formed, stage, smallest_configuration(stage, formed), catalogue);
        needed = std::max(needed, elements_of(emitted, needed, most));
    }
    return needed;
}

}  // namespace segfold::regress
