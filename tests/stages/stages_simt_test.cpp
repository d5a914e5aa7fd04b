// Every stage x operator x layout x shape on the fiber executor, under several schedules, against the
// reference.
#include <gtest/gtest.h>

#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"
#include "tests/stages/ways.h"

namespace segfold::test::stages_simt_test {
namespace {

struct StageCase {
    std::string stage;
    std::string op;
};

std::string print(const StageCase& c) { return c.stage + "_" + c.op; }

std::vector<StageCase> all_cases()
{
    std::vector<StageCase> cases;
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            if (serves(Catalogue::standard(), stage, op))
                cases.push_back({stage.name, op});
    return cases;
}

[[maybe_unused]] void PrintTo(const StageCase& c, std::ostream* out) { *out << print(c); }

/// Tries every shape of one layout. Uses three schedules if kernels read segments in that layout. If the host
/// converts the layout, kernels see nothing new, and one schedule is enough.
void expect_agreement(const Stage& stage, const std::string& op, Way way)
{
    const Problem problem(standard_operator(op), form_of(way.kind), way.index_bits);
    const auto configuration = smallest_configuration(stage, problem);
    const auto emitted = emit(problem, stage, configuration);
    const auto [block, tile] = block_and_tile(stage, problem, configuration);
    const std::uint64_t last_seed =
        way.kind != LayoutKind::lengths && takes_directly(stage, way.kind) ? 3 : 1;
    for (const auto& shape : segment_cases(way.kind, block, tile, problem.op.allows_empty())) {
        const auto workload = make_workload(op, with_index_bits(shape.segments.copy(), way.index_bits), 11);
        const Judge judge(workload);
        for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
            const int multiprocessors =
                seed == 1 ? 1 : 64;  // few blocks that loop, or enough blocks for all tiles
            // The second launch meets the scratch memory of the first.
            const int launches = seed == 2 ? 2 : 1;
            const auto results =
                simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors, launches);
            const auto comparison = judge.compare(results);
            ASSERT_TRUE(comparison.agrees())
                << shape.name << ", seed " << seed << ": " << segfold::print(comparison);
        }
    }
}

class StagesOnSimt : public testing::TestWithParam<StageCase> {};

/// Tries all layouts in one process: layouts that a stage reads in the same form share one text, which is
/// compiled once.
TEST_P(StagesOnSimt, AgreeWithTheReference)
{
    if (is_left_out())
        GTEST_SKIP() << kLeftOut;
    const auto& stage = Catalogue::standard().stage(GetParam().stage);
    for (const auto way : ways(Catalogue::standard(), stage, GetParam().op)) {
        SCOPED_TRACE(std::string(name(way.kind)) + ", " + std::to_string(way.index_bits) + "-bit indices");
        expect_agreement(stage, GetParam().op, way);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, StagesOnSimt, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// Tries configurations other than the smallest, on shapes that cross most borders.
void expect_configurations_agree(Draw& draw, const Stage& stage, const std::string& op, std::size_t most,
                                 Numbers numbers, int bits = 32)
{
    // Takes the last form: ranges if the stage takes them, and keys rather than flags.
    const auto form = is_found(stage.forms.back()) ? SegmentForm::keys : stage.forms.back();
    const Problem problem(standard_operator(op), form, bits);
    if (Catalogue::standard().unmet(stage, problem))
        return;
    for (const auto& configuration : some_configurations(stage, problem, most)) {
        if (!draw.takes(stage.name + " " + op + " " + segfold::print(configuration)))
            continue;
        const auto emitted = emit(problem, stage, configuration, Catalogue::standard(), numbers);
        const auto tile = block_and_tile(stage, problem, configuration).second;
        const std::vector<std::int64_t> lengths = {0, tile - 1, 1, 2 * tile + 3, 0, 5, 31, 33, tile};
        const auto workload = make_workload(op, with_index_bits(segments_in_form(form, lengths), bits), 5);
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
        ASSERT_TRUE(comparison.agrees())
            << stage.name << " of " << op << ", " << bits << " bits, " << segfold::print(configuration)
            << (numbers == Numbers::at_launch ? ", numbers at launch: " : ": ") << segfold::print(comparison);
    }
}

TEST(StagesOnSimt, ConfigurationsAgreeWithTheReference)
{
    Draw draw;
    for (const auto& stage : plans()) {
        expect_configurations_agree(draw, stage, "affine_u32", 8, Numbers::constant);
        expect_configurations_agree(draw, stage, "sum_i32", 2, Numbers::constant);
    }
}

/// One text serves many configurations, so more of them can be tried.
TEST(StagesOnSimt, ConfigurationsGivenAtTheLaunchAgreeWithTheReference)
{
    Draw draw;
    for (const auto& stage : plans()) {
        expect_configurations_agree(draw, stage, "affine_u32", 12, Numbers::at_launch);
        expect_configurations_agree(draw, stage, "sum_i32", 4, Numbers::at_launch);
        expect_configurations_agree(draw, stage, "trace_u64", 2, Numbers::at_launch, 64);
    }
}

/// Grids of reproducible plans do not depend on the number of multiprocessors, and so sums that round do not
/// either.
TEST(StagesOnSimt, ReproducibleSumsAreTheSameOnEveryGpu)
{
    const auto& stage = Catalogue::standard().stage("warp_stream");
    const Problem problem(standard_operator("sum_f32"), SegmentForm::offsets);
    auto emitted = emit(problem, stage, smallest_configuration(stage, problem));
    const std::int64_t n = 20000;
    Workload workload;
    workload.op = problem.op;
    workload.segments = segments_from_offsets(index_array({0, 3, n - 5, n}), n);
    workload.arrays.push_back(generate_values(Type::f32, n, 7, ValueRange::uniform));
    const auto sum_on = [&](int multiprocessors) {
        return simt::run(workload, emitted, {}, {}, multiprocessors)[0].array.as<float>()[1];
    };
    EXPECT_NE(sum_on(1), sum_on(3)) << "these values cannot tell one order from another";
    emitted.is_reproducible = true;
    EXPECT_EQ(sum_on(1), sum_on(3));
}

/// Segments that begin exactly with a warp's share and reach over the next shares. The segment that ended
/// with the share before must not enter them.
TEST(StagesOnSimt, SegmentsBeginWhereSharesDo)
{
    const auto& stage = Catalogue::standard().stage("warp_stream");
    const Problem problem(standard_operator("trace_u64"), SegmentForm::uniform);
    const auto configuration = smallest_configuration(stage, problem);
    const auto emitted = emit(problem, stage, configuration);
    const std::int64_t n =
        block_and_tile(configuration).second * configuration.at("blocks_per_multiprocessor") * 8;
    for (const std::int64_t segments : {2, 4}) {
        const auto workload = make_workload("trace_u64", uniform_segments(n, n / segments), 3);
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
        ASSERT_TRUE(comparison.agrees()) << segments << " segments: " << segfold::print(comparison);
    }
}

/// A tile_scan with so many tiles that carries cross groups of tiles, and groups of groups.
TEST(StagesOnSimt, CarriesCrossManyGroups)
{
    const auto& stage = Catalogue::standard().stage("tile_scan");
    const Problem problem(standard_operator("trace_u64"), SegmentForm::offsets);
    const auto configuration = smallest_configuration(stage, problem);
    const auto [block, tile] = block_and_tile(configuration);
    const std::int64_t n = tile * block * 3 + 7;  // more than three groups of tiles
    const auto emitted = emit(problem, stage, configuration);
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{n},
          std::vector<std::int64_t>{3, tile * block + 5, n - 3 - tile * block - 5},
          std::vector<std::int64_t>{n - 1, 1}}) {
        const auto workload =
            make_workload("trace_u64", segments_from_offsets(index_array(offsets_of(lengths)), n), 3);
        simt::CompileOptions unchecked;
        unchecked.shadow_check = false;
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted, {}, unchecked));
        ASSERT_TRUE(comparison.agrees()) << segfold::print(comparison);
    }
}

/// A grid_reduce with more blocks than a block has threads, so that the last block's threads join several
/// partials.
TEST(StagesOnSimt, TheLastBlockJoinsManyPartials)
{
    const auto& stage = Catalogue::standard().stage("grid_reduce");
    for (const std::string op : {"sum_i32", "trace_u64"}) {
        const Problem problem(standard_operator(op), SegmentForm::whole);
        const auto configuration = smallest_configuration(stage, problem);
        const auto [block, tile] = block_and_tile(configuration);
        const auto emitted = emit(problem, stage, configuration);
        const auto workload = make_workload(op, whole_segments(tile * block * 2 + 1), 3);
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted, {}, {}, 256));
        ASSERT_TRUE(comparison.agrees()) << op << ": " << segfold::print(comparison);
    }
}

/// In every stage and form, index, position, segment and length reach the operator, and tables are read.
///
/// Reads are checked, and 0, which stages put behind the last element, is not a valid place of the table. So
/// a lift of an item outside of all segments would be reported.
TEST(StagesOnSimt, PlacesAndTablesReachTheOperator)
{
    const auto op = parse_operator("places", R"(
        operator places(column: i32, t: table i64) -> (a: i64, b: i64, c: i64, n: i64) {
            state { a: i64 = 0; b: i64 = 0; c: i64 = 0 }
            lift { a = index * 3 + position; b = segment * position; c = t[column - 1] }
            combine(a, b) { a = a.a + b.a; b = a.b + b.b; c = a.c + b.c }
            finish { a = a; b = b + segment; c = c; n = length }
            empty { a = -1; b = segment; c = 0; n = length }
        })");
    Draw draw;
    for (const auto& stage : Catalogue::standard().stages())
        for (const auto kind :
             {LayoutKind::whole, LayoutKind::uniform, LayoutKind::offsets, LayoutKind::ranges}) {
            Problem problem(op, form_of(kind));
            problem.checked_tables = {"t"};
            if (Catalogue::standard().unmet(stage, problem) ||
                !draw.takes(stage.name + " " + std::string(name(kind))))
                continue;
            const auto configuration = smallest_configuration(stage, problem);
            const auto [block, tile] = block_and_tile(configuration);
            const auto emitted = emit(problem, stage, configuration);
            for (const auto& shape : segment_cases(kind, block, tile, true)) {
                Workload workload;
                workload.op = op;
                workload.segments = shape.segments.copy();
                const auto n = workload.segments.num_elements;
                auto column = generate_values(Type::i32, n, 5, ValueRange::small_integers);
                for (auto& value : column.as<std::int32_t>())
                    value = (value < 0 ? -value : value) + 1;
                workload.arrays.push_back(std::move(column));
                workload.arrays.push_back(generate_values(Type::i64, 20, 6, ValueRange::small_integers));
                const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
                ASSERT_TRUE(comparison.agrees())
                    << stage.name << ", " << shape.name << ": " << segfold::print(comparison);
            }
        }
}

}  // namespace
}  // namespace segfold::test::stages_simt_test
