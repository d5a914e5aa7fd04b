// The files that a stream leaves on a full disk, and resuming from them.
#include "runtime/scale/stream_output.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/data/formats/npz.h"
#include "runtime/scale/stream.h"
#include "tests/common/files.h"
#include "tests/scale/stream_cases.h"

namespace segfold::test::stream_output_test {
namespace {

/// Limits the size of files, as a full disk does.
class SmallDisk {
public:
    explicit SmallDisk(rlim_t bytes)
    {
        getrlimit(RLIMIT_FSIZE, &known_);
        const rlimit small = {bytes, known_.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
    }
    ~SmallDisk()
    {
        setrlimit(RLIMIT_FSIZE, &known_);
        (void)std::signal(SIGXFSZ, before_);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

private:
    rlimit known_ = {};
    // Without this the signal of the limit would end the process.
    void (*before_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

class StreamOutputTest : public testing::Test {
protected:
    StreamOutputTest() : workload_(slice_workload(op_, uniform_segments(10000, 4)))
    {
        SessionOptions options;
        options.backend = "reference";
        session_.emplace(options);
    }

    [[nodiscard]] StreamOutput output() const { return {op_, out_, {}, "the stream"}; }

    /// Runs the stream to its end, or until the disk is full.
    void write(StreamOutput& output, std::optional<rlim_t> room)
    {
        StreamOptions options;
        options.memory_bytes = 10000;
        Stream stream(*session_, op_, input_of(workload_), options);
        if (const auto state = output.resume())
            stream.go_to(*state);
        std::optional<SmallDisk> disk;
        if (room)
            disk.emplace(*room);
        stream.run([&](StreamResults&& results, const StreamState& state) { output.take(results, state); });
        output.commit();
    }

    [[nodiscard]] bool has(const std::string& ending) const { return std::filesystem::exists(out_ + ending); }

    TemporaryFolder folder_;
    std::string out_ = folder_.file("out.npy");
    Operator op_ = standard_operator("sum_i32");
    Workload workload_;
    std::optional<Session> session_;
};

TEST_F(StreamOutputTest, LeavesNothingWhereNotEvenTheFirstSliceFits)
{
    {
        auto results = output();
        EXPECT_THROW(write(results, 200), DeviceError);
        EXPECT_EQ(results.left_behind("now"), "");
    }
    EXPECT_FALSE(has(".partial")) << "nobody can go on from it, and it fills the disk";
    EXPECT_FALSE(has(".resume"));
}

TEST_F(StreamOutputTest, KeepsWhatWasWrittenBeforeTheDiskWasFull)
{
    {
        auto results = output();
        EXPECT_THROW(write(results, 6000), DeviceError);
        EXPECT_NE(results.left_behind("now").find("--resume goes on from them now; else"), std::string::npos);
    }
    ASSERT_TRUE(has(".partial"));
    EXPECT_TRUE(has(".resume"));
    EXPECT_GT(std::filesystem::file_size(out_ + ".partial"), 200u);
    EXPECT_LT(std::filesystem::file_size(out_ + ".partial"), 6000u);
    {
        auto results = output();
        write(results, std::nullopt);
        EXPECT_EQ(results.left_behind("now"), "");
    }
    const auto found = read_array(out_);
    const auto right = wanted(workload_)[0];
    ASSERT_EQ(found.bytes(), right.size());
    EXPECT_EQ(std::memcmp(found.data(), right.data(), right.size()), 0);
    EXPECT_FALSE(has(".partial") || has(".resume"));
}

/// If one file is missing, the other files are kept.
TEST_F(StreamOutputTest, KeepsTheOtherFilesWhereOneIsMissing)
{
    const auto op = parse_operator("test",
                                   "operator o(x: i32) -> (low: i32, high: i32) {\n"
                                   "  state { a: i32 = 0; b: i32 = 0 }\n  lift { a = x; b = x }\n"
                                   "  combine(p, q) { a = p.a + q.a; b = p.b + q.b }\n"
                                   "  finish { low = a; high = b }\n}");
    const auto partial = [&](const std::string& field) {
        return out_.substr(0, out_.size() - 4) + "." + field + ".npy.partial";
    };
    {
        StreamOutput results(op, out_, {}, "one");
        StreamResults part;
        for (const auto* name : {"low", "high"})
            part.results.push_back({name, Array(Type::i32, 5)});
        part.num_segments = 5;
        results.take(part, {});
    }
    ASSERT_TRUE(std::filesystem::remove(partial("low")));
    StreamOutput results(op, out_, {}, "one");
    EXPECT_EQ(refusal([&] { (void)results.resume(); }),
              partial("low") + ": is missing, and 148 bytes were written to it; begin anew without --resume");
    EXPECT_TRUE(std::filesystem::exists(partial("high")));
    EXPECT_FALSE(std::filesystem::exists(partial("low")));
}

/// A run that begins anew removes the resume file of an earlier run before it empties the files.
TEST_F(StreamOutputTest, BeginsAnewWithoutTheNoteOfARunBefore)
{
    {
        auto results = output();
        EXPECT_THROW(write(results, 6000), DeviceError);
    }
    {
        auto results = output();
        StreamOptions options;
        Stream stream(*session_, op_, input_of(workload_), options);
        const SmallDisk disk(200);
        EXPECT_THROW(
            stream.run([&](StreamResults&& part, const StreamState& state) { results.take(part, state); }),
            DeviceError);
    }
    EXPECT_FALSE(has(".partial"));
    EXPECT_FALSE(has(".resume")) << "it speaks of bytes that are no longer there";
}

}  // namespace
}  // namespace segfold::test::stream_output_test
