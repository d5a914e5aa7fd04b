#include "runtime/check/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/check/check_layouts.h"
#include "runtime/check/smallest_configuration.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/judge/table_check.h"
#include "runtime/judge/value_text.h"
#include "runtime/scale/ranks/thread_ranks.h"
#include "runtime/session/grouped/grouped_inputs.h"
#include "runtime/support/random.h"
#include "runtime/support/text_table.h"

namespace segfold::regress {
namespace {

constexpr std::array<std::int64_t, 16> kBorders = {1,   2,   31,  32,  33,  63,   64,   65,
                                                   127, 128, 129, 255, 256, 1023, 1024, 1025};
constexpr std::array<std::int64_t, 8> kUniformLengths = {1, 2, 7, 31, 32, 33, 64, 100};

/// Numbers of the random streams that generate the data. Relations use other numbers.
enum Stream : std::uint64_t { kLengths = 100, kUniform, kFirst };

Array index_array(const std::vector<std::int64_t>& values)
{
    return Array::of<std::int64_t>(Type::i64, values);
}

std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::int64_t> offsets(lengths.size() + 1, 0);
    std::partial_sum(lengths.begin(), lengths.end(), offsets.begin() + 1);
    return offsets;
}

bool same_bytes(const Array& left, const Array& right, std::int64_t i)
{
    const auto width = size_bytes(left.type());
    const auto at = static_cast<std::size_t>(i) * width;
    return std::memcmp(left.data() + at, right.data() + at, width) == 0;
}

}  // namespace

std::string_view name(Tiles tiles) { return tiles == Tiles::chosen ? "chosen" : "smallest"; }

Segments segments_of(SegmentForm form, const std::vector<std::int64_t>& lengths)
{
    const auto offsets = offsets_of(lengths);
    const auto n = offsets.back();
    if (form == SegmentForm::ranges)
        return segments_from_ranges(index_array({offsets.begin(), offsets.end() - 1}),
                                    index_array({offsets.begin() + 1, offsets.end()}), n);
    auto segments = segments_from_offsets(index_array(offsets), n);
    if (form == SegmentForm::groups)
        return scattered(segments, false);
    return form == SegmentForm::offsets ? std::move(segments) : given_as(form, segments);
}

const std::optional<Results>& Material::thrust(const UsableLaws& laws) const
{
    if (!thrust_) {
        const auto system = thrust_available(ThrustSystem::cuda) ? ThrustSystem::cuda : ThrustSystem::cpu;
        thrust_.emplace();
        if (laws.is_associative() && thrust_available(system) && thrust_objection(workload.op).empty())
            *thrust_ = reduce_by_key(judged(), system);
    }
    return *thrust_;
}

Trial::Trial(const Setting& setting, const Stage& stage, Tiles tiles, Materials& materials)
    : setting_(setting), stage_(stage), tiles_(tiles), materials_(materials)
{}

std::vector<SegmentForm> Trial::forms(std::initializer_list<SegmentForm> wanted) const
{
    std::vector<SegmentForm> served;
    for (const auto form : wanted) {
        Problem problem(setting_.op, form);
        problem.laws = setting_.laws;
        problem.target = setting_.backend.target();
        if (!setting_.catalogue.unmet(stage_, problem))
            served.push_back(form);
    }
    return served;
}

std::int64_t Trial::lot(std::uint64_t stream, std::int64_t bound) const
{
    const RandomSequence sequence(RandomSequence::derive_seed(setting_.seed, stream));
    return static_cast<std::int64_t>(sequence.at(0) %
                                     static_cast<std::uint64_t>(std::max<std::int64_t>(bound, 1)));
}

std::vector<std::int64_t> Trial::lengths(bool empties) const
{
    RandomSequence lots(RandomSequence::derive_seed(setting_.seed, kLengths));
    const auto below = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(lots() % static_cast<std::uint64_t>(bound));
    };
    const auto n = setting_.num_elements;
    std::vector<std::int64_t> lengths;
    if (lot(kFirst, 2) == 1)
        lengths.push_back(0);
    const std::int64_t giant_at = below(std::max<std::int64_t>(n / 2, 1));
    bool has_giant = false;
    for (std::int64_t at = 0; at < n;) {
        std::int64_t length = 0;
        const auto kind = below(20);
        if (!has_giant && at >= giant_at) {
            length = n / 4 + 1;
            has_giant = true;
        } else if (kind < 12) {
            length = 1 + below(kind < 8 ? 8 : 70);
        } else if (kind < 17) {
            length = kBorders[static_cast<std::size_t>(below(kBorders.size()))];
        } else {
            lengths.insert(lengths.end(), static_cast<std::size_t>(kind == 19 ? below(80) : 1), 0);
            continue;
        }
        lengths.push_back(std::min(length, n - at));
        at += lengths.back();
    }
    if (lot(kFirst, 3) == 1)
        lengths.push_back(0);
    if (!empties)
        std::erase(lengths, 0);
    return lengths;
}

std::int64_t Trial::border_length(std::uint64_t stream) const
{
    const auto place = static_cast<std::size_t>(lot(stream, kBorders.size()));
    return std::clamp<std::int64_t>(kBorders[place], 1, std::max<std::int64_t>(setting_.num_elements, 1));
}

Segments Trial::usual_segments(SegmentForm form) const { return usual_segments(form, setting_.op); }

Segments Trial::usual_segments(SegmentForm form, const Operator& op) const
{
    const auto n = setting_.num_elements;
    if (form == SegmentForm::whole)
        return whole_segments(n);
    if (form == SegmentForm::uniform) {
        const auto place = static_cast<std::size_t>(lot(kUniform, kUniformLengths.size()));
        const auto length = std::min(kUniformLengths[place], std::max<std::int64_t>(n, 1));
        return uniform_segments(n / length * length, length);
    }
    return segments_of(form, lengths(op.takes_empty_segments() && !is_found(form)));
}

const Material& Trial::material(const Operator& op, Segments segments, const std::string& key) const
{
    // A derived operator may have the same name as its original and differ only in finish, empty or outputs.
    auto full_key =
        fmt::format("{} {} {} {} {} {}", op.name, op.finish.has_value() || op.empty.has_value(),
                    op.outputs.size(), static_cast<int>(segments.form), segments.num_elements, key);
    auto& place = materials_[full_key];
    if (!place) {
        auto made = std::make_unique<Material>();
        made->workload.op = op;
        made->workload.arrays = setting_.make_arrays(op, segments, setting_.seed);
        made->workload.segments = std::move(segments);
        if (made->workload.segments.form == SegmentForm::groups)
            made->sorted = sorted_by_group(made->workload);
        made->judge = std::make_unique<Judge>(made->judged(),
                                              JudgeOptions{.is_associative = setting_.laws.is_associative()});
        place = std::move(made);
    }
    return *place;
}

const Emitted& Trial::emitted(const Workload& workload)
{
    const auto& op = workload.op;
    const auto& segments = workload.segments;
    Problem problem(op, kernel_form(op, segments.form), segments.index_bits());
    problem.checked_tables = unproved_tables(workload);
    problem.laws = setting_.laws;
    problem.target = setting_.backend.target();
    // Tables of states hold a number of groups, so the configurations of groups depend on it.
    const bool is_grouped = segments.form == SegmentForm::groups;
    const auto key =
        fmt::format("{} {} {} {} {}", static_cast<int>(segments.form), segments.index_bits(),
                    op.finish.has_value() || op.empty.has_value(), fmt::join(problem.checked_tables, ","),
                    is_grouped ? segments.num_segments : 0);
    const auto found = emitted_.find(key);
    if (found != emitted_.end())
        return found->second;
    const auto configuration = configuration_of(stage_, problem, is_grouped ? shape_of(workload) : Shape());
    return emitted_.emplace(key, emit(problem, stage_, configuration, setting_.catalogue)).first->second;
}

Configuration Trial::configuration_of(const Stage& stage, const Problem& problem, const Shape& shape) const
{
    return tiles_ == Tiles::smallest ? smallest_configuration(stage, problem, {}, shape)
                                     : default_configuration(stage, plan_facts(problem, shape));
}

Results Trial::run(const Workload& workload, const Circumstances& circumstances)
{
    const auto& segments = workload.segments;
    last_ = {segments.form, "", segments.num_elements, segments.num_segments, "", false};
    has_run_ = true;
    const auto& text = emitted(workload);
    last_.configuration = segfold::print(text.configuration);
    auto varied = circumstances;
    varied.scratch_poison = circumstances.scratch_poison.value_or(kScratchPoison);
    ++varied.round;  // simt draws no random schedule in round 0
    return setting_.backend.run(workload, &text, varied);
}

int Trial::num_ranks() const
{
    return setting_.ranks != nullptr ? setting_.ranks->size() : 1 + static_cast<int>(setting_.others.size());
}

std::string Trial::spread_text(Spread spread, std::int64_t count) const
{
    switch (spread) {
        case Spread::slices: return "in " + count_text(count, "slice");
        case Spread::devices:
            return fmt::format("in {} on {}", count_text(count, "slice"),
                               count_text(1 + std::ssize(setting_.others), "device"));
        default:
            return fmt::format("by {}, in slices of {} at most", count_text(num_ranks(), "rank"),
                               count_text(count, "element"));
    }
}

Results Trial::run_by_threads(const Workload& workload, const SpreadStage& how, std::int64_t slice_elements)
{
    std::vector<Backend*> devices = {&setting_.backend};
    devices.insert(devices.end(), setting_.others.begin(), setting_.others.end());
    Results of_first;
    run_thread_ranks(num_ranks(), [&](Communicator& threads) {
        AgreedRanks ranks(threads);
        const auto which = static_cast<std::size_t>(ranks.rank());
        auto results =
            run_by_ranks(ranks, rank_device_of(*devices[which], {.scratch_poison = kScratchPoison}), workload,
                         how, slice_elements);
        if (which == 0)
            of_first = std::move(results);
    });
    return of_first;
}

Results Trial::run_spread(const Workload& workload, Spread spread, std::int64_t count, bool is_reproducible)
{
    const auto& segments = workload.segments;
    last_ = {segments.form, spread_text(spread, count), segments.num_elements, segments.num_segments, "",
             false};
    has_run_ = true;
    OperatorLaws laws;
    laws.usable = setting_.laws;
    const SpreadStage how{
        laws, setting_.catalogue, stage_,
        [this](const Stage& stage, const Problem& problem) { return configuration_of(stage, problem); },
        is_reproducible};
    const Circumstances circumstances{.scratch_poison = kScratchPoison};
    if (spread == Spread::ranks && setting_.ranks == nullptr)
        return run_by_threads(workload, how, count);
    if (spread == Spread::ranks)
        return run_by_ranks(*setting_.ranks, rank_device_of(setting_.backend, circumstances), workload, how,
                            count);
    std::vector<SliceDevice> devices = {device_of(setting_.backend, circumstances)};
    if (spread == Spread::devices)
        for (auto* other : setting_.others)
            devices.push_back(device_of(*other, circumstances));
    return run_sliced(devices, workload, how, count);
}

Breach Trial::breach(std::string text) const
{
    Breach breach = last_;
    breach.text = std::move(text);
    return breach;
}

std::optional<Breach> Trial::breach(const Comparison& comparison)
{
    if (comparison.agrees()) {
        if (unjudged_.empty() && comparison.num_unjudged != 0)
            unjudged_ = fmt::format("against {}: {}", comparison.against, print_unjudged(comparison));
        return std::nullopt;
    }
    return breach(fmt::format("against {}: {}", comparison.against, print(comparison)));
}

std::optional<Breach> Trial::unequal_bits(const Results& results, const Results& usual,
                                          const std::string& what) const
{
    std::int64_t num_places = 0, num_wrong = 0, first = 0;
    for (std::size_t f = 0; f < results.size(); ++f) {
        const auto count = static_cast<std::int64_t>(results[f].array.length());
        const auto usual_count = static_cast<std::int64_t>(usual[f].array.length());
        if (count != usual_count)
            return breach(
                fmt::format("{} {}, {} otherwise", count_text(count, "segment"), what, usual_count));
        num_places = std::max(num_places, count);
    }
    // Running results have one value per element; results of a fold have one value per segment.
    const auto* place_name = setting_.op.outputs.empty() ? "segment" : "place";
    std::string fields;
    for (std::int64_t place = 0; place < num_places; ++place) {
        std::string differences;
        for (std::size_t f = 0; f < results.size(); ++f)
            if (std::cmp_less(place, results[f].array.length()) &&
                !same_bytes(results[f].array, usual[f].array, place))
                differences += fmt::format("{}{} is {} {}, {} otherwise", differences.empty() ? "" : "; ",
                                           results[f].name, value_text(results[f].array, place), what,
                                           value_text(usual[f].array, place));
        if (differences.empty())
            continue;
        if (num_wrong++ == 0) {
            first = place;
            fields = differences;
        }
    }
    if (num_wrong == 0)
        return std::nullopt;
    return breach(fmt::format("{} of {} {}s differ in their bits, the first one: {} {}: {}", num_wrong,
                              num_places, place_name, place_name, first, fields));
}

}  // namespace segfold::regress
