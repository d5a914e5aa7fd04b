#include "runtime/session/apart.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/session/borrowed.h"
#include "runtime/support/text_table.h"

namespace segfold {
namespace {

/// Returns the number of bytes that two arrays share. Compares addresses as integers, because C++ does not
/// order pointers into different arrays.
std::int64_t shared_bytes(const Lent& a, const Lent& b)
{
    if (a.place != b.place || a.bytes <= 0 || b.bytes <= 0)
        return 0;
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data);
    const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data);
    const auto first = std::max(begin_a, begin_b);
    const auto end = std::min(begin_a + static_cast<std::uintptr_t>(a.bytes),
                              begin_b + static_cast<std::uintptr_t>(b.bytes));
    return end > first ? static_cast<std::int64_t>(end - first) : 0;
}

std::string text_of(const Lent& lent)
{
    return lent.name.empty() ? std::string(lent.what) : fmt::format("{} '{}'", lent.what, lent.name);
}

[[noreturn]] void refuse(const Lent& written, const Lent& other, std::string_view advice)
{
    throw InputError(fmt::format("{} share {} of memory with {}; {}", text_of(written),
                                 count_text(shared_bytes(written, other), "byte"), text_of(other), advice));
}

void require_unread(const Lent& written, const Lent& read)
{
    if (shared_bytes(written, read) != 0)
        refuse(written, read, "a run writes while it reads, so lend other memory for what it writes");
}

}  // namespace

void require_apart(const Lent& written, const Lent& other)
{
    if (shared_bytes(written, other) != 0)
        refuse(written, other, "lend each array that is written memory of its own");
}

void require_apart(const RunArrays& run)
{
    const auto& [op, inputs, segments, results, num_results, num_outputs, num_keys] = run;
    const auto num_fields = results.size() - op.outputs.size();
    const auto result = [&](std::size_t i) {
        const auto& field = i < num_fields ? op.results[i] : op.outputs[i - num_fields];
        return Lent("the results of", field.name, results[i], i < num_fields ? num_results : num_outputs);
    };
    const Lent found_keys("found_keys", "", segments.found_keys, is_lent(segments.found_keys) ? num_keys : 0);
    const Lent num_found("num_found", "", segments.num_found, is_lent(segments.num_found) ? 1 : 0);
    const auto require_written = [&](const Lent& written) {
        for (std::size_t i = 0; i < inputs.size(); ++i)
            require_unread(written, {"the elements of", op.parameters[i].name, inputs[i], inputs[i].length});
        for (const auto* array : {&segments.first, &segments.second})
            if (array->length != 0)
                require_unread(written, {"the array of", name(segments.kind), *array, array->length});
    };
    for (std::size_t i = 0; i < results.size(); ++i) {
        const auto written = result(i);
        require_written(written);
        require_apart(written, found_keys);
        require_apart(written, num_found);
        for (std::size_t j = 0; j < i; ++j)
            require_apart(written, result(j));
    }
    if (found_keys.bytes != 0)
        require_written(found_keys);
    if (num_found.bytes != 0)
        require_written(num_found);
    require_apart(found_keys, num_found);
}

}  // namespace segfold
