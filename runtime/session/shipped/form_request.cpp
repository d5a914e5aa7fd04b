#include "runtime/session/shipped/form_request.h"

#include <algorithm>

#include "dsl/layout.h"

namespace segfold {
namespace {

constexpr LayoutKind kBareKinds[] = {LayoutKind::whole,  LayoutKind::uniform, LayoutKind::offsets,
                                     LayoutKind::ranges, LayoutKind::lengths, LayoutKind::flags,
                                     LayoutKind::keys,   LayoutKind::groups,  LayoutKind::rows};
constexpr std::int64_t kUsualLength = 32;
constexpr std::int64_t kUsualSegments = std::int64_t{1} << 20;
constexpr std::int64_t kUsualGroups = 1000;

FormRequest request_for(SegmentForm form, std::int64_t length, bool is_given = false)
{
    const std::int64_t num_segments = form == SegmentForm::whole ? 1 : kUsualSegments;
    return {form, {kUsualSegments * length, num_segments}, is_given};
}

}  // namespace

FormRequest parse_form(const std::string& text, const Stage* asked)
{
    if (asked != nullptr && text.starts_with(name(LayoutKind::groups)) &&
        std::ranges::find(asked->forms, SegmentForm::groups) != asked->forms.end())
        return {SegmentForm::groups, {kUsualSegments * kUsualLength, kUsualGroups}};
    for (const auto kind : kBareKinds)
        if (text == name(kind))
            return request_for(form_of(kind), kUsualLength);
    if (std::ranges::find(distributions(), std::string_view(text), &Distribution::name) !=
        distributions().end())
        return request_for(SegmentForm::offsets, kUsualLength);
    const auto layout = parse_layout(text);
    const bool is_uniform = layout.kind == LayoutKind::uniform;
    // Limit the length. Stages compute sizes from it that must fit 64 bits, and longer segments would choose
    // the same stage.
    const auto length = std::min<std::int64_t>(layout.uniform_length, std::int64_t{1} << 32);
    return request_for(form_of(layout.kind), is_uniform ? length : kUsualLength, is_uniform);
}

}  // namespace segfold
