// Running results of streams: slices of any size give those of one piece, in files and in calls.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "dsl/error.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/scale/fold_stream.h"
#include "runtime/scale/stream_output.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/scale/scan_cases.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test::scan_streams_test {
namespace {

Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

/// Runs a stream. Returns the bytes of each result, of each output, then of the keys. A scan from the end
/// gives the last slice first.
std::vector<std::vector<std::byte>> gathered(Stream& stream)
{
    std::vector<std::vector<std::byte>> fields;
    std::int64_t num_elements = 0;
    const bool is_reverse = stream.op().scan->reverse;
    stream.run([&](StreamResults&& results, const StreamState& state) {
        if (is_reverse)
            EXPECT_EQ(results.first_element + results.num_elements, *stream.num_elements() - num_elements);
        else
            EXPECT_EQ(results.first_element, num_elements);
        num_elements += results.num_elements;
        EXPECT_EQ(state.place.element, results.first_element + results.num_elements);
        for (const auto& [name, array] : results.results)
            EXPECT_EQ(static_cast<std::int64_t>(array.length()), results.num_segments) << name;
        for (const auto& [name, array] : results.running)
            EXPECT_EQ(static_cast<std::int64_t>(array.length()), results.num_elements) << name;
        auto& all = results.results;
        std::ranges::move(results.running, std::back_inserter(all));
        if (all.keys)
            all.push_back({"keys", all.keys->copy()});
        fields.resize(all.size());
        for (std::size_t f = 0; f < fields.size(); ++f)
            fields[f].insert(is_reverse ? fields[f].begin() : fields[f].end(), all[f].array.data(),
                             all[f].array.data() + all[f].array.bytes());
    });
    EXPECT_EQ(stream.num_elements(), num_elements);
    return fields;
}

void expect_one_piece(Session& session, const Workload& workload, std::int64_t bytes, const std::string& what)
{
    StreamOptions options;
    options.memory_bytes = bytes;
    Stream stream(session, workload.op, input_of(workload), options);
    auto results = gathered(stream);
    if (workload.segments.num_segments == 0)
        results.clear();
    EXPECT_EQ(results, wanted(workload)) << workload.op.name << " over " << what << " within " << bytes;
}

TEST(ScanStreams, EveryBoundGivesWhatOnePieceGives)
{
    auto session = session_on("reference");
    for (const auto& op : streamed_scans())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : scan_segments(op, name, lengths)) {
                if (segments.form == SegmentForm::ranges)
                    continue;
                const auto workload = slice_workload(op, std::move(segments));
                for (const std::int64_t bytes : {250, 700, 2500, 100000})
                    expect_one_piece(session, workload, bytes, layout);
            }
}

TEST(ScanStreams, EmittedTextsGoOn)
{
    const auto operators = streamed_scans();
    for (const auto* backend : {"simt", "cpu"}) {
        auto session = session_on(backend);
        std::size_t turn = 0;
        for (std::size_t i = 0; i < operators.size(); i += 2) {
            const auto& op = operators[i];
            auto cases = scan_segments(op, "mixed", {0, 3, 40, 0, 0, 700, 1, 0, 256, 0});
            std::erase_if(cases, [](const auto& one) { return one.segments.form == SegmentForm::ranges; });
            auto& [layout, segments] = cases[turn++ % cases.size()];
            expect_one_piece(session, slice_workload(op, std::move(segments)), 10000, layout);
        }
    }
}

TEST(ScanStreams, SayWhatIsNotReadFromTheEnd)
{
    auto session = session_on("reference");
    const auto op = scanned(standard_operator("sum_i32"), {false, true});
    const auto workload = slice_workload(op, uniform_segments(10, 5));
    const auto message = [&](StreamInput&& input, const Operator& of) {
        return message_of<InputError>([&] { const Stream stream(session, of, std::move(input), {}); });
    };
    auto input = input_of(workload);
    input.parameters[0] = generated_source(
        Type::i32, [](Array& into) { return static_cast<std::int64_t>(into.length()); }, 10);
    EXPECT_EQ(message(std::move(input), op),
              "operator sum scans segments from their end, and column 'x' is read from its begin alone, as a "
              "pipe or an iterator is; give a file or an array in memory");
    auto both = op;
    both.keeps_results = true;
    EXPECT_EQ(message(input_of(workload), both),
              "operator sum scans segments from their end and has results of segments, and a stream that is "
              "read from its end gives running results alone; fold it in one piece: without --slices, "
              "--devices, --memory and other ranks");
    Stream stream(session, op, input_of(workload), {});
    EXPECT_EQ(message_of<InputError>([&] { stream.go_to({}); }),
              "operator sum scans segments from their end, and a stream goes on with later elements alone; "
              "begin it anew");
}

/// Slices are written at their places, the last one first.
TEST(ScanStreams, WriteFilesFromTheEnd)
{
    const TemporaryFolder folder;
    auto session = session_on("reference");
    const auto op = scanned(standard_operator("affine_u32"), {true, true});
    const auto workload = slice_workload(
        op, given_as(SegmentForm::keys, segments_from_offsets(index_array({0, 3, 90, 91, 200}), 200)));
    const auto right = reduce_sequentially(workload);
    for (const std::string ending : {"npy", "npz"}) {
        StreamOptions options;
        options.memory_bytes = 2500;
        Stream stream(session, op, input_of(workload), options);
        const auto out = folder.file("out." + ending);
        StreamOutput output(op, out, workload.segments.keys->type(), stream.fingerprint(),
                            Unfinished::removed);
        int slices = 0;
        stream.run([&](StreamResults&& results, const StreamState&) {
            output.put(results);
            ++slices;
        });
        output.commit();
        EXPECT_GT(slices, 3);
        const auto expect = [&](const std::string& name, const Array& wanted) {
            const auto written =
                read_array(ending == "npy" ? folder.file("out." + name + ".npy") : out + ":" + name);
            ASSERT_EQ(written.bytes(), wanted.bytes()) << name;
            EXPECT_EQ(std::memcmp(written.data(), wanted.data(), wanted.bytes()), 0) << name;
        };
        for (const auto& [name, array] : right)
            expect(name, array);
        if (ending == "npz")
            expect("keys", *workload.segments.keys);
    }
}

/// The library hands on results of segments and running results together.
TEST(ScanStreams, ComeOutOfTheLibrarysCall)
{
    auto session = session_on("reference");
    const auto op = parse_operator("scans", R"(operator both(x: i64) -> (total: i64, each running: i64) {
        state s: i64 = 0
        lift x
        combine(a, b) a + b
        scan(before, through) through
    })");
    std::vector<std::int64_t> values(1000);
    std::iota(values.begin(), values.end(), -30);
    std::vector<std::int64_t> totals, running;
    const auto take = [&](const Folded& part, std::int64_t first_segment) {
        EXPECT_EQ(first_segment, std::ssize(totals));
        const auto ended = part.values<std::int64_t>("total"), next = part.values<std::int64_t>("running");
        totals.insert(totals.end(), ended.begin(), ended.end());
        running.insert(running.end(), next.begin(), next.end());
    };
    FoldStreamOptions options;
    options.memory_bytes = 5000;
    const auto streamed = fold_stream(session, op, {values}, uniform(250), options, take);
    EXPECT_EQ(streamed.elements, 1000);
    EXPECT_EQ(streamed.segments, 4);
    const auto once = session.fold(op, {values}, uniform(250));
    EXPECT_TRUE(std::ranges::equal(totals, once.values<std::int64_t>("total")));
    EXPECT_TRUE(std::ranges::equal(running, once.values<std::int64_t>("running")));
    // The first parts end no segment, and have running results all the same.
    options.memory_bytes = 500;
    int parts = 0;
    (void)fold_stream(session, op, {values}, uniform(250), options, [&](const Folded& part, std::int64_t) {
        parts += part.num_segments() == 0 ? 1 : 0;
        EXPECT_FALSE(part.values<std::int64_t>("running").empty());
    });
    EXPECT_GT(parts, 10);
}

/// A run that is killed after each second slice goes on with the state of the open segment.
TEST(ScanStreams, GoOnFromFiles)
{
    struct Killed {};
    const TemporaryFolder folder;
    auto session = session_on("reference");
    const auto op = forward_scans().at(5);
    ASSERT_TRUE(op.keeps_results && op.outputs.size() == 2);
    const auto workload = slice_workload(op, segments_from_offsets(index_array({0, 3, 3, 90, 91, 200}), 200));
    const auto right = reduce_sequentially(workload);
    for (const std::string ending : {"npy", "npz"}) {
        const auto out = folder.file("out." + ending);
        bool is_complete = false;
        int run = 0;
        for (; !is_complete && run < 100; ++run) {
            StreamOptions options;
            options.memory_bytes = 2500;
            Stream stream(session, op, input_of(workload), options);
            StreamOutput output(op, out, {}, stream.fingerprint());
            if (const auto state = output.resume())
                stream.go_to(*state);
            try {
                int slices = 0;
                stream.run([&](StreamResults&& results, const StreamState& state) {
                    output.take(results, state);
                    if (++slices == 2)
                        throw Killed();
                });
                output.commit();
                is_complete = true;
            } catch (const Killed&) {}
        }
        EXPECT_GT(run, 3);
        for (const auto& [name, array] : right) {
            const auto written =
                read_array(ending == "npy" ? folder.file("out." + name + ".npy") : out + ":" + name);
            ASSERT_EQ(written.bytes(), array.bytes()) << name;
            EXPECT_EQ(std::memcmp(written.data(), array.data(), array.bytes()), 0) << name;
        }
    }
}

}  // namespace
}  // namespace segfold::test::scan_streams_test
