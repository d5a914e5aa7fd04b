// Streams through a device that works as late as possible: results, and the contents of memory over time.
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "runtime/data/formats/npy.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/scale/late_engine.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test::stream_pipeline_test {
namespace {

Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    options.asks_records = false;
    return Session(options);
}

class StreamPipeline : public testing::Test {
protected:
    /// Makes a stream with the plans of a GPU, in which the reference replaces the kernels.
    [[nodiscard]] std::unique_ptr<Stream> stream_of(const Operator& op, StreamInput input,
                                                    StreamOptions options, bool locks_sources = false)
    {
        return std::make_unique<Stream>(planner_, op, std::move(input), std::move(options),
                                        std::make_unique<LateEngine>(worker_, locks_sources));
    }

    static std::vector<std::vector<std::byte>> gathered(Stream& stream)
    {
        std::vector<std::vector<std::byte>> fields;
        stream.run([&](StreamResults&& results, const StreamState&) {
            if (results.results.keys)
                results.results.push_back({"keys", results.results.keys->copy()});
            fields.resize(results.results.size());
            for (std::size_t f = 0; f < fields.size(); ++f) {
                const auto& array = results.results[f].array;
                EXPECT_TRUE(array.owns_memory() || array.length() == 0);
                fields[f].insert(fields[f].end(), array.data(), array.data() + array.bytes());
            }
        });
        return fields;
    }

    Session planner_ = session_on("simt"), worker_ = session_on("reference");
};

TEST_F(StreamPipeline, EveryBoundGivesWhatOnePieceGives)
{
    std::size_t turn = 0;
    for (const auto& op : slice_operators())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : slice_segments(name, lengths)) {
                if (segments.form == SegmentForm::ranges ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                const auto workload = slice_workload(op, std::move(segments));
                const auto right = wanted(workload);
                for (const std::int64_t bytes : {1000, 3000, 100000}) {
                    StreamOptions options;
                    options.memory_bytes = bytes;
                    auto results = gathered(*stream_of(op, input_of(workload), options, turn++ % 2 == 0));
                    if (workload.segments.num_segments == 0)
                        results.clear();
                    ASSERT_EQ(results, right) << op.name << " over " << layout << " within " << bytes;
                }
            }
}

TEST_F(StreamPipeline, ReproducibleBitsAreTheSameForAnyBound)
{
    const std::vector<std::int64_t> lengths = {5, 4096, 4097, 300, 40000, 1, 8192, 31, 2, 20000};
    const auto workload =
        slice_workload(standard_operator("sum_f32"),
                       segments_from_offsets(index_array(offsets_of(lengths)), total(lengths)));
    std::vector<std::vector<std::byte>> right = wanted(workload);
    for (const std::int64_t bytes : {300000, 900000, 100000000}) {
        StreamOptions options;
        options.plan.is_reproducible = true;
        options.memory_bytes = bytes;
        // Sums of small integers are exact, so this tests the joins of blocks.
        EXPECT_EQ(gathered(*stream_of(workload.op, input_of(workload), options)), right) << bytes;
    }
}

/// Sources that several threads read, that one thread reads, that are files, and that provide their own
/// memory.
TEST_F(StreamPipeline, SourcesOfEveryKindAreReadThroughFewBuffers)
{
    const TemporaryFolder folder;
    const auto op = standard_operator("trace_u64");
    const std::int64_t kElements = 200003;
    const auto values = generate_values(Type::u64, kElements, 7, ValueRange::uniform);
    const auto path = folder.file("x.npy");
    write_npy(path, values);
    const auto sources = [&](int which) -> std::unique_ptr<ArraySource> {
        std::int64_t made = 0;
        switch (which) {
            case 0: return npy_source(path);
            case 1: return memory_source(values);
            case 2: return values_source(Type::u64, kElements, 7, ValueRange::uniform);
            default:
                return generated_source(
                    Type::u64,
                    [&values, made, which, kElements](Array& into) mutable {
                        if (which == 4)
                            into = Array(Type::u64, into.length());
                        const auto count =
                            std::min<std::int64_t>(std::ssize(into.as<std::uint64_t>()), kElements - made);
                        std::memcpy(into.data(), values.data() + made * 8,
                                    static_cast<std::size_t>(count) * 8);
                        made += count;
                        return count;
                    },
                    which == 3 ? std::optional(kElements) : std::nullopt);
        }
    };
    std::vector<std::vector<std::byte>> right;
    for (int which = 0; which < 5; ++which)
        for (const std::int64_t bytes : {40000, 700000, 8000000}) {
            StreamInput input;
            input.parameters.push_back(sources(which));
            StreamOptions options;
            options.memory_bytes = bytes;
            const auto stream = stream_of(op, std::move(input), options);
            const auto results = gathered(*stream);
            if (right.empty())
                right = results;
            EXPECT_EQ(results, right) << "source " << which << " within " << bytes;
            EXPECT_EQ(stream->num_elements(), kElements);
            EXPECT_GT(stream->timeline().slices, bytes > 1000000 ? 0 : 6);
        }
    Workload whole{op, {}, whole_segments(kElements)};
    whole.arrays.push_back(values.copy());
    EXPECT_EQ(right, wanted(whole));
}

/// A source whose array lies on the device.
class Resident : public ArraySource {
public:
    explicit Resident(Array array) : array_(std::move(array)) {}
    [[nodiscard]] Type type() const override { return array_.type(); }
    [[nodiscard]] std::optional<std::int64_t> length() const override
    {
        return static_cast<std::int64_t>(array_.length());
    }
    std::int64_t read(std::int64_t, Array&) override
    {
        ADD_FAILURE() << "what lies on the device is read";
        return 0;
    }
    [[nodiscard]] const std::byte* on_device(std::int64_t begin) const override
    {
        return array_.data() + static_cast<std::size_t>(begin) * size_bytes(array_.type());
    }
    [[nodiscard]] std::string where() const override { return "an array on the device"; }
    [[nodiscard]] std::string fingerprint() const override { return where(); }

private:
    Array array_;
};

TEST_F(StreamPipeline, ColumnsOnTheDeviceStayWhereTheyAre)
{
    const auto op = slice_operators()[2];  // an operator that uses every place
    const std::vector<std::int64_t> lengths = {0, 5, 3000, 0, 30, 1, 1, 900, 0};
    for (const auto& segments : {segments_from_offsets(index_array(offsets_of(lengths)), total(lengths)),
                                 whole_segments(5000), uniform_segments(5000, 20)}) {
        const auto workload = slice_workload(op, segments.copy());
        for (const std::int64_t bytes : {3000, 1000000}) {
            auto input = input_of(workload);
            input.parameters[0] = std::make_unique<Resident>(workload.arrays[0].copy());
            StreamOptions options;
            options.memory_bytes = bytes;
            EXPECT_EQ(gathered(*stream_of(op, std::move(input), options)), wanted(workload)) << bytes;
        }
    }
    StreamInput input;
    input.parameters.push_back(std::make_unique<Resident>(Array(Type::f32, 10)));
    EXPECT_THROW(Stream(worker_, standard_operator("sum_f32"), std::move(input), {}), InputError);
}

TEST_F(StreamPipeline, WrongOffsetsAreRefusedWhereTheyLie)
{
    const auto op = standard_operator("sum_f32");
    std::vector<std::int64_t> right(10001);
    for (std::size_t s = 0; s < right.size(); ++s)
        right[s] = static_cast<std::int64_t>(s) * 3;
    const auto message = [&](std::size_t at, std::int64_t value) {
        const auto workload = slice_workload(op, segments_from_offsets(index_array(right), right.back()));
        auto offsets = right;
        offsets[at] = value;
        const auto array = index_array(offsets);
        auto input = input_of(workload);
        input.segments.array = memory_source(array);
        StreamOptions options;
        options.memory_bytes = 20000;
        return message_of<InputError>([&] { (void)gathered(*stream_of(op, std::move(input), options)); });
    };
    EXPECT_EQ(message(4000, 12001), "nothing was thrown");
    for (const std::size_t at : {1, 2, 777, 5000, 9999})
        EXPECT_NE(message(at, right[at] - 5).find("offsets decrease at segment " + std::to_string(at - 1)),
                  std::string::npos)
            << message(at, right[at] - 5);
    EXPECT_NE(message(10000, 30001).find("there are 30000 elements"), std::string::npos)
        << message(10000, 30001);
    EXPECT_NE(message(10000, 29999).find("segments end at 29999"), std::string::npos)
        << message(10000, 29999);
}

TEST_F(StreamPipeline, ReadsOutsideOfTablesNameTheElement)
{
    const auto op = slice_operators()[5];  // an operator with a table
    auto workload = slice_workload(op, whole_segments(1000));
    workload.arrays[0].as<std::int32_t>()[633] = 1 << 20;
    StreamOptions options;
    options.memory_bytes = 4000;
    try {
        (void)gathered(*stream_of(op, input_of(workload), options));
        FAIL() << "nothing was thrown";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("in elements "), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("1048576"), std::string::npos) << error.what();
    }
}

TEST_F(StreamPipeline, EndsWhereReadingOrTakingFails)
{
    const TemporaryFolder folder;
    const auto op = standard_operator("sum_f32");
    const auto workload = slice_workload(op, uniform_segments(40000, 4));
    const auto path = folder.file("x.npy");
    write_npy(path, workload.arrays[0]);
    const auto input = [&] {
        StreamInput from;
        from.parameters.push_back(npy_source(path));
        from.segments = {LayoutKind::uniform, 4, nullptr};
        return from;
    };
    StreamOptions options;
    options.memory_bytes = 20000;
    struct Full {};
    const auto first = stream_of(op, input(), options);
    EXPECT_THROW(first->run([](StreamResults&&, const StreamState&) { throw Full(); }), Full);
    const auto second = stream_of(op, input(), options);
    int slices = 0;
    EXPECT_THROW(second->run([&](StreamResults&&, const StreamState&) {
        if (++slices == 1)
            std::filesystem::resize_file(path, 5000);
    }),
                 InputError);
    EXPECT_LT(slices, 6);
}

TEST_F(StreamPipeline, EndsWithTheWordsOfThePartThatCannotBeRead)
{
    for (const bool in_parallel : {false, true}) {
        StreamInput input;
        input.parameters.push_back(std::make_unique<HalfReadable>(in_parallel));
        input.segments = {LayoutKind::uniform, 4, nullptr};
        StreamOptions options;
        options.memory_bytes = 10000;
        const auto stream = stream_of(standard_operator("sum_f32"), std::move(input), options);
        std::int64_t segments = 0;
        try {
            stream->run(
                [&](StreamResults&& results, const StreamState&) { segments += results.num_segments; });
            FAIL() << "nothing was thrown";
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("/proc/self/mem"), std::string::npos) << error.what();
        }
        EXPECT_GT(segments, 0);
        EXPECT_LT(segments, 1000);
    }
}

TEST(Streams, ADamagedStateIsRefused)
{
    Session session({.backend = "reference"});
    const auto op = standard_operator("trace_u64");
    const auto workload = slice_workload(op, uniform_segments(3000, 30));
    StreamOptions options;
    options.memory_bytes = 20000;
    Stream stream(session, op, input_of(workload), options);
    std::vector<StreamState> states;
    stream.run([&](StreamResults&&, const StreamState& state) { states.push_back(state); });
    ASSERT_GT(states.size(), 2U);
    Stream other(session, op, input_of(workload), options);
    auto damaged = states[1];
    damaged.before[40] ^= std::byte{1};
    EXPECT_NE(message_of<InputError>([&] { other.go_to(damaged); }).find("damaged"), std::string::npos);
    auto of_two = states[1];
    of_two.before = states[2].before;
    EXPECT_NE(message_of<InputError>([&] { other.go_to(of_two); }).find("begin it anew"), std::string::npos);
    other.go_to(states[1]);
    std::size_t slices = 2;
    other.run([&](StreamResults&&, const StreamState& state) {
        EXPECT_EQ(state.before, states.at(slices++).before);
    });
    EXPECT_EQ(slices, states.size());
}

}  // namespace
}  // namespace segfold::test::stream_pipeline_test
