#include "runtime/session/deliver.h"

#include <fmt/format.h>

#include <cstring>

#include "dsl/error.h"
#include "runtime/session/apart.h"
#include "runtime/session/borrowed.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// Throws InputError if one of the caller's arrays is too short for its results or has another type.
void require_results(const Results& results, std::span<const MutableArrayView> into)
{
    if (into.size() != results.size())
        throw InputError(fmt::format("the operator has {}, and is given {} for its results",
                                     count_text(std::ssize(results), "result field"),
                                     count_text(std::ssize(into), "array")));
    for (std::size_t i = 0; i < into.size(); ++i) {
        const auto& [field, array] = results[i];
        const auto& target = into[i];
        require_type(fmt::format("the results of '{}'", field), target.type);
        if (target.type != array.type() || target.place != Place::host)
            throw InputError(fmt::format(
                "the results of '{}' are {} on the host, and the array for them holds {}{}", field,
                name(array.type()), name(target.type), target.place == Place::device ? " on a device" : ""));
        if (target.length < static_cast<std::int64_t>(array.length()))
            throw InputError(
                fmt::format("the results of '{}' are {}, and the array for them has room for {}", field,
                            count_text(static_cast<std::int64_t>(array.length()), "value"), target.length));
        require_address(fmt::format("the results of '{}'", field), target.data,
                        static_cast<std::int64_t>(array.length()));
    }
}

/// Throws InputError if two of the arrays that a fold writes share memory.
void require_apart_results(const FoldSizes& sizes, const SegmentsView& segments,
                           std::span<const MutableArrayView> into)
{
    SegmentsView told;
    told.found_keys = segments.found_keys;
    told.num_found = segments.num_found;
    require_apart({sizes.op,
                   {},
                   told,
                   into,
                   sizes.num_segments * sizes.num_features,
                   sizes.num_elements * sizes.num_features,
                   sizes.num_segments});
}

}  // namespace

void deliver(const Results& results, const FoldSizes& sizes, const Segments& found,
             const SegmentsView& segments, std::span<const MutableArrayView> into)
{
    if (!into.empty())
        require_results(results, into);
    require_apart_results(sizes, segments, into);
    store_found(found, segments);
    for (std::size_t i = 0; i < into.size(); ++i)
        if (const auto& array = results[i].array; array.bytes() != 0)
            std::memcpy(into[i].data, array.data(), array.bytes());
}

}  // namespace segfold
