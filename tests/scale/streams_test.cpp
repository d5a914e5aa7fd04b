// Streams: data that are read in parts give the results of one piece, stay within a bound on memory, and can
// be resumed.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dsl/error.h"
#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "runtime/judge/reference.h"
#include "runtime/scale/stream_output.h"
#include "runtime/support/files/file.h"
#include "tests/cli/cli_program.h"
#include "tests/common/message_of.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test::streams_test {
namespace {

Session session_of(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

Session reference_session() { return session_of("reference"); }

/// Runs a stream. Returns all results: the bytes of each field, then those of the keys.
std::vector<std::vector<std::byte>> gathered(Stream& stream)
{
    std::vector<std::vector<std::byte>> fields;
    stream.run([&](StreamResults&& results, const StreamState&) {
        if (results.results.keys)
            results.results.push_back({"keys", results.results.keys->copy()});
        fields.resize(results.results.size());
        for (std::size_t f = 0; f < fields.size(); ++f) {
            const auto& array = results.results[f].array;
            EXPECT_EQ(static_cast<std::int64_t>(array.length()), results.num_segments);
            fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
        }
    });
    return fields;
}

/// Streams take every layout except ranges. A slice in which no segment ends gives no results.
TEST(Streams, EveryBoundGivesWhatOnePieceGives)
{
    auto session = reference_session();
    for (const auto& op : slice_operators())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : slice_segments(name, lengths)) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                const auto workload = slice_workload(op, std::move(segments));
                const auto right = wanted(workload);
                for (const std::int64_t bytes : {150, 400, 1700, 100000}) {
                    StreamOptions options;
                    options.memory_bytes = bytes;
                    Stream stream(session, op, input_of(workload), options);
                    auto results = gathered(stream);
                    if (workload.segments.num_segments == 0)
                        results.clear();
                    ASSERT_EQ(results, right) << op.name << " over " << layout << " within " << bytes;
                }
            }
}

TEST(Streams, LengthsAreAdded)
{
    auto session = reference_session();
    const auto op = slice_operators()[2];
    const std::vector<std::int64_t> lengths = {0, 5, 0, 30, 1, 1, 0};
    const auto workload = slice_workload(op, segments_from_offsets(index_array(offsets_of(lengths)), 37));
    const auto array = index_array(lengths);
    StreamOptions options;
    options.memory_bytes = 300;
    Stream stream(session, op, input_of(workload, &array), options);
    EXPECT_EQ(gathered(stream), wanted(workload));
}

TEST(Streams, GeneratorsNeedNoLength)
{
    auto session = reference_session();
    const auto op = standard_operator("trace_u64");
    for (const std::int64_t n : {0, 1, 99, 100}) {
        std::int64_t made = 0;
        StreamInput input;
        input.parameters.push_back(generated_source(Type::u64, [&](Array& into) {
            std::int64_t count = 0;
            for (; count < std::ssize(into.as<std::uint64_t>()) && made < n; ++count, ++made)
                into.as<std::uint64_t>()[static_cast<std::size_t>(count)] =
                    static_cast<std::uint64_t>(made * made);
            return count;
        }));
        StreamOptions options;
        options.memory_bytes = 16 * 10;
        Stream stream(session, op, std::move(input), options);
        Workload workload{op, {}, whole_segments(n)};
        workload.arrays.emplace_back(Type::u64, static_cast<std::size_t>(n));
        for (std::int64_t i = 0; i < n; ++i)
            workload.arrays[0].as<std::uint64_t>()[static_cast<std::size_t>(i)] =
                static_cast<std::uint64_t>(i * i);
        EXPECT_EQ(gathered(stream), wanted(workload)) << n;
        EXPECT_EQ(stream.num_elements(), n);
    }
}

TEST(Streams, GeneratorsEndTogether)
{
    auto session = reference_session();
    const auto op = standard_operator("dot_f32");
    const auto ones = [](std::int64_t n) {
        return generated_source(Type::f32, [n](Array& into) mutable {
            const auto values = into.as<float>();
            const auto count = std::min<std::int64_t>(n, std::ssize(values));
            std::fill_n(values.begin(), count, 1.0F);
            n -= count;
            return count;
        });
    };
    for (const std::int64_t first : {0, 7, 8, 9, 16})
        for (const std::int64_t second : {0, 7, 8, 9, 16}) {
            StreamInput input;
            input.parameters.push_back(ones(first));
            input.parameters.push_back(ones(second));
            StreamOptions options;
            options.memory_bytes = 16 * 8;
            Stream stream(session, op, std::move(input), options);
            if (first == second)
                EXPECT_EQ(gathered(stream).size(), 1U);
            else
                EXPECT_THROW(gathered(stream), InputError) << first << " and " << second;
        }
}

TEST(Streams, SharesCoverEverythingOnce)
{
    auto session = reference_session();
    for (const auto& op : slice_operators())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : slice_segments(name, lengths)) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                const auto workload = slice_workload(op, std::move(segments));
                std::int64_t element = 0;
                for (std::int64_t part = 0; part < 4; ++part) {
                    Stream stream(session, op, input_of(workload), {});
                    const auto share = stream.share(part, 4);
                    if (workload.segments.num_elements != 0) {
                        EXPECT_EQ(share.from.element, element) << layout;
                    }
                    EXPECT_LE(share.from.open_begin, share.from.element) << layout;
                    element = share.until;
                }
                EXPECT_EQ(element, workload.segments.num_elements) << layout;
            }
}

TEST(Streams, ReproducibleBitsAreTheSameForAnyBound)
{
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 300, 40000, 1, 8192, 31, 2, 20000};
    SessionOptions session_options;
    session_options.backend = "simt";
    Session session(session_options);
    const auto op = standard_operator("log_sum_exp_f32");
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    std::vector<std::vector<std::byte>> once;
    for (const auto form : {SegmentForm::offsets, SegmentForm::flags}) {
        const auto workload = slice_workload(
            op, form == SegmentForm::offsets ? offsets.copy() : given_as(form, offsets), ValueRange::uniform);
        for (const std::int64_t bytes : {300000, 900000, 100000000}) {
            StreamOptions options;
            options.plan.is_reproducible = true;
            options.memory_bytes = bytes;
            Stream stream(session, op, input_of(workload), options);
            const auto results = gathered(stream);
            if (once.empty())
                once = results;
            EXPECT_EQ(results, once) << bytes << " bytes, " << name(form);
        }
    }
}

TEST(Streams, RefuseWhatCannotBe)
{
    auto session = reference_session();
    const auto op = standard_operator("sum_f32");
    const auto message = [&](StreamInput input, std::int64_t bytes) {
        return message_of<InputError>([&] {
            StreamOptions options;
            options.memory_bytes = bytes;
            Stream stream(session, op, std::move(input), options);
            (void)gathered(stream);
        });
    };
    const auto workload = slice_workload(op, segments_from_offsets(index_array({0, 40, 100}), 100));
    EXPECT_NE(message(input_of(workload), 3).find("leaves no room"), std::string::npos);
    const auto falling = index_array({0, 60, 40, 100});
    auto input = input_of(workload);
    input.segments.array = memory_source(falling);
    EXPECT_NE(message(std::move(input), 1000).find("decrease at segment 1"), std::string::npos);
    const auto shorter = index_array({0, 60, 90});
    input = input_of(workload);
    input.segments.array = memory_source(shorter);
    EXPECT_NE(message(std::move(input), 1000).find("segments end at 90"), std::string::npos);
    const auto longer = index_array({0, 60, 190});
    input = input_of(workload);
    input.segments.array = memory_source(longer);
    EXPECT_NE(message(std::move(input), 1000).find("ends at 190"), std::string::npos);
}

/// A wrong stage concerns the whole stream, so its error does not name the elements of a slice.
TEST(Streams, AWrongStageIsSaidOfTheWhole)
{
    auto session = session_of("simt");
    const auto op = standard_operator("sum_f32");
    for (const std::int64_t n : {0, 100}) {
        const auto message = [&](const std::string& stage, std::map<std::string, int> settings) {
            StreamOptions options;
            options.memory_bytes = 1000;
            options.plan.stage = stage;
            options.plan.settings = std::move(settings);
            return message_of<InputError>([&] {
                Stream stream(session, op, input_of(slice_workload(op, uniform_segments(n, 10))), options);
                (void)gathered(stream);
            });
        };
        if (n == 0) {  // nothing to fold, so no plan is made
            EXPECT_EQ(message("tile_skan", {}), "nothing was thrown");
            continue;
        }
        EXPECT_TRUE(message("tile_skan", {}).starts_with("unknown stage 'tile_skan'; "))
            << message("tile_skan", {});
        EXPECT_TRUE(message("tile_scan", {{"depth", 3}}).starts_with("stage tile_scan has no tunable"))
            << message("tile_scan", {{"depth", 3}});
        EXPECT_TRUE(message("run_tiles", {}).starts_with("run_tiles: takes segments given as keys"))
            << message("run_tiles", {});
    }
}

TEST(Streams, AFileThatShrinksIsRefusedAndNothingHasTheFinalName)
{
    const TemporaryFolder folder;
    auto session = reference_session();
    const auto op = standard_operator("sum_f32");
    const auto workload = slice_workload(op, uniform_segments(4000, 4));
    const auto path = folder.file("x.npy"), out = folder.file("out.npy");
    write_npy(path, workload.arrays[0]);
    const auto stream_of = [&](std::int64_t bytes) {
        StreamInput input;
        input.parameters.push_back(npy_source(path));
        input.segments = {LayoutKind::uniform, 4, nullptr};
        StreamOptions options;
        options.memory_bytes = bytes;
        return std::make_unique<Stream>(session, op, std::move(input), options);
    };
    const auto stream = stream_of(10000);
    StreamOutput output(op, out, {}, stream->fingerprint());
    int slices = 0;
    try {
        stream->run([&](StreamResults&& results, const StreamState& state) {
            output.take(results, state);
            if (++slices == 1)
                std::filesystem::resize_file(path, 5000);
        });
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("ends after"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_TRUE(std::filesystem::exists(out + ".partial"));
}

TEST(Streams, AnUnreadablePartIsRefusedAndNothingHasTheFinalName)
{
    const TemporaryFolder folder;
    auto session = reference_session();
    const auto op = standard_operator("sum_f32");
    const auto out = folder.file("out.npy");
    StreamInput input;
    input.parameters.push_back(std::make_unique<HalfReadable>(false));
    input.segments = {LayoutKind::uniform, 4, nullptr};
    StreamOptions options;
    options.memory_bytes = 10000;
    Stream stream(session, op, std::move(input), options);
    StreamOutput output(op, out, {}, stream.fingerprint());
    try {
        stream.run([&](StreamResults&& results, const StreamState& state) { output.take(results, state); });
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("Input/output error"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("/proc/self/mem"), std::string::npos) << error.what();
    }
    EXPECT_GT(output.num_segments(), 0);
    EXPECT_FALSE(std::filesystem::exists(out));
}

/// Returns the bytes of resident memory of this process.
std::int64_t resident_bytes()
{
    std::istringstream text(read_text("/proc/self/statm"));
    std::int64_t all = 0, resident = 0;
    text >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

TEST(Streams, MemoryStaysWithinTheBound)
{
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "memory that is freed stays with the sanitizer for a while";
#endif
    constexpr std::int64_t kElements = std::int64_t{1} << 22;  // 32 MiB
    auto session = reference_session();
    const auto op = standard_operator("trace_u64");
    const auto fold = [&](std::int64_t elements, std::int64_t bound) {
        StreamInput input;
        input.parameters.push_back(values_source(Type::u64, elements, 7, ValueRange::uniform));
        input.segments = {LayoutKind::uniform, 1 << 12, nullptr};
        StreamOptions options;
        options.memory_bytes = bound;
        Stream stream(session, op, std::move(input), options);
        std::int64_t most = 0;
        stream.run([&](StreamResults&&, const StreamState&) { most = std::max(most, resident_bytes()); });
        return most;
    };
    (void)fold(1 << 12, 1 << 20);
    // Freed memory may stay with the process, so each bound is larger than the bound before.
    const auto before = resident_bytes();
    for (const std::int64_t bound : {4 << 20, 8 << 20, 16 << 20}) {
        const auto taken = static_cast<double>(fold(kElements, bound) - before);
        EXPECT_LE(taken, 1.05 * static_cast<double>(bound));
        EXPECT_GE(taken, 0.5 * static_cast<double>(bound)) << "the stream's buffers are not seen";
    }
}

TEST(Streams, GoOnWhereTheyStopped)
{
    const TemporaryFolder folder;
    auto session = reference_session();
    const auto op = slice_operators()[2];  // an operator with all places and two result fields
    const std::vector<std::int64_t> lengths = {7, 900, 0, 0, 33, 1, 1, 2000, 0, 5};
    const auto offsets = segments_from_offsets(index_array(offsets_of(lengths)), total(lengths));
    const auto workload = slice_workload(op, offsets.copy());
    const auto out = folder.file("out.npy");
    struct Killed {};
    int run = 0;
    for (bool is_complete = false; !is_complete; ++run) {
        ASSERT_LT(run, 200);
        StreamOptions options;
        options.memory_bytes = 20000;
        Stream stream(session, op, input_of(workload), options);
        StreamOutput output(op, out, {}, stream.fingerprint());
        if (const auto state = output.resume())
            stream.go_to(*state);
        else
            EXPECT_EQ(run, 0);
        try {
            int slices = 0;
            stream.run([&](StreamResults&& results, const StreamState& state) {
                output.take(results, state);
                if (++slices == 2)
                    throw Killed();
            });
            output.commit();
            is_complete = true;
        } catch (const Killed&) {
            EXPECT_FALSE(std::filesystem::exists(folder.file("out.hash.npy")));
        }
    }
    EXPECT_GT(run, 3);
    const auto right = reduce_sequentially(workload);
    for (const auto& [name, array] : right) {
        const auto written = read_array(folder.file("out." + name + ".npy"));
        ASSERT_EQ(written.bytes(), array.bytes());
        EXPECT_EQ(std::memcmp(written.data(), array.data(), array.bytes()), 0) << name;
    }
    EXPECT_FALSE(std::filesystem::exists(out + ".resume"));
}

TEST(Streams, AreNotGoneOnWithByOtherArraysInMemory)
{
    const TemporaryFolder folder;
    auto session = reference_session();
    const auto op = standard_operator("count_above_f32");  // an operator with a column and a scalar
    const auto x = make_array<float>(Type::f32, {3, 1, 4, 1, 5});
    const auto stream_of = [&](float threshold, std::int64_t cut) {
        StreamInput input;
        input.parameters.push_back(memory_source(x));
        input.parameters.push_back(memory_source(make_array<float>(Type::f32, {threshold})));
        input.segments = {LayoutKind::offsets, 0, memory_source(index_array({0, cut, 5}))};
        return Stream(session, op, std::move(input), {});
    };
    const auto out = folder.file("out.npy");
    {
        auto stream = stream_of(2, 3);
        StreamOutput output(op, out, {}, stream.fingerprint());
        stream.run([&](StreamResults&& results, const StreamState& state) { output.take(results, state); });
    }  // not committed, like the output of a stopped run
    EXPECT_TRUE(StreamOutput(op, out, {}, stream_of(2, 3).fingerprint()).resume());
    for (const auto& [threshold, cut] : {std::pair(4.0F, 3), std::pair(2.0F, 1)}) {
        StreamOutput other(op, out, {}, stream_of(threshold, cut).fingerprint());
        EXPECT_NE(message_of([&] { (void)other.resume(); }).find("is of another run"), std::string::npos);
    }
}

TEST(Streams, ADamagedNoteIsRefusedAndNoJsonIsQuoted)
{
    const TemporaryFolder folder;
    const auto out = folder.file("out.npy");
    for (const auto* note : {"", "{\"stream\":", "{}", "[1]", "{\"stream\": 1}"}) {
        std::ofstream(out + ".resume") << note;
        StreamOutput output(standard_operator("sum_f32"), out, {}, "");
        const auto message = message_of([&] { (void)output.resume(); });
        EXPECT_TRUE(message.ends_with("begin anew without --resume")) << message;
        EXPECT_EQ(message.find("json"), std::string::npos) << message;
    }
}

TEST(Streams, FilesHaveTheNamesThatTheHelpSays)
{
    const ProgramFolder folder;
    write_npy(folder.file("x.npy"), make_array<float>(Type::f32, {3, 1, 4, 1, 5}));
    write_npy(folder.file("k.npy"), make_array<std::int16_t>(Type::i16, {1, 1, 2, 2, 2}));
    const auto example =
        std::string("segfold run mean --input x.npy --layout keys=k.npy --memory 2G --output m.npy");
    EXPECT_NE(folder.run({"help", "run"}).output.find(example + "      writes m.result.npy, m.keys.npy\n"),
              std::string::npos);
    const auto done = folder.run({"run", "mean", "--input", "x.npy", "--layout", "keys=k.npy", "--memory",
                                  "2G", "--output", "m.npy", "--backend", "reference"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_EQ(to_vector<double>(read_array(folder.file("m.result.npy"))).front(), 2.0);
    EXPECT_EQ(to_vector<std::int16_t>(read_array(folder.file("m.keys.npy"))),
              (std::vector<std::int16_t>{1, 2}));
    EXPECT_FALSE(std::filesystem::exists(folder.file("m.npy")));
}

TEST(Streams, TheProgramBoundsMemory)
{
    const ProgramFolder folder;
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.begin(), {"run", "sum", "--type", "i32", "--backend", "reference", "--elements",
                                     "30000", "--layout", "uniform=3"});
        return folder.run(words);
    };
    const auto in_one_piece = run({"--output", "whole.npy"});
    ASSERT_EQ(in_one_piece.exit_code, 0) << in_one_piece.errors;
    const auto bounded = run({"--memory", "16K", "--output", "bounded.npy"});
    ASSERT_EQ(bounded.exit_code, 0) << bounded.errors;
    const auto left = read_array(folder.file("whole.npy")), right = read_array(folder.file("bounded.npy"));
    ASSERT_EQ(left.bytes(), right.bytes());
    EXPECT_EQ(std::memcmp(left.data(), right.data(), left.bytes()), 0);
    const auto anew = run({"--memory", "16K", "--output", "bounded.npy", "--resume"});
    EXPECT_NE(anew.output.find("begun anew, as there was no bounded.npy.resume to go on with"),
              std::string::npos)
        << anew.output;
    EXPECT_NE(bounded.output.find("and 9992 more segments"), std::string::npos) << bounded.output;
    std::filesystem::create_symlink("/dev/full", folder.file("full.npy.partial"));
    const auto full = run({"--memory", "16K", "--output", "full.npy"});
    EXPECT_EQ(full.exit_code, 3) << full.errors;
    EXPECT_NE(full.errors.find("No space left on device"), std::string::npos) << full.errors;
    EXPECT_FALSE(std::filesystem::exists(folder.file("full.npy")));
    EXPECT_EQ(full.errors.find("--resume"), std::string::npos) << "nothing was written: " << full.errors;
    EXPECT_FALSE(std::filesystem::is_symlink(folder.file("full.npy.partial")));
    EXPECT_EQ(run({"--memory", "16K", "--output", "none/out.npy"}).exit_code, 2);
    const auto two = folder.run({"run", "argmax", "--memory", "1M", "--output", "two.npy"});
    EXPECT_EQ(two.exit_code, 0) << two.errors;
    EXPECT_TRUE(std::filesystem::exists(folder.file("two.value.npy")));
    EXPECT_EQ(run({"--memory", "lots"}).exit_code, 2);
    EXPECT_EQ(run({"--resume"}).exit_code, 2);
    EXPECT_EQ(run({"--memory", "1M", "--check"}).exit_code, 2);
}

}  // namespace
}  // namespace segfold::test::streams_test
