// Parts that lie on devices, folded where they lie: any operator gives what it gives in one piece.
#include "runtime/session/scale/resident.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>

#include "dsl/error.h"
#include "runtime/judge/reference.h"
#include "runtime/session/scale/ranks/thread_ranks.h"
#include "tests/common/files.h"
#include "tests/scale/resident_cases.h"

namespace segfold::test::resident_test {
namespace {

TEST(Resident, AnyNumberOfPartsGivesWhatOnePieceGives)
{
    const Devices devices("reference", 9);
    int count = 0;
    for_each_case([&](const std::string& name, const Workload& workload) {
        const auto wanted = reduce_sequentially(workload);
        for (const std::size_t parts : {1, 2, 3, 9}) {
            const auto used = std::span(devices.pointers).first(parts);
            const DividedWorkload resident(used, workload, 0, std::ssize(used));
            ResidentFold fold(workload.op, resident.parts());
            for (int run = 0; run < 2; ++run) {
                auto all = blank_results(workload);
                const auto finished = fold.run();
                resident.gather(all);
                for (const auto& one : finished)
                    one.store(all, one.segment);
                expect_equal(all, wanted, name + " in " + std::to_string(parts) + " parts");
            }
            ++count;
        }
    });
    EXPECT_GT(count, 500);
}

TEST(Resident, PlansOfTheHostsCoresFoldParts)
{
    const Devices devices("cpu", 3);
    const auto op = standard_operator("trace_u64");
    const std::vector<std::int64_t> lengths = {5, 0, 3000, 1, 70000, 0, 2, 40, 0};
    for (auto& [name, segments] : slice_segments("long ones", lengths)) {
        const auto workload = slice_workload(op, std::move(segments));
        const DividedWorkload resident(devices.pointers, workload, 0, 3);
        ResidentFold fold(op, resident.parts());
        auto all = blank_results(workload);
        for (const auto& one : fold.run())
            one.store(all, one.segment);
        resident.gather(all);
        expect_equal(all, reduce_sequentially(workload), name);
    }
}

TEST(Resident, RanksJoinTheirParts)
{
    for_each_case([&](const std::string& name, const Workload& workload) {
        auto all = blank_results(workload);
        std::mutex mutex;
        run_thread_ranks(3, [&](Communicator& ranks) {
            const Devices devices("reference", 2);  // each rank has two of them
            const DividedWorkload resident(devices.pointers, workload, 2 * ranks.rank(), 6);
            ResidentFold fold(workload.op, resident.parts());
            const auto finished = fold.run(ranks);
            const std::lock_guard lock(mutex);
            resident.gather(all);
            for (const auto& one : finished)
                one.store(all, one.segment);
        });
        expect_equal(all, reduce_sequentially(workload), name + " by ranks");
    });
}

TEST(Resident, RefusesWhatPartsCannotFold)
{
    const Devices devices("reference", 2);
    const auto refused = [&](const Operator& op, Segments segments, bool is_reproducible = false) {
        return refusal([&] {
            const auto workload = slice_workload(op, std::move(segments));
            const DividedWorkload resident(devices.pointers, workload, 0, 2);
            PlanOptions options;
            options.request.is_reproducible = is_reproducible;
            const ResidentFold fold(op, resident.parts(), options);
        });
    };
    const auto offsets = segments_from_offsets(index_array(offsets_of({3, 4})), 7);
    EXPECT_EQ(refused(standard_operator("sum_i32"), given_as(SegmentForm::flags, offsets)),
              "segments of parts on devices are given by flags; give their offsets");
    EXPECT_EQ(refused(standard_operator("sum_i32"), offsets.copy(), true),
              "a fold of parts that lie on devices has the order of its parts; fold_sliced() folds "
              "reproducibly");
    EXPECT_EQ(refused(parse_operator("sub",
                                     "operator sub(x: i32) -> i32 { state a: i32 = 0 lift x "
                                     "combine(a, b) a - b }"),
                      offsets.copy()),
              "operator sub is not associative, so that segments which parts share would have other results; "
              "fold it in one piece\n"
              "combine is not associative:\n"
              "    a = 0, b = 0, c = 1\n"
              "    combine(combine(a, b), c) = -1\n"
              "    combine(a, combine(b, c)) = 1");
    const auto numbered = slice_operators()[3];
    EXPECT_EQ(refused(numbered, offsets.copy()),
              "operator numbered tells an empty segment its number, which a part does not know; "
              "fold_sliced() folds it");
    ResidentPart bare;
    bare.session = devices.pointers[0];
    EXPECT_EQ(refusal([&] { const ResidentFold fold(standard_operator("sum_i32"), {bare}); }),
              "part 0 has 0 arrays, and operator sum takes 1");
}

}  // namespace
}  // namespace segfold::test::resident_test
