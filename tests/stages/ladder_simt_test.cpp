// Every rung of the ladder on the fiber executor, under several schedules, against the reference.
#include <gtest/gtest.h>

#include "codegen/section/atomic.h"
#include "dsl/error.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/ways.h"

namespace segfold::test::ladder_simt_test {
namespace {

struct RungCase {
    std::string rung;
    std::string op;
    SegmentForm form;
};

std::string print(const RungCase& c) { return c.rung + "_" + c.op; }

/// Returns each rung with each operator that it serves. `form` is the first of the forms that a test tries.
std::vector<RungCase> all_cases()
{
    std::vector<RungCase> cases;
    for (const auto& rung : rungs())
        for (const std::string op : {"sum_i32", "trace_u64", "sum_f32", "mean_variance_f32"})
            if (serves(Catalogue::standard(), rung, op, rung.forms.front()))
                cases.push_back({rung.name, op, rung.forms.front()});
    return cases;
}

[[maybe_unused]] void PrintTo(const RungCase& c, std::ostream* out) { *out << print(c); }

class LadderOnSimt : public testing::TestWithParam<RungCase> {};

void expect_agreement(const RungCase& c, const Configuration& configuration, int bits, std::uint64_t seed)
{
    const auto& rung = Catalogue::standard().stage(c.rung);
    const Problem problem(standard_operator(c.op), c.form, bits);
    const auto emitted = emit(problem, rung, configuration);
    for (const auto& shape : rung_shapes(c.form, block_and_tile(configuration).second)) {
        const auto workload = make_workload(c.op, with_index_bits(shape.segments.copy(), bits), 11);
        // Few blocks or one for each segment. A second launch meets the scratch memory of the first.
        const auto results =
            simt::run(workload, emitted, simt::options_from_seed(seed), {}, 1, seed == 2 ? 2 : 1);
        const auto comparison = Judge(workload).compare(results);
        ASSERT_TRUE(comparison.agrees())
            << shape.name << ", seed " << seed << ", " << segfold::print(configuration) << ": "
            << segfold::print(comparison);
    }
}

TEST_P(LadderOnSimt, AgreesWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    auto c = GetParam();
    const auto& rung = Catalogue::standard().stage(c.rung);
    for (const auto form : rung.forms) {
        // Finding segments does not depend on the operator, so only two operators try all forms.
        if (c.op != "sum_i32" && c.op != "trace_u64" && form != SegmentForm::whole &&
            form != SegmentForm::offsets)
            continue;
        c.form = form;
        const auto configuration = smallest_configuration(rung, Problem(standard_operator(c.op), form));
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            expect_agreement(c, configuration, c.op == "trace_u64" && seed == 3 ? 64 : 32, seed);
    }
}

INSTANTIATE_TEST_SUITE_P(Rungs, LadderOnSimt, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

TEST(LadderOnSimt, EveryBlockSizeAndEveryLevelOfTheCascadeAgrees)
{
    Draw draw;
    for (const auto& rung : rungs())
        for (const auto form : {SegmentForm::whole, SegmentForm::offsets}) {
            if (!draw.takes(rung.name + " " + std::string(name(form))))
                continue;
            const std::string op =
                Catalogue::standard().unmet(rung, Problem(standard_operator("affine_u32"), form))
                    ? "sum_i32"
                    : "affine_u32";
            for (const auto& configuration :
                 some_configurations(rung, Problem(standard_operator(op), form), 4))
                if (configuration.at("block_threads") * configuration.at("items_per_thread") <= 8192)
                    expect_agreement({rung.name, op, form}, configuration, 32, 1);
        }
}

/// The total of every block reaches the result, for every type of the atomic function.
TEST(LadderOnSimt, AtomicTotalsAgree)
{
    for (const auto& rung : rungs()) {
        const auto& tunable = rung.tunables.back();
        if (tunable.name != "atomic_totals" || tunable.values.size() < 2)
            continue;
        for (const std::string op :
             {"sum_i32", "sum_i64", "sum_u64", "sum_f32", "sum_f64", "max_i32", "min_u64"})
            for (std::uint64_t seed = 1; seed <= 2; ++seed) {
                if (Catalogue::standard().unmet(rung, Problem(standard_operator(op), SegmentForm::whole)))
                    continue;
                const auto facts = plan_facts(Problem(standard_operator(op), SegmentForm::whole));
                const auto configuration =
                    configure(rung, {{"atomic_totals", 1}, {"block_threads", 64}}, facts);
                expect_agreement({rung.name, op, SegmentForm::whole}, configuration, 32, seed);
            }
    }
}

TEST(Ladder, AtomicTotalsAreRefusedWhereNoAtomicFunctionCombines)
{
    const auto& rung = Catalogue::standard().stage("tree_shuffle");
    const auto allows = [&](const Operator& op, SegmentForm form) {
        try {
            (void)configure(rung, {{"atomic_totals", 1}}, plan_facts(Problem(op, form)));
            return true;
        } catch (const InputError&) {
            return false;
        }
    };
    EXPECT_TRUE(allows(standard_operator("sum_f32"), SegmentForm::whole));
    EXPECT_FALSE(allows(standard_operator("sum_f32"), SegmentForm::offsets)) << "a block has its own segment";
    for (const std::string op :
         {"sum_i16", "sum_f16", "max_f32", "product_i32", "trace_u64", "mean_f32", "keep_first_i32"})
        EXPECT_EQ(allows(standard_operator(op), SegmentForm::whole),
                  atomic_function(standard_operator(op)).has_value())
            << op;
    EXPECT_EQ(atomic_function(standard_operator("max_f32")), std::nullopt);
    EXPECT_EQ(atomic_function(standard_operator("trace_u64")), std::nullopt);
    EXPECT_EQ(atomic_function(standard_operator("keep_first_i32")), std::nullopt);
    EXPECT_EQ(atomic_function(standard_operator("min_i64")), "atomicMin");
    EXPECT_EQ(atomic_function(parse_operator("x",
                                             "operator x(v: u32) -> u32 { state s: u32 = 0 lift v "
                                             "combine(a, b) b ^ a laws commutative }")),
              "atomicXor");
    for (const std::string combine : {"a + a", "a - b", "a + b + 0", "b + 1", "max(a, a)"})
        EXPECT_EQ(atomic_function(parse_operator("x",
                                                 "operator x(v: u32) -> u32 { state s: u32 = 0 lift v "
                                                 "combine(a, b) " +
                                                     combine + " }")),
                  std::nullopt)
            << combine;
}

TEST(LadderOnSimt, ReductionsOfAWarpAgree)
{
    const auto& rung = Catalogue::standard().stage("tree_redux");
    for (const std::string op : {"sum_i32", "sum_u32", "min_i32", "max_u32"}) {
        ASSERT_EQ(Catalogue::standard().unmet(rung, Problem(standard_operator(op), SegmentForm::whole)),
                  std::nullopt);
        for (const auto form : {SegmentForm::whole, SegmentForm::offsets})
            expect_agreement({"tree_redux", op, form},
                             smallest_configuration(rung, Problem(standard_operator(op), form)), 32, 1);
    }
    EXPECT_EQ(warp_function(standard_operator("sum_i64")), std::nullopt);
    EXPECT_EQ(
        Catalogue::standard().unmet(rung, Problem(standard_operator("sum_i64"), SegmentForm::whole)),
        "needs a sum, minimum, maximum or bitwise operation of one 32-bit integer, and combine of operator "
        "sum is something else");
    EXPECT_EQ(warp_function(standard_operator("sum_f32")), std::nullopt);
    EXPECT_EQ(warp_function(standard_operator("max_u32")), "__reduce_max_sync");
}

/// Rungs that change the order refuse operators that are not commutative; their variants that keep the order
/// serve them.
TEST(Ladder, RungsThatReorderAreRefusedWhereOrderCounts)
{
    const auto& catalogue = Catalogue::standard();
    const Problem ordered(standard_operator("affine_u32"), SegmentForm::whole);
    for (const std::string rung : {"sequential", "first_add", "last_warp", "unrolled", "cascade"}) {
        EXPECT_EQ(catalogue.unmet(catalogue.stage("tree_" + rung), ordered),
                  "needs a commutative operator, and operator affine does not declare that law");
        EXPECT_EQ(catalogue.unmet(catalogue.stage("pairs_" + rung), ordered), std::nullopt);
    }
}

}  // namespace
}  // namespace segfold::test::ladder_simt_test
