// Every stage x operator x layout x shape on the fiber executor, under several schedules, against the
// reference.
#include <gtest/gtest.h>

#include "runtime/compare.h"
#include "runtime/simt/simt_backend.h"
#include "tests/stage_cases.h"

namespace segfold::test {
namespace {

constexpr LayoutKind kKinds[] = {LayoutKind::whole,  LayoutKind::uniform, LayoutKind::offsets,
                                 LayoutKind::ranges, LayoutKind::lengths, LayoutKind::flags,
                                 LayoutKind::keys};

struct StageCase {
    std::string stage;
    std::string op;
    LayoutKind kind;
    int index_bits;
};

std::string print(const StageCase& c)
{
    return c.stage + "_" + c.op + "_" + std::string(name(c.kind)) + (c.index_bits == 64 ? "_wide" : "");
}

std::vector<StageCase> all_cases()
{
    std::vector<StageCase> cases;
    for (const auto& stage : Catalogue::standard().stages())
        for (const auto& op : kMatrixOperators)
            for (const auto kind : kKinds)
                for (const int bits : {32, 64}) {
                    const Problem problem(standard_operator(op), form_of(kind), bits);
                    // One operator with 64-bit indices on each form is enough: nothing else depends on the
                    // width.
                    const bool kept = bits == 32 || (op == "trace_u64" && kind <= LayoutKind::ranges);
                    if (kept && !Catalogue::standard().unmet(stage, problem))
                        cases.push_back({stage.name, op, kind, bits});
                }
    return cases;
}

[[maybe_unused]] void PrintTo(const StageCase& c, std::ostream* out) { *out << print(c); }

class StagesOnSimt : public testing::TestWithParam<StageCase> {};

TEST_P(StagesOnSimt, AgreeWithTheReference)
{
    const auto& param = GetParam();
    const auto& stage = Catalogue::standard().stage(param.stage);
    const Problem problem(standard_operator(param.op), form_of(param.kind), param.index_bits);
    const auto configuration = smallest_configuration(stage, problem);
    const auto emitted = emit(problem, stage, configuration);
    const auto [block, tile] = block_and_tile(configuration);
    for (const auto& shape : segment_cases(param.kind, block, tile, problem.op.allows_empty())) {
        const auto workload =
            make_workload(param.op, with_index_bits(shape.segments.copy(), param.index_bits), 11);
        const Judge judge(workload);
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const int multiprocessors =
                seed == 1 ? 1 : 64;  // few blocks that loop, or a block for everything
            const auto results =
                simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors);
            const auto comparison = judge.compare(results);
            ASSERT_TRUE(comparison.agrees())
                << shape.name << ", seed " << seed << ": " << segfold::print(comparison);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, StagesOnSimt, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// Other configurations than the smallest one, on the shapes that cross most borders.
TEST(StagesOnSimt, EveryConfigurationAgreesWithTheReference)
{
    for (const auto& stage : Catalogue::standard().stages()) {
        const auto form = stage.forms.back();  // offsets or ranges where the stage takes them
        const Problem problem(standard_operator("affine_u32"), form);
        for (const auto& configuration : configurations(stage, plan_facts(problem))) {
            const auto emitted = emit(problem, stage, configuration);
            const auto tile = block_and_tile(configuration).second;
            const std::vector<std::int64_t> lengths = {0, tile - 1, 1, 2 * tile + 3, 0, 5, 31, 33, tile};
            auto segments = form == SegmentForm::ranges ? scattered_ranges(lengths)
                            : form == SegmentForm::offsets
                                ? segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))
                                : whole_segments(3 * tile + 1);
            const auto workload = make_workload("affine_u32", std::move(segments), 5);
            const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
            ASSERT_TRUE(comparison.agrees())
                << stage.name << " " << segfold::print(configuration) << ": " << segfold::print(comparison);
        }
    }
}

/// A tile_scan with so many tiles that carries cross groups of tiles, and groups of groups.
TEST(StagesOnSimt, CarriesCrossManyGroups)
{
    const auto& stage = Catalogue::standard().stage("tile_scan");
    const Problem problem(standard_operator("trace_u64"), SegmentForm::offsets);
    const auto configuration = smallest_configuration(stage, problem);
    const auto [block, tile] = block_and_tile(configuration);
    const std::int64_t n = tile * block * 3 + 7;  // more than three groups
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

/// index, position, segment and length reach the operator, and tables are read, in every stage and form.
TEST(StagesOnSimt, PlacesAndTablesReachTheOperator)
{
    const auto op = parse_operator("places", R"(
        operator places(column: i32, t: table i64) -> (a: i64, b: i64, c: i64, n: i64) {
            state { a: i64 = 0; b: i64 = 0; c: i64 = 0 }
            lift { a = index * 3 + position; b = segment * position; c = t[column] }
            combine(a, b) { a = a.a + b.a; b = a.b + b.b; c = a.c + b.c }
            finish { a = a; b = b + segment; c = c; n = length }
            empty { a = -1; b = segment; c = 0; n = length }
        })");
    for (const auto& stage : Catalogue::standard().stages())
        for (const auto kind :
             {LayoutKind::whole, LayoutKind::uniform, LayoutKind::offsets, LayoutKind::ranges}) {
            Problem problem(op, form_of(kind));
            if (Catalogue::standard().unmet(stage, problem))
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
                    value = value < 0 ? -value : value;
                workload.arrays.push_back(std::move(column));
                workload.arrays.push_back(generate_values(Type::i64, 20, 6, ValueRange::small_integers));
                const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
                ASSERT_TRUE(comparison.agrees())
                    << stage.name << ", " << shape.name << ": " << segfold::print(comparison);
            }
        }
}

}  // namespace
}  // namespace segfold::test
