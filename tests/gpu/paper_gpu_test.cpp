// The kinds of experiments on a GPU, small: probes are right, what arrives is what was sent, folds agree.
#include <gtest/gtest.h>

#include <numeric>

#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/measure/bench/loaded_probe.h"
#include "runtime/measure/bench/transfer.h"
#include "runtime/papers/measure.h"

namespace segfold::paper_gpu_test {
namespace {

class PaperGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (const auto reason = cuda::no_device_reason(); !reason.empty())
            GTEST_SKIP() << reason;
        backend_ = make_backend("cuda");
        bench_.emplace(*backend_);
    }

    void expect_measured(const bench::Entry& entry) const
    {
        EXPECT_EQ(entry.outcome, bench::Outcome::measured) << entry.name << ": " << entry.reason;
        EXPECT_TRUE(entry.agreement.is_checked) << entry.name;
        EXPECT_TRUE(entry.agreement.agrees) << entry.name << ": " << entry.agreement.text;
        EXPECT_GT(entry.milliseconds.median, 0) << entry.name;
        EXPECT_GT(entry.bytes_per_second, 0) << entry.name;
    }

    std::unique_ptr<Backend> backend_;
    std::optional<bench::Bench> bench_;
};

TEST_F(PaperGpu, ProbesComputeWhatTheHostDoes)
{
    const auto& catalogue = Catalogue::standard();
    bench::Probes probes(*bench_, catalogue);
    for (const auto& probe : catalogue.probes())
        for (const auto& tunable : probe.tunables)
            for (const int value : tunable.values)
                expect_measured(
                    probes.measure({probe.name + " " + tunable.name + "=" + std::to_string(value), probe,
                                    configure(probe, {{tunable.name, value}}), 100'000, 2}));
}

TEST_F(PaperGpu, DivergenceBelowAWarpTakesTwiceTheTime)
{
    const auto& probe = Catalogue::standard().probe("divergence");
    bench::Probes probes(*bench_, Catalogue::standard());
    const auto time = [&](int granularity) {
        return probes.measure({"", probe, configure(probe, {{"granularity", granularity}}), 1 << 22, 11})
            .milliseconds.median;
    };
    const double whole = time(32);
    EXPECT_NEAR(time(256) / whole, 1, 0.3);
    EXPECT_GT(time(16) / whole, 1.5);
    EXPECT_GT(time(1) / whole, 1.5);
}

TEST_F(PaperGpu, TransfersArriveAndFoldInOrder)
{
    std::vector<std::int32_t> values(1 << 22);
    std::iota(values.begin(), values.end(), 7);
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("sum", Type::i32), SegmentForm::whole);
    bench::Transfers transfers(*bench_, problem, std::as_bytes(std::span(values)), catalogue);
    const bench::TransferFold fold{&catalogue.stage("grid_reduce"), {}};
    for (const bool is_pinned : {false, true}) {
        for (const bool to_host : {false, true})
            expect_measured(transfers.measure("copy", {is_pinned, to_host, 1, 1}, {}, 3));
        for (const int streams : {1, 2, 3})
            expect_measured(transfers.measure("fold", {is_pinned, false, streams, 8}, fold, 3));
    }
    EXPECT_THROW((void)transfers.measure("odd", {true, false, 1, 3}, fold, 3), InputError);
    EXPECT_THROW(bench::Transfers(*bench_, Problem(standard_operator("sum", Type::f32), SegmentForm::whole),
                                  std::as_bytes(std::span(values)), catalogue),
                 InputError);
}

/// An operator that is not commutative: the first element is the result only where chunks keep their order.
TEST_F(PaperGpu, ChunksAreFoldedInTheirOrder)
{
    std::vector<std::int32_t> values(1 << 20);
    std::iota(values.begin(), values.end(), 1);
    const auto& catalogue = Catalogue::standard();
    const Problem problem(standard_operator("keep_first", Type::i32), SegmentForm::whole);
    ASSERT_TRUE(bench::can_fold_chunks(problem.op));
    bench::Transfers transfers(*bench_, problem, std::as_bytes(std::span(values)), catalogue);
    expect_measured(
        transfers.measure("first", {true, false, 3, 16}, {&catalogue.stage("grid_reduce"), {}}, 3));
}

/// A ladder with the CPU's row, and a timer, from a paper's text to a document and back.
TEST_F(PaperGpu, LaddersAndTimersAreMeasured)
{
    const auto paper =
        papers::read_paper("p", "p.json", R"({"title": "T", "authors": "A", "published_in": "J",
        "year": 1999, "claim": "C.", "experiments": [
        {"figure": "ladder", "title": "t", "operator": "sum", "type": "f32", "layout": "whole",
         "elements": 65536, "rows": [{"row": "CPU", "host": true}, {"row": "GPU", "stage": "grid_reduce"}]},
        {"figure": "timer", "kind": "timer", "title": "t", "operator": "sum", "type": "i32",
         "layout": "whole", "elements": 4096,
         "rows": [{"row": "small", "stage": "grid_reduce", "elements": 1024},
                  {"row": "large", "stage": "grid_reduce"}]}]})");
    for (const auto& experiment : paper.experiments) {
        const auto measured =
            papers::measure(*bench_, experiment, 5, Catalogue::standard(), [](const std::string&) {});
        ASSERT_EQ(measured.record.entries.size(), 2U);
        for (const auto& entry : measured.record.entries)
            expect_measured(entry);
        if (experiment.kind == papers::ExperimentKind::timer) {
            for (const auto& entry : measured.record.entries) {
                ASSERT_TRUE(entry.wall_milliseconds) << entry.name;
                EXPECT_GT(entry.wall_milliseconds->median, entry.milliseconds.median / 2) << entry.name;
            }
        } else {
            EXPECT_TRUE(measured.record.entries[0].is_host);
            EXPECT_TRUE(measured.record.entries[1].host_microseconds);
        }
    }
}

}  // namespace
}  // namespace segfold::paper_gpu_test
