// The bits of a result depend on the data and the caller's words alone: not on what is compiled already, and
// not on what was measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <numeric>

#include "dsl/derived.h"
#include "dsl/printer.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/device_identity.h"
#include "runtime/data/generated/lot.h"
#include "runtime/session/choice/record_store.h"
#include "runtime/session/session.h"
#include "runtime/support/random.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"

namespace segfold::same_bits_test {
namespace {

constexpr int kProblems = 200;
constexpr std::array kOperators = {"sum_f32",          "mean_variance", "log_sum_exp",    "dot_f32",
                                   "affine_f32",       "sum_f64",       "argmax_f32",     "max_f32",
                                   "max_subarray_i32", "sum_i64",       "matrix_2x2_i32", "longest_run_i32",
                                   "first_i32",        "kahan_sum"};
constexpr std::array kLayouts = {LayoutKind::offsets, LayoutKind::lengths, LayoutKind::uniform,
                                 LayoutKind::keys,    LayoutKind::flags,   LayoutKind::ranges,
                                 LayoutKind::whole,   LayoutKind::groups};
/// Stages that may be there before the one that the order takes.
constexpr std::array kOtherStages = {"lane_per_segment", "vector_per_segment", "lane_scan"};

/// A problem by lot, with its arrays.
struct Problem {
    Operator op;
    std::string backend, text;
    std::vector<Array> columns;
    Array first, second;
    SegmentsView segments;

    explicit Problem(std::uint64_t seed)
        : op(standard_operator(kOperators[mixed(seed, 1) % kOperators.size()])),
          backend(mixed(seed, 2) % 16 == 0 ? "simt" : "cpu")
    {
        const auto kind = kLayouts[mixed(seed, 3) % kLayouts.size()];
        if (mixed(seed, 7) % 4 == 0 && kind != LayoutKind::groups)
            op = scanned(op, {.exclusive = op.allows_empty() && mixed(seed, 8) % 2 == 0,
                              .reverse = mixed(seed, 9) % 2 == 0});
        const auto most = backend == "simt" ? 2000 : 40000;
        const auto uniform_length = static_cast<std::int64_t>(1 + mixed(seed, 4) % 300);
        auto n = static_cast<std::int64_t>(1 + mixed(seed, 5) % most);
        if (kind == LayoutKind::uniform)
            n = (n + uniform_length - 1) / uniform_length * uniform_length;
        const bool has_edges = mixed(seed, 6) % 5 == 0;
        for (const auto& parameter : op.parameters)
            columns.push_back(column(parameter.type, n, seed + columns.size(), has_edges));
        lay(kind, lot_lengths(seed, n), uniform_length);
        text = (op.scan ? "running " : "") + op.name + " by " + std::string(name(kind)) + ", " +
               std::to_string(n) + " elements on " + backend + (has_edges ? ", with NaN and infinities" : "");
    }

    [[nodiscard]] std::vector<ArrayView> inputs() const
    {
        std::vector<ArrayView> views;
        for (const auto& one : columns)
            views.push_back(view(one));
        return views;
    }

private:
    static std::uint64_t mixed(std::uint64_t seed, std::uint64_t what)
    {
        return RandomSequence(seed).at(what);
    }
    static ArrayView view(const Array& array)
    {
        return {array.type(), array.data(), static_cast<std::int64_t>(array.length())};
    }

    static Array column(Type type, std::int64_t n, std::uint64_t seed, bool has_edges)
    {
        Array array(type, static_cast<std::size_t>(n));
        RandomSequence random(seed);
        const auto fill = [&]<class T>(std::span<T> values) {
            for (auto& value : values) {
                const auto bits = random();
                const auto part =
                    static_cast<double>(bits >> 11) / static_cast<double>(std::uint64_t{1} << 53);
                if constexpr (std::is_floating_point_v<T>) {
                    value = static_cast<T>(std::ldexp(part - 0.5, static_cast<int>(bits % 24)));
                    if (has_edges && bits % 257 == 0)
                        value = bits % 2 == 0 ? std::numeric_limits<T>::quiet_NaN()
                                              : -std::numeric_limits<T>::infinity();
                    if (has_edges && bits % 31 == 0)
                        value = bits % 2 == 0 ? T(0) : -T(0);
                } else {
                    value = static_cast<T>(static_cast<std::int64_t>(part * 40) - 20);
                }
            }
        };
        switch (type) {
            case Type::f32: fill(array.as<float>()); break;
            case Type::f64: fill(array.as<double>()); break;
            case Type::i32: fill(array.as<std::int32_t>()); break;
            default: fill(array.as<std::int64_t>());
        }
        return array;
    }

    void lay(LayoutKind kind, const std::vector<std::int64_t>& lengths, std::int64_t uniform_length)
    {
        const auto n = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
        std::vector<std::int32_t> begins, ends, of_element, is_first;
        std::int32_t at = 0;
        for (const auto length : lengths) {
            begins.push_back(at);
            at += static_cast<std::int32_t>(length);
            ends.push_back(at);
            of_element.resize(static_cast<std::size_t>(at), static_cast<std::int32_t>(begins.size() * 3));
        }
        const auto copy = [](const std::vector<std::int32_t>& values) {
            Array array(Type::i32, values.size());
            std::ranges::copy(values, array.as<std::int32_t>().begin());
            return array;
        };
        if (kind == LayoutKind::offsets) {
            begins.push_back(static_cast<std::int32_t>(n));
            segments = offsets(view(first = copy(begins)));
        } else if (kind == LayoutKind::lengths) {
            first = Array(Type::i64, lengths.size());
            std::ranges::copy(lengths, first.as<std::int64_t>().begin());
            segments = segfold::lengths(view(first));
        } else if (kind == LayoutKind::uniform) {
            segments = uniform(uniform_length);
        } else if (kind == LayoutKind::keys) {
            segments = keys(view(first = copy(of_element)));
        } else if (kind == LayoutKind::flags) {
            first = Array(Type::u8, of_element.size());
            auto marks = first.as<std::uint8_t>();
            for (std::size_t i = 0; i < marks.size(); ++i)
                marks[i] = i == 0 || of_element[i] != of_element[i - 1] ? 1 : 0;
            segments = flags(view(first));
        } else if (kind == LayoutKind::ranges) {
            first = copy(begins);
            second = copy(ends);
            segments = ranges(view(first), view(second));
        } else if (kind == LayoutKind::groups) {
            const auto count = static_cast<std::int32_t>(1 + uniform_length * 7 % 900);
            for (std::size_t i = 0; i < of_element.size(); ++i)
                of_element[i] =
                    static_cast<std::int32_t>(RandomSequence(9).at(i) % static_cast<std::uint64_t>(count));
            segments = groups(view(first = copy(of_element)), count);
        }
    }
};

class SameBits : public testing::Test {
protected:
    SameBits()
    {
        test::compile_briefly();
        setenv("SEGFOLD_TUNING_DIR", path().c_str(), 1);
    }
    ~SameBits() override { unsetenv("SEGFOLD_TUNING_DIR"); }
    [[nodiscard]] std::string path() const { return folder_.file("tuning"); }

    /// Returns the bytes of all results, and the stage; or the message of an error.
    static std::pair<std::string, std::string> folded(const Problem& problem, const PlanRequest& request = {},
                                                      bool asks_records = true)
    {
        Session session({.backend = problem.backend, .asks_records = asks_records});
        try {
            const auto result = session.fold(problem.op, problem.inputs(), problem.segments, {request});
            std::string bytes;
            for (const auto& [name, array] : result.results())
                bytes.append(reinterpret_cast<const char*>(array.data()), array.bytes());
            return {bytes, result.plan()};
        } catch (const SpecError& error) {
            return {error.what(), ""};
        }
    }

    /// Compiles one of kOtherStages that serves the problem, the one at `first` or a later one. Returns its
    /// name; empty if none serves.
    static std::string compile_other_stage(const Problem& problem, std::size_t first)
    {
        for (std::size_t i = 0; i < kOtherStages.size(); ++i)
            try {
                const auto* stage = kOtherStages[(first + i) % kOtherStages.size()];
                (void)folded(problem, {.stage = stage});
                return stage;
            } catch (const InputError&) {
                // the stage does not take this problem
            }
        return "";
    }

    /// Rewrites all spot records so that the order's first stage took longest.
    void prefer_others(const std::string& first) const
    {
        const auto rows = RecordStore::open(path(), true).spot_rows();
        std::filesystem::remove_all(path());
        RecordFile file(record_path(path(), host_identity()));
        for (auto row : rows) {
            row.measurement.milliseconds = first.starts_with(row.point.stage + " ") ? 9 : 1;
            file.append(row);
        }
    }

private:
    TemporaryFolder folder_;
};

/// Each problem is folded where another stage is compiled, where the stages that rank first are, and where
/// these are measured.
TEST_F(SameBits, ColdWarmAndWithRecords)
{
    test::Draw draw;
    int num_changed = 0, num_exact = 0, num_there = 0;
    for (int number = 0; number < kProblems; ++number) {
        if (!draw.takes("lot " + std::to_string(number)))
            continue;
        std::filesystem::remove_all(path());
        const Problem problem(static_cast<std::uint64_t>(number));
        SCOPED_TRACE(std::to_string(number) + ": " + problem.text);
        const auto other = compile_other_stage(problem, static_cast<std::size_t>(number));
        // An exact operator may be asked for the stage that gives its results first.
        const auto first = is_exact(problem.op) ? First::fast : First::automatic;
        const auto [early_bits, early_stage] = folded(problem, {.first = first}, false);
        // Three stages are compiled, and their times are kept.
        const auto measured = folded(problem, {.measured_stages = 3}).first;
        const auto [bits, stage] = folded(problem, {}, false);
        EXPECT_EQ(early_bits, bits) << early_stage << ", then " << stage;
        num_there += early_stage != stage && early_stage.starts_with(other + " ") ? 1 : 0;
        EXPECT_TRUE(!is_exact(problem.op) || problem.text.ends_with("infinities") || measured == bits);
        prefer_others(stage);
        const auto [again, other_stage] = folded(problem);
        EXPECT_EQ(again, bits) << stage << ", then " << other_stage;
        if (!is_exact(problem.op)) {
            EXPECT_EQ(other_stage, stage) << "a record chose where combine rounds";
            EXPECT_EQ(early_stage, stage) << "what was compiled chose where combine rounds";
        } else {
            ++num_exact;
            num_changed += other_stage == stage ? 0 : 1;
        }
        std::filesystem::remove_all(path());
        EXPECT_EQ(folded(problem).first, bits);
    }
    // Else the records decided nothing, and the test would say little.
    EXPECT_TRUE(num_exact <= 3 || num_changed > 0) << num_exact;
    EXPECT_TRUE(num_exact <= 30 || num_there > 0) << num_exact << "; nor did what was compiled";
}

}  // namespace
}  // namespace segfold::same_bits_test
