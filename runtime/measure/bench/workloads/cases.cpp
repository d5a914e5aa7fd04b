#include "runtime/measure/bench/workloads/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ranges>

#include "dsl/error.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/groups.h"
#include "runtime/judge/table_check.h"
#include "runtime/measure/bench/agreement.h"
#include "runtime/support/text_table.h"

namespace segfold::bench {
namespace {

bool is_made_up(const Layout& layout)
{
    return layout.kind == LayoutKind::whole || layout.kind == LayoutKind::uniform ||
           layout.kind == LayoutKind::generated;
}

Array first_of(const Array& array, std::int64_t length)
{
    Array part(array.type(), static_cast<std::size_t>(length));
    if (part.bytes() != 0)
        std::memcpy(part.data(), array.data(), part.bytes());
    return part;
}

void refuse_empty_segments(const Operator& op, const Layout& layout, const Segments& segments)
{
    if (!op.takes_empty_segments() && segments.num_segments != 0 && length_range(segments).shortest == 0)
        throw InputError(fmt::format("layout '{}' has empty segments, and operator {} has no identity; {}",
                                     print(layout), op.name, advice_on_empty_segments(op)));
}

}  // namespace

std::vector<Case> standard_cases(std::int64_t num_elements)
{
    std::vector<std::string> texts = {"whole"};
    for (const int length : {1, 2, 4, 7, 8, 16, 32, 64, 100, 128, 256, 512, 1024, 4096, 65536, 1048576})
        texts.push_back(fmt::format("uniform={}", length));
    for (const int length : {4, 32, 256, 4096})
        texts.push_back(fmt::format("constant:length={}", length));
    texts.push_back(fmt::format("constant:length={}", std::max<std::int64_t>(num_elements, 1)));
    for (const auto* text : {"geometric:mean=32", "poisson:mean=32", "zipf:exponent=1.9",
                             "lognormal:mean=3,sigma=1.2", "half_empty:mean=32", "giant:half"})
        texts.emplace_back(text);
    std::vector<Case> cases;
    for (const auto& text : texts)
        cases.push_back({parse_layout(text), num_elements});
    return cases;
}

std::vector<Case> size_cases(const Layout& layout, std::int64_t from, std::int64_t to)
{
    std::vector<Case> cases;
    for (std::int64_t size = 1; size <= to; size *= 2)
        if (size >= from)
            cases.push_back({layout, size});
    return cases;
}

double most_bytes(const Operator& op, const Layout& layout, std::int64_t num_elements,
                  std::int64_t num_features)
{
    constexpr double kKey = 4, kOffset = 8;
    double element = kKey, segment = kOffset + kKey;
    const auto features = static_cast<double>(num_features);
    for (const auto& parameter : op.parameters)
        element += static_cast<double>(size_bytes(parameter.type)) * (parameter.row ? features : 1);
    // Results count twice, because the first plan's results are kept for comparison.
    for (const auto& field : op.results)
        segment += 2 * static_cast<double>(size_bytes(field.type)) * features;
    for (const auto& field : op.outputs)
        element += 2 * static_cast<double>(size_bytes(field.type)) * features;
    const auto length = static_cast<double>(counted_length(layout, num_elements));
    return static_cast<double>(num_elements) * (element + segment / length);
}

std::int64_t counted_length(const Layout& layout, std::int64_t num_elements)
{
    if (layout.kind == LayoutKind::uniform)
        return layout.uniform_length;
    if (layout.kind == LayoutKind::whole)
        return std::max<std::int64_t>(num_elements, 1);
    return layout.kind == LayoutKind::generated && layout.distribution != "zipf" ? 4 : 1;
}

CaseData::CaseData(Timing& timing, const Operator& op, WorkloadRequest request)
    : timing_(timing),
      op_(op),
      request_(std::move(request)),
      num_features_(generated_features(op, request_.num_features)),
      shares_(request_.inputs.empty() && std::ranges::none_of(op.parameters, &Parameter::table))
{}

CaseData::Prepared CaseData::prepare(const Case& asked)
{
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    auto layout = seeded(asked.layout, request_.seed);
    auto elements = asked.num_elements;
    if (layout.kind == LayoutKind::uniform && elements) {
        *elements -= *elements % layout.uniform_length;
        if (*elements == 0)
            throw InputError(fmt::format("layout '{}': a segment has more than {}", print(layout),
                                         count_text(*asked.num_elements, "element")));
    }
    auto prepared = shares_ && elements && is_made_up(layout) ? prepare_shared(layout, *elements)
                                                              : prepare_own({layout, elements});
    timing_.synchronize();
    prepared.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return prepared;
}

CaseData::Prepared CaseData::prepare_own(const Case& asked)
{
    auto request = request_;
    request.layout = asked.layout;
    request.num_elements = asked.num_elements;
    Prepared prepared{make_workload(op_, request).workload, nullptr, 0, {}};
    // Checked here, because peers and folds on the host do not check table reads.
    check_tables(prepared.workload);
    prepared.inputs = timing_.load(borrowed(prepared.workload.arrays));
    for (const auto& array : prepared.workload.arrays)
        prepared.columns.push_back(array.data());
    return prepared;
}

CaseData::Prepared CaseData::prepare_shared(const Layout& layout, std::int64_t num_elements)
{
    Prepared prepared;
    prepared.workload.op = op_;
    prepared.workload.num_features = num_features_;
    auto segments = resolve(layout, num_elements).segments;
    if (segments.form == SegmentForm::groups)
        segments = GroupOrder(segments.numbers, segments.num_segments).take_segments();
    if (request_.index_bits)
        segments = with_index_bits(std::move(segments), *request_.index_bits);
    refuse_empty_segments(op_, layout, segments);
    provide(num_elements);
    if (num_elements * num_features_ <= kMostJudged)
        for (std::size_t i = 0; i < arrays_.size(); ++i)
            prepared.workload.arrays.push_back(first_of(arrays_[i], num_elements * width_of(i)));
    prepared.workload.segments = std::move(segments);
    prepared.inputs = loaded_;
    for (const auto& array : arrays_)
        prepared.columns.push_back(array.data());
    return prepared;
}

std::int64_t CaseData::width_of(std::size_t parameter) const
{
    return op_.parameters[parameter].row ? num_features_ : 1;
}

/// Makes all columns at least `num_elements` long. A value depends only on its index, so a shorter column is
/// a prefix of a longer one.
void CaseData::provide(std::int64_t num_elements)
{
    const auto suffices = [&](std::size_t i) {
        return static_cast<std::int64_t>(arrays_[i].length()) >= num_elements * width_of(i);
    };
    if (loaded_ && std::ranges::all_of(std::views::iota(std::size_t{0}, arrays_.size()), suffices))
        return;
    loaded_ = nullptr;
    arrays_.clear();
    std::map<std::string, Array> named;
    complete_arrays(op_, whole_segments(num_elements), {request_.seed, request_.values, num_features_},
                    named);
    for (const auto& parameter : op_.parameters)
        arrays_.push_back(std::move(named.at(parameter.name)));
    loaded_ = timing_.load(borrowed(arrays_));
}

}  // namespace segfold::bench
