#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/judge/compare.h"

namespace segfold {
namespace {

std::string place_of(const ComparedSegment& segment)
{
    const std::int64_t length = segment.end - segment.begin;
    if (length == 0)
        return fmt::format("segment {} (empty, at element {})", segment.segment, segment.begin);
    if (length == 1)
        return fmt::format("segment {} (element {}, length 1)", segment.segment, segment.begin);
    return fmt::format("segment {} (elements {} to {}, length {})", segment.segment, segment.begin,
                       segment.end - 1, length);
}

std::string digits_text(double digits)
{
    return digits < 0.05 ? "no digit" : fmt::format("{:.1f} digits", digits);
}

bool is_wrong(const ComparedField& field) { return field.wrong; }
bool is_overflowed(const ComparedField& field) { return field.overflowed; }
bool is_unjudged(const ComparedField& field) { return field.unjudged(); }

/// Describes the fields that `marked` accepts, or all fields if it accepts none: "mean is 3.25, reference
/// says 3.5, bound 2.1e-06".
std::string fields_of(const ComparedSegment& segment, const Comparison& comparison,
                      bool (&marked)(const ComparedField&) = is_wrong)
{
    const bool any_marked = std::ranges::any_of(segment.fields, marked);
    std::string text;
    for (const auto& field : segment.fields) {
        if (any_marked && !marked(field))
            continue;
        text += text.empty() ? "" : "; ";
        text += fmt::format("{} is {}", field.name, field.actual);
        if (!field.other.empty())
            text += fmt::format(", {} says {}", comparison.against, field.other);
        const bool other_only = comparison.bit_for_bit && comparison.against != "the reference";
        text += fmt::format(", {} says {}", other_only ? comparison.against : "reference", field.expected);
        if (field.bound && std::isfinite(*field.bound))
            text += fmt::format(", bound {:.2g}", *field.bound);
        if (field.digits_left)
            text += fmt::format(": the data leave {}", digits_text(*field.digits_left));
    }
    return text;
}

std::string elements_of(const ComparedSegment& segment)
{
    std::string text;
    for (const auto& elements : segment.elements) {
        text += fmt::format("\n    {}: {}", elements.column, fmt::join(elements.first, ", "));
        if (!elements.last.empty())
            text += fmt::format(", ..., {}", fmt::join(elements.last, ", "));
    }
    return text;
}

/// Returns the number of segments that could be judged.
std::int64_t num_judged(const Comparison& comparison)
{
    return comparison.num_segments - comparison.num_overflowed - comparison.num_unjudged;
}

/// Returns how many of the judged segments agree, as text.
std::string agreement(const Comparison& comparison)
{
    const auto judged = num_judged(comparison);
    const auto segments = comparison.num_segments == 1 ? std::string("the segment agrees")
                          : comparison.is_judged()
                              ? fmt::format("all {} segments agree", judged)
                              : fmt::format("{} of {} segments {}", judged, comparison.num_segments,
                                            judged == 1 ? "agrees" : "agree");
    if (comparison.bit_for_bit)
        return fmt::format("{} with {} bit for bit", segments, comparison.against);
    const bool with_other = comparison.against != "the reference";
    const auto with =
        with_other ? comparison.against + ", within bounds of the reference" : comparison.against;
    if (!comparison.worst)
        return fmt::format("{} with {}, each within 4 ulp", segments, with);
    return fmt::format("{} with {}; the largest error is {:.2g} of its bound, in {}: {}", segments, with,
                       comparison.worst->ratio, place_of(*comparison.worst),
                       fields_of(*comparison.worst, comparison));
}

}  // namespace

/// Returns a sentence such as "nothing can be said of segment 3 (...): result is inf, reference says 3e+38;
/// values on the way overflow, ...".
std::string print_overflow(const Comparison& comparison)
{
    if (!comparison.first_overflowed)
        return "";
    const auto& first = *comparison.first_overflowed;
    const auto others = comparison.num_overflowed - 1;
    return fmt::format(
        "nothing can be said of {}{}: {}; values on the way overflow, or are undefined, in some "
        "order of combining",
        place_of(first),
        others == 0   ? ""
        : others == 1 ? " and another one"
                      : fmt::format(" and {} others", others),
        fields_of(first, comparison, is_overflowed));
}

std::string print_unjudged(const Comparison& comparison)
{
    if (!comparison.first_unjudged)
        return "";
    const auto& first = *comparison.first_unjudged;
    const auto fields = fields_of(first, comparison, is_unjudged);
    if (comparison.num_unjudged == 1)
        return fmt::format("{} cannot be judged: {}", place_of(first), fields);
    return fmt::format("{} of {} segments cannot be judged, the first one is {}: {}", comparison.num_unjudged,
                       comparison.num_segments, place_of(first), fields);
}

std::string unsaid_in_brief(const Comparison& comparison)
{
    const auto count = comparison.num_overflowed + comparison.num_unjudged;
    if (count == 0)
        return "";
    return comparison.num_segments == 1
               ? "the segment cannot be judged"
               : fmt::format("{} of {} segments cannot be judged", count, comparison.num_segments);
}

std::string print(const Comparison& comparison)
{
    if (comparison.agrees()) {
        std::vector<std::string> parts;
        if (num_judged(comparison) > 0 || comparison.is_judged())
            parts.push_back(agreement(comparison));
        for (auto part : {print_unjudged(comparison), print_overflow(comparison)})
            if (!part.empty())
                parts.push_back(std::move(part));
        return fmt::format("{}", fmt::join(parts, "; "));
    }
    std::string text = comparison.culprit.empty() ? "" : comparison.culprit + ": ";
    text += comparison.num_segments == 1
                ? std::string("the segment is wrong:")
                : fmt::format("{} of {} segments {} wrong, the first one:", comparison.num_wrong,
                              comparison.num_segments, comparison.num_wrong == 1 ? "is" : "are");
    const auto& first = *comparison.first_wrong;
    text += fmt::format("\n{}: {}", place_of(first), fields_of(first, comparison)) + elements_of(first);
    const auto& worst = comparison.worst;
    if (!worst || worst->segment == first.segment)
        return text;
    text += std::isfinite(worst->ratio)
                ? fmt::format("\nthe worst one, off by {:.2g} times its bound:", worst->ratio)
                : std::string("\nthe worst one:");
    return text + fmt::format("\n{}: {}", place_of(*worst), fields_of(*worst, comparison)) +
           elements_of(*worst);
}

}  // namespace segfold
