// Slices: with cuts anywhere, any operator over any layout gives the results of a fold in one piece.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dsl/check/rows.h"
#include "dsl/error.h"
#include "dsl/printer.h"
#include "runtime/judge/compare.h"
#include "runtime/judge/reference.h"
#include "runtime/scale/slices/sliced.h"
#include "runtime/session/core.h"
#include "tests/cli/cli_program.h"
#include "tests/common/message_of.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test::slices_test {
namespace {

Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

/// Returns where the bits of results differ; empty if they are equal.
std::string difference(const Results& results, const Results& wanted)
{
    for (std::size_t f = 0; f < wanted.size(); ++f) {
        const auto& array = results.at(f).array;
        const auto& right = wanted[f].array;
        if (array.length() != right.length())
            return results[f].name + " has " + std::to_string(array.length()) + " values";
        const auto width = size_bytes(right.type());
        for (std::size_t s = 0; s < right.length(); ++s)
            if (std::memcmp(array.data() + s * width, right.data() + s * width, width) != 0)
                return results[f].name + " of segment " + std::to_string(s);
    }
    return {};
}

/// Returns the cases for which an operator has results.
std::vector<SegmentCase> cases_for(const Operator& op)
{
    std::vector<SegmentCase> all;
    for (const auto& [name, lengths] : border_cases())
        for (auto& one : slice_segments(name, lengths)) {
            if (!op.allows_empty() && one.segments.num_segments > 0 &&
                length_range(one.segments).shortest == 0)
                continue;
            all.push_back(std::move(one));
        }
    return all;
}

TEST(Slices, AnyNumberOfThemGivesWhatOnePieceGives)
{
    auto session = session_on("reference");
    for (const auto& op : slice_operators())
        for (auto& [name, segments] : cases_for(op)) {
            const auto workload = slice_workload(op, std::move(segments));
            const auto wanted = reduce_sequentially(workload);
            for (std::int64_t slices = 1; slices <= 50; slices += slices < 9 ? 1 : 6) {
                FoldWishes options{1};
                options.num_slices = slices;
                const auto sliced = core(session).fold(workload, options);
                ASSERT_EQ(difference(sliced.results, wanted), "")
                    << op.name << " over " << name << " in " << slices << " slices";
            }
        }
}

TEST(Slices, SeveralDevicesShareThem)
{
    std::vector<Session> sessions;
    for (int i = 0; i < 3; ++i)
        sessions.push_back(session_on("reference"));
    std::vector<SessionCore*> devices;
    for (auto& session : sessions)
        devices.push_back(&core(session));
    for (const auto& op : slice_operators())
        for (auto& [name, segments] : cases_for(op)) {
            const auto workload = slice_workload(op, std::move(segments));
            FoldWishes options{1};
            options.num_slices = 7;
            ASSERT_EQ(
                difference(fold_in_slices(devices, workload, options).results, reduce_sequentially(workload)),
                "")
                << op.name << " over " << name;
        }
}

/// Folds each operator over another layout by emitted texts. Devices share the slices.
void expect_emitted_texts_take_places(const std::string& backend, std::size_t num_devices)
{
    auto session = session_on(backend), other = session_on(backend);
    std::vector<SessionCore*> devices = {&core(session), &core(other)};
    devices.resize(num_devices);
    constexpr std::array kForms = {SegmentForm::offsets, SegmentForm::flags, SegmentForm::ranges,
                                   SegmentForm::keys, SegmentForm::uniform};
    std::size_t turn = 0;
    for (const auto& op : slice_operators()) {
        const auto form = kForms[turn++ % kForms.size()];
        std::vector<std::int64_t> lengths = {0, 3, 40, 0, 0, 700, 1, 0, 256, 0};
        if (!op.allows_empty() || form == SegmentForm::flags || form == SegmentForm::keys)
            std::erase(lengths, 0);
        const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
        auto segments = form == SegmentForm::offsets   ? offsets.copy()
                        : form == SegmentForm::uniform ? uniform_segments(1000, 100)
                        : form == SegmentForm::ranges  ? overlapping_ranges(lengths)
                                                       : given_as(form, offsets);
        const auto workload = slice_workload(op, std::move(segments));
        FoldWishes options{1};
        options.num_slices = 5;
        const auto sliced = fold_in_slices(devices, workload, options);
        EXPECT_EQ(difference(sliced.results, reduce_sequentially(workload)), "")
            << op.name << " over " << name(form) << " on " << backend;
        EXPECT_TRUE(sliced.chosen.plan);
    }
}

TEST(Slices, EmittedCudaTakesPlaces) { expect_emitted_texts_take_places("simt", 2); }

TEST(Slices, EmittedCppTakesPlaces) { expect_emitted_texts_take_places("cpu", 1); }

TEST(Slices, MillionsOfSegmentsFitInOne)
{
    auto session = session_on("reference");
    const auto op = standard_operator("trace_u64");
    std::vector<std::int64_t> lengths(std::size_t{1} << 21, 1);
    lengths.front() = lengths.back() = 100000;
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    for (auto* form : {"offsets", "flags"}) {
        const auto workload = slice_workload(
            op, form == std::string("flags") ? given_as(SegmentForm::flags, offsets) : offsets.copy());
        FoldWishes options{1};
        options.num_slices = 3;
        EXPECT_EQ(difference(core(session).fold(workload, options).results, reduce_sequentially(workload)),
                  "")
            << form;
    }
}

TEST(Slices, PartsOutOfOrderAreRefusedOrSeen)
{
    const auto op = standard_operator("trace_u64");
    const auto workload = slice_workload(op, segments_from_offsets(index_array({0, 10, 90, 100}), 100));
    const auto wanted = reduce_sequentially(workload);
    auto session = session_on("reference");
    const SliceProblem problem{op, {}};
    SliceFolder folder(problem, slice_device(core(session)));
    const Slicer slicer(workload, 5);
    const auto joined = [&](const std::vector<std::int64_t>& order) {
        Partial all(folder.joining());
        for (const auto slice : order)
            all += folder.fold(slicer.slice(slice));
        all.require_whole();
        return all.take_results().results;
    };
    EXPECT_EQ(difference(joined({0, 1, 2, 3, 4}), wanted), "");
    EXPECT_EQ(difference(joined({0, 2, 1, 3, 4}), wanted), wanted[0].name + " of segment 1");
    EXPECT_THROW((void)joined({1, 0, 2, 3, 4}), InternalError);
    EXPECT_THROW((void)joined({1, 2, 3, 4}), InternalError);
    EXPECT_THROW((void)joined({0, 1, 2, 3}), InternalError);
}

TEST(Slices, AreAnOptionOfAFold)
{
    auto session = session_on("reference");
    const auto op = standard_operator("trace_u64");
    std::vector<std::uint64_t> values(1000);
    std::iota(values.begin(), values.end(), 3);
    const std::vector<std::int64_t> ends = {0, 0, 400, 410, 1000};
    const auto once = session.fold(op, {values}, offsets(ends));
    FoldOptions options;
    options.num_slices = 7;
    options.check = true;
    const auto sliced = session.fold(op, {values}, offsets(ends), options);
    EXPECT_EQ(difference(sliced.results(), once.results()), "");
    EXPECT_TRUE(sliced.agrees());
    options.num_slices = -1;
    EXPECT_THROW((void)session.fold(op, {values}, offsets(ends), options), InputError);
}

TEST(Slices, TheProgramCutsThem)
{
    const ProgramFolder folder;
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"run", "trace_u64", "--backend", "reference", "--elements", "30000",
                                     "--layout", "zipf:exponent=1.9"});
        return folder.run(words);
    };
    const auto sliced = run({"--slices", "9", "--check", "--json"});
    ASSERT_EQ(sliced.exit_code, 0) << sliced.errors;
    const auto document = nlohmann::json::parse(sliced.output);
    EXPECT_EQ(document.at("num_slices"), 9);
    EXPECT_EQ(document.at("agrees"), true);
    const auto shared = run({"--devices", "0,1,2", "--check", "--json"});
    ASSERT_EQ(shared.exit_code, 0) << shared.errors;
    EXPECT_EQ(nlohmann::json::parse(shared.output).at("num_slices"), 3);
    EXPECT_EQ(nlohmann::json::parse(shared.output).at("results"), document.at("results"));
    const auto all = run({"--devices", "all", "--json"});  // the reference has one device, the host
    ASSERT_EQ(all.exit_code, 0) << all.errors;
    EXPECT_EQ(nlohmann::json::parse(all.output).at("num_slices"), 1);
    EXPECT_EQ(run({"--slices", "0"}).exit_code, 2);
    EXPECT_EQ(run({"--devices", "0,0"}).exit_code, 2);
    EXPECT_EQ(run({"--devices", "0,x"}).exit_code, 2);
    EXPECT_EQ(run({"--slices", "2", "--explain"}).exit_code, 0);
}

TEST(Slices, WhatCannotBeCutIsRefusedInWords)
{
    auto session = session_on("reference");
    const auto message = [&](const Operator& op) {
        Workload workload{op, {}, uniform_segments(20, 5)};
        workload.num_features = has_rows(op) ? 2 : 1;
        workload.arrays.emplace_back(Type::f32, static_cast<std::size_t>(20 * workload.num_features));
        return message_of<InputError>([&] { (void)core(session).fold(workload, {2}); });
    };
    const auto rows = parse_operator("rows", R"(operator rows(x: row f32) -> f32 {
        state sum: f32 = 0
        lift x
        combine(a, b) a + b
    })");
    const auto skewed = parse_operator("skewed", R"(operator skewed(x: f32) -> f32 {
        state sum: f32
        lift x
        combine(a, b) a - b
    })");
    EXPECT_NE(message(rows).find("rows folds rows of features"), std::string::npos) << message(rows);
    const auto softmax = standard_operator("softmax_f32");
    EXPECT_NE(message(softmax).find("softmax maps elements"), std::string::npos) << message(softmax);
    EXPECT_NE(message(skewed).find("skewed is not associative"), std::string::npos) << message(skewed);

    const ProgramFolder folder;
    (void)folder.write("rows.seg", print(rows));
    (void)folder.write("skewed.seg", print(skewed));
    for (const auto& flags :
         {std::vector<std::string>{"--slices", "2"}, {"--devices", "0,1"}, {"--memory", "1M"}})
        for (const auto* op : {"softmax", "rows.seg", "skewed.seg"}) {
            std::vector<std::string> words = {"run", op, "--backend", "reference"};
            words.insert(words.end(), flags.begin(), flags.end());
            const auto refused = folder.run(words);
            EXPECT_EQ(refused.exit_code, 2) << op << flags[0] << refused.errors;
            EXPECT_NE(refused.errors.find("fold it in one piece"), std::string::npos) << refused.errors;
        }
}

TEST(Slices, AskedStageRunsInThem)
{
    auto session = session_on("simt");
    const auto op = standard_operator("trace_u64");
    const auto workload =
        slice_workload(op, segments_from_offsets(index_array({0, 100, 100, 900, 2000}), 2000));
    FoldWishes options{1};
    options.num_slices = 3;
    options.plan.stage = "warp_stream";
    const auto sliced = core(session).fold(workload, options);
    EXPECT_EQ(sliced.chosen.plan->stage->name, "warp_stream");
    EXPECT_EQ(difference(sliced.results, reduce_sequentially(workload)), "");
}

/// If slices cut every segment, the stage folds their pieces.
TEST(Slices, AskedStageRunsOnPiecesWhereThereIsNothingElse)
{
    const auto op = standard_operator("trace_u64");
    const auto run = [&](Segments segments, const std::string& stage, std::int64_t num_slices,
                         std::map<std::string, int> settings = {}) {
        auto session = session_on("simt");
        const auto workload = slice_workload(op, std::move(segments));
        FoldWishes options{1};
        options.num_slices = num_slices;
        options.plan.settings = std::move(settings);
        if (!stage.empty())
            options.plan.stage = stage;
        try {
            const auto plan = *core(session).fold(workload, options).chosen.plan;
            return plan.stage->name + " " + print(plan.emitted.configuration);
        } catch (const InputError& error) {
            return std::string(error.what());
        }
    };
    const auto one = [] { return segments_from_offsets(index_array({0, 2000}), 2000); };
    const std::string refused =
        "slices fold every segment in pieces, which are whole segments, and warp_stream: takes segments "
        "given as uniform, offsets, not as whole; stages that can serve: ";
    EXPECT_TRUE(run(one(), "warp_stream", 3).starts_with(refused)) << run(one(), "warp_stream", 3);
    EXPECT_TRUE(run(uniform_segments(2000, 1000), "warp_stream", 7).starts_with(refused));
    for (const std::int64_t slices : {1, 3})
        EXPECT_TRUE(run(whole_segments(2000), "warp_stream", slices).starts_with(refused));
    EXPECT_TRUE(run(one(), "warp_stream", 1).starts_with("warp_stream "));
    EXPECT_TRUE(
        run(one(), "tile_scan", 3, {{"block_threads", 64}}).starts_with("tile_scan block_threads=64"));
    EXPECT_TRUE(run(whole_segments(2000), "", 3, {{"block_threads", 128}}).find("block_threads=128") !=
                std::string::npos);
    EXPECT_TRUE(
        run(whole_segments(2000), "", 3, {{"block_threads", 48}}).find("block_threads cannot be 48") !=
        std::string::npos);
}

TEST(Slices, ReproducibleBitsAreTheSameForAnyNumber)
{
    // Segments shorter and longer than a block, and one over many blocks.
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 0, 300, 40000, 1, 8192, 31, 2, 20000};
    for (const auto* name : {"sum_f32", "mean_variance_f32", "log_sum_exp_f32"}) {
        const auto op = standard_operator(name);
        const auto workload = slice_workload(
            op, segments_from_offsets(index_array(offsets_of(lengths)), total(lengths)), ValueRange::uniform);
        auto session = session_on("simt"), other = session_on("simt");
        const std::vector<SessionCore*> devices = {&core(session), &core(other)};
        FoldWishes options{1};
        options.plan.is_reproducible = true;
        const auto once = core(session).fold(workload, options);
        EXPECT_TRUE(Judge(workload).compare(once.results).agrees()) << name;
        for (const std::int64_t slices : {2, 3, 4, 7, 19}) {
            options.num_slices = slices;
            EXPECT_EQ(difference(core(session).fold(workload, options).results, once.results), "")
                << name << " in " << slices << " slices";
        }
        EXPECT_EQ(difference(fold_in_slices(devices, workload, options).results, once.results), "")
            << name << " on two devices";
    }
}

TEST(Slices, ReproducibleFoldsKeepTheOrder)
{
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 300, 40000, 1, 8192, 31, 20000};
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    auto session = session_on("reference");
    for (const auto& op : slice_operators()) {
        const auto workload = slice_workload(op, offsets.copy());
        const auto wanted = reduce_sequentially(workload);
        FoldWishes options{1};
        options.plan.is_reproducible = true;
        for (const std::int64_t slices : {1, 2, 3, 7}) {
            options.num_slices = slices;
            EXPECT_EQ(difference(core(session).fold(workload, options).results, wanted), "")
                << op.name << " in " << slices << " slices";
        }
    }
}

TEST(Slices, ReadsOutsideOfTablesNameTheElement)
{
    auto session = session_on("reference");
    const auto op = slice_operators()[5];  // an operator with a table
    auto workload = slice_workload(op, whole_segments(100));
    workload.arrays[0].as<std::int32_t>()[63] = 1 << 20;
    FoldWishes options{1};
    options.num_slices = 5;
    try {
        (void)core(session).fold(workload, options);
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("63"), std::string::npos) << error.what();
    }
    options.num_slices = 0;
    EXPECT_THROW((void)core(session).fold(workload, options), InputError);
}

}  // namespace
}  // namespace segfold::test::slices_test
