// Running results of slices: with cuts anywhere, a scan goes on from the states of the slices before.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "dsl/error.h"
#include "runtime/judge/reference.h"
#include "runtime/scale/slices/sliced.h"
#include "runtime/session/core.h"
#include "tests/common/message_of.h"
#include "tests/scale/scan_cases.h"

namespace segfold::test::scan_slices_test {
namespace {

Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

/// Returns where the bits of results or outputs differ; empty if they are equal.
std::string difference(const Results& results, const Results& wanted)
{
    if (results.size() != wanted.size())
        return "there are " + std::to_string(results.size()) + " arrays";
    for (std::size_t f = 0; f < wanted.size(); ++f) {
        const auto& array = results[f].array;
        const auto& right = wanted[f].array;
        if (array.length() != right.length() || results[f].name != wanted[f].name)
            return results[f].name + " has " + std::to_string(array.length()) + " values";
        const auto width = size_bytes(right.type());
        for (std::size_t i = 0; i < right.length(); ++i)
            if (std::memcmp(array.data() + i * width, right.data() + i * width, width) != 0)
                return results[f].name + " at " + std::to_string(i);
    }
    return {};
}

FoldWishes in_slices(std::int64_t count)
{
    FoldWishes wishes{1};
    wishes.num_slices = count;
    return wishes;
}

TEST(ScanSlices, AnyNumberOfThemGivesWhatOnePieceGives)
{
    auto session = session_on("reference");
    for (const auto& op : scan_operators())
        for (const auto& [name, lengths] : border_cases())
            for (auto& [layout, segments] : scan_segments(op, name, lengths)) {
                const auto workload = slice_workload(op, std::move(segments));
                const auto wanted = reduce_sequentially(workload);
                for (const std::int64_t slices : {1, 2, 3, 5, 8, 21, 50})
                    ASSERT_EQ(difference(core(session).fold(workload, in_slices(slices)).results, wanted), "")
                        << op.name << " over " << layout << " in " << slices << " slices, "
                        << (op.scan->reverse ? "from the end" : "from the front");
            }
}

TEST(ScanSlices, SeveralDevicesShareThem)
{
    std::vector<Session> sessions;
    for (int i = 0; i < 3; ++i)
        sessions.push_back(session_on("reference"));
    std::vector<SessionCore*> devices;
    for (auto& session : sessions)
        devices.push_back(&core(session));
    for (const auto& op : scan_operators())
        for (auto& [layout, segments] : scan_segments(op, "giant", {3, 0, 100, 0, 2})) {
            const auto workload = slice_workload(op, std::move(segments));
            ASSERT_EQ(difference(fold_in_slices(devices, workload, in_slices(7)).results,
                                 reduce_sequentially(workload)),
                      "")
                << op.name << " over " << layout;
        }
}

/// Scans by emitted texts, each operator over another layout.
void expect_emitted_texts_go_on(const std::string& backend)
{
    auto session = session_on(backend), other = session_on(backend);
    const std::vector<SessionCore*> devices = {&core(session), &core(other)};
    const auto operators = scan_operators();
    std::size_t turn = 0;
    for (std::size_t i = 0; i < operators.size(); i += 3) {
        const auto& op = operators[i];
        std::vector<std::int64_t> lengths = {0, 3, 40, 0, 0, 700, 1, 0, 256, 0};
        auto cases = scan_segments(op, "mixed", lengths);
        auto& [layout, segments] = cases[turn++ % cases.size()];
        const auto workload = slice_workload(op, std::move(segments));
        const auto sliced = fold_in_slices(devices, workload, in_slices(5));
        EXPECT_EQ(difference(sliced.results, reduce_sequentially(workload)), "")
            << op.name << " over " << layout << " on " << backend;
        EXPECT_TRUE(sliced.chosen.plan);
    }
}

TEST(ScanSlices, EmittedCudaGoesOn) { expect_emitted_texts_go_on("simt"); }

TEST(ScanSlices, EmittedCppGoesOn) { expect_emitted_texts_go_on("cpu"); }

/// A stage that scans is asked for, and the states that slices go on from are folded by another one.
TEST(ScanSlices, TakeTheStageThatIsAskedFor)
{
    auto session = session_on("simt");
    const auto op = scanned(standard_operator("affine_u32"), {});
    const auto workload = slice_workload(op, whole_segments(2000));
    auto wishes = in_slices(3);
    wishes.plan.stage = "running_tiles";
    const auto sliced = core(session).fold(workload, wishes);
    EXPECT_EQ(sliced.chosen.plan->stage->name, "running_tiles");
    EXPECT_EQ(difference(sliced.results, reduce_sequentially(workload)), "");
}

/// The first element of a slice has the carried state itself before it, not one joined with the identity.
TEST(ScanSlices, IdentityOfFiniteValuesHidesNothing)
{
    auto session = session_on("reference");
    const auto op = parse_operator("scans", R"(operator last_scaled(x: f32) -> each f32 {
        state { last: f32 = 0; scale: f32 = 1 }
        lift { last = x; scale = 0 }
        combine(a, b) { last = a.last * b.scale + b.last; scale = a.scale * b.scale }
        scan(before, through) before.last
    })");
    Workload workload{op, {}, whole_segments(4)};
    workload.arrays.push_back(Array::of<float>(Type::f32, std::vector<float>{1, INFINITY, 2, 3}));
    const auto wanted = reduce_sequentially(workload);
    EXPECT_EQ(wanted[0].array.as<float>()[2], INFINITY);
    EXPECT_EQ(core(session).fold(workload, in_slices(2)).results[0].array.as<float>()[2], INFINITY);
}

TEST(ScanSlices, RefuseReproduciblePlans)
{
    auto session = session_on("reference");
    const auto op = scanned(standard_operator("sum_i32"), {});
    const auto workload = slice_workload(op, whole_segments(10));
    auto wishes = in_slices(2);
    wishes.plan.is_reproducible = true;
    EXPECT_EQ(
        message_of<InputError>([&] { (void)core(session).fold(workload, wishes); }),
        "operator sum has a scan, and no reproducible plan gives running results of slices; leave out the "
        "wish for one, or the slices");
}

}  // namespace
}  // namespace segfold::test::scan_slices_test
