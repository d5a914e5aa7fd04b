// Every stage x operator x layout x shape on the fiber executor, under several schedules, against the
// reference.
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/backends/simt/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/stage_cases.h"

namespace segfold::test {
namespace {

constexpr LayoutKind kKinds[] = {LayoutKind::whole,  LayoutKind::uniform, LayoutKind::offsets,
                                 LayoutKind::ranges, LayoutKind::lengths, LayoutKind::flags,
                                 LayoutKind::keys};

struct StageCase {
    std::string stage;
    std::string op;
};

std::string print(const StageCase& c) { return c.stage + "_" + c.op; }

/// How a stage is given segments: their layout, and the width of indices.
struct Way {
    LayoutKind kind;
    int index_bits;
};

/// One operator with 64-bit indices on each form is enough: nothing else depends on the width.
std::vector<Way> ways(const Stage& stage, const std::string& name)
{
    const auto op = standard_operator(name);
    std::vector<Way> all;
    for (const auto kind : kKinds)
        for (const int bits : {32, 64}) {
            const bool kept = bits == 32 || (name == "trace_u64" && kind != LayoutKind::lengths &&
                                             takes_directly(stage, kind));
            if (kept && !Catalogue::standard().unmet(stage, Problem(op, form_of(kind), bits)))
                all.push_back({kind, bits});
        }
    return all;
}

std::vector<StageCase> all_cases()
{
    std::vector<StageCase> cases;
    for (const auto& stage : plans())
        for (const auto& op : kMatrixOperators)
            if (!ways(stage, op).empty())
                cases.push_back({stage.name, op});
    return cases;
}

[[maybe_unused]] void PrintTo(const StageCase& c, std::ostream* out) { *out << print(c); }

/// Every shape of one layout, under three schedules where kernels read segments in that layout. Of one that
/// the host turns into another the kernels see nothing new, and a schedule is enough.
void expect_agreement(const Stage& stage, const std::string& op, Way way)
{
    const Problem problem(standard_operator(op), form_of(way.kind), way.index_bits);
    const auto configuration = smallest_configuration(stage, problem);
    const auto emitted = emit(problem, stage, configuration);
    const auto [block, tile] = block_and_tile(configuration);
    const std::uint64_t last_seed =
        way.kind != LayoutKind::lengths && takes_directly(stage, way.kind) ? 3 : 1;
    for (const auto& shape : segment_cases(way.kind, block, tile, problem.op.allows_empty())) {
        const auto workload = make_workload(op, with_index_bits(shape.segments.copy(), way.index_bits), 11);
        const Judge judge(workload);
        for (std::uint64_t seed = 1; seed <= last_seed; ++seed) {
            const int multiprocessors =
                seed == 1 ? 1 : 64;                  // few blocks that loop, or a block for everything
            const int launches = seed == 2 ? 2 : 1;  // the second meets the scratch that the first has left
            const auto results =
                simt::run(workload, emitted, simt::options_from_seed(seed), {}, multiprocessors, launches);
            const auto comparison = judge.compare(results);
            ASSERT_TRUE(comparison.agrees())
                << shape.name << ", seed " << seed << ": " << segfold::print(comparison);
        }
    }
}

class StagesOnSimt : public testing::TestWithParam<StageCase> {};

/// All layouts in one process: those that a stage reads in the same form have one text, compiled once.
TEST_P(StagesOnSimt, AgreeWithTheReference)
{
    const auto& stage = Catalogue::standard().stage(GetParam().stage);
    for (const auto way : ways(stage, GetParam().op)) {
        SCOPED_TRACE(std::string(name(way.kind)) + ", " + std::to_string(way.index_bits) + "-bit indices");
        expect_agreement(stage, GetParam().op, way);
    }
}

INSTANTIATE_TEST_SUITE_P(Matrix, StagesOnSimt, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return print(info.param); });

/// Other configurations than the smallest one, on the shapes that cross most borders.
void expect_configurations_agree(const Stage& stage, const std::string& op, std::size_t most, Numbers numbers,
                                 int bits = 32)
{
    // Ranges where the stage takes them, keys rather than flags.
    const auto form = is_found(stage.forms.back()) ? SegmentForm::keys : stage.forms.back();
    const Problem problem(standard_operator(op), form, bits);
    if (Catalogue::standard().unmet(stage, problem))
        return;
    for (const auto& configuration : some_configurations(stage, problem, most)) {
        const auto emitted = emit(problem, stage, configuration, Catalogue::standard(), numbers);
        const auto tile = block_and_tile(configuration).second;
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
    for (const auto& stage : plans()) {
        expect_configurations_agree(stage, "affine_u32", 8, Numbers::constant);
        expect_configurations_agree(stage, "sum_i32", 2, Numbers::constant);
    }
}

/// Of one text there are many configurations, so that more of them can be tried.
TEST(StagesOnSimt, ConfigurationsGivenAtTheLaunchAgreeWithTheReference)
{
    for (const auto& stage : plans()) {
        expect_configurations_agree(stage, "affine_u32", 12, Numbers::at_launch);
        expect_configurations_agree(stage, "sum_i32", 4, Numbers::at_launch);
        expect_configurations_agree(stage, "trace_u64", 2, Numbers::at_launch, 64);
    }
}

/// Grids of reproducible plans do not follow the GPU's multiprocessors, and so sums that round do not either.
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

/// Segments that begin exactly where a warp's share does and reach over the next ones: what ended with the
/// share before must not enter them.
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

/// A run_stream with so many tiles that its tree has three levels, the last group of each not full.
TEST(StagesOnSimt, CarriesClimbTheTree)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    const auto configuration =
        smallest_configuration(stage, Problem(standard_operator("trace_u64"), SegmentForm::keys));
    Problem problem(standard_operator("trace_u64"), SegmentForm::keys);
    const auto emitted = emit(problem, stage, configuration);
    const std::int64_t tile = configuration.at("block_threads") - 32;  // one item a thread
    const std::int64_t n = tile * (32 * 32 + 40) + 7;
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{n},
          std::vector<std::int64_t>{3, tile * 70, 1, tile * 955, tile, n - tile * 1026 - 4}}) {
        const auto workload = make_workload("trace_u64", from_keys(lengths), 3);
        simt::CompileOptions unchecked;
        unchecked.shadow_check = false;
        const auto comparison = Judge(workload).compare(simt::run(workload, emitted, {}, unchecked));
        ASSERT_TRUE(comparison.agrees()) << segfold::print(comparison);
    }
}

/// Keys of every width, equal by their bits, and flags of every type.
TEST(StagesOnSimt, KeysMayHaveAnyWidth)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    auto configuration =
        smallest_configuration(stage, Problem(standard_operator("sum_i32"), SegmentForm::keys));
    configuration["items_per_thread"] = 16;  // so that lanes read as many keys at once as they can
    for (const Type type :
         {Type::u8, Type::boolean, Type::bf16, Type::i16, Type::f32, Type::i64, Type::f64}) {
        // Bits alone tell keys apart: they differ in the highest byte only, and NaN equals itself.
        Array keys(type, 3000);
        const auto width = size_bytes(type);
        std::memset(keys.data(), type == Type::boolean ? 0 : 0xff, keys.bytes());
        for (std::size_t i = 0; i < keys.length(); ++i)
            keys.data()[i * width + width - 1] = static_cast<std::byte>(i / 7 % 2);
        for (std::size_t i = 1000; i < 2500; ++i)
            keys.data()[i * width + width - 1] = std::byte{0};
        Problem problem(standard_operator("sum_i32"), SegmentForm::keys);
        problem.key_bytes = static_cast<int>(width);
        const auto workload = make_workload("sum_i32", segments_from_keys(keys.copy(), 3000), 5);
        const auto results = simt::run(workload, emit(problem, stage, configuration));
        ASSERT_TRUE(results.keys);
        EXPECT_EQ(results.keys->type(), type);
        const auto comparison = Judge(workload).compare(results);
        ASSERT_TRUE(comparison.agrees()) << name(type) << ": " << segfold::print(comparison);
    }
}

/// Flags and keys are read in vectors where a lane has 16 items, which small tiles and wide states hide.
TEST(StagesOnSimt, FlagsAndKeysAreReadInVectors)
{
    const auto op = parse_operator("hash", R"(
        operator hash(x: u16) -> (hash: u16, power: u16) {
            state { hash: u16 = 0; power: u16 = 1 }
            lift { hash = x + 1; power = 31 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        })");
    const auto& stage = Catalogue::standard().stage("run_stream");
    auto configuration =
        smallest_configuration(stage, Problem(standard_operator("sum_i32"), SegmentForm::keys));
    configuration["items_per_thread"] = 16;
    const auto [block, tile] = block_and_tile(configuration);
    for (const auto kind : {LayoutKind::flags, LayoutKind::keys}) {
        const auto emitted = emit(Problem(op, form_of(kind)), stage, configuration);
        for (const auto& shape : segment_cases(kind, block, tile, true)) {
            Workload workload;
            workload.op = op;
            workload.segments = shape.segments.copy();
            workload.arrays.push_back(
                generate_values(Type::u16, workload.segments.num_elements, 5, ValueRange::uniform));
            const auto results = simt::run(workload, emitted, simt::options_from_seed(2), {}, 2, 2);
            const auto comparison = Judge(workload).compare(results);
            ASSERT_TRUE(comparison.agrees())
                << name(kind) << ", " << shape.name << ": " << segfold::print(comparison);
        }
    }
}

/// Bits must not depend on the schedule, even where rounding tells one order of combination from another.
TEST(StagesOnSimt, CarriesAreCombinedInOneOrder)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    const auto emitted =
        emit(Problem(standard_operator("sum_f32"), SegmentForm::flags), stage,
             smallest_configuration(stage, Problem(standard_operator("sum_f32"), SegmentForm::flags)));
    const auto workload = make_workload("sum_f32", from_flags({5, 20000, 3, 9000}), 5);
    const auto first = simt::run(workload, emitted);
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        const auto other =
            simt::run(workload, emitted, simt::options_from_seed(seed), {}, static_cast<int>(seed) * 3);
        for (std::size_t s = 0; s < 4; ++s)
            EXPECT_EQ(first[0].array.as<std::uint32_t>()[s], other[0].array.as<std::uint32_t>()[s]) << seed;
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
///
/// Reads are checked, and the zeros that stages put behind the last element are no places of the table: what
/// is lifted though no segment has it would be reported.
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
    for (const auto& stage : Catalogue::standard().stages())
        for (const auto kind :
             {LayoutKind::whole, LayoutKind::uniform, LayoutKind::offsets, LayoutKind::ranges}) {
            Problem problem(op, form_of(kind));
            problem.checked_tables = {"t"};
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
                    value = (value < 0 ? -value : value) + 1;
                workload.arrays.push_back(std::move(column));
                workload.arrays.push_back(generate_values(Type::i64, 20, 6, ValueRange::small_integers));
                const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
                ASSERT_TRUE(comparison.agrees())
                    << stage.name << ", " << shape.name << ": " << segfold::print(comparison);
            }
        }
}

/// index, segment and length reach the operator, and tables are read, where kernels find the segments.
TEST(StagesOnSimt, LengthsOfFoundSegmentsReachTheOperator)
{
    const auto op = parse_operator("places", R"(
        operator places(column: i32, t: table i64) -> (a: i64, b: i64, n: i64) {
            state { a: i64 = 0; c: i64 = 0 }
            lift { a = index * 3; c = t[column - 1] }
            combine(a, b) { a = a.a + b.a; c = a.c + b.c }
            finish { a = a * 7 + c; b = segment; n = length }
        })");
    const auto& stage = Catalogue::standard().stage("run_stream");
    const auto configuration =
        smallest_configuration(stage, Problem(standard_operator("sum_i32"), SegmentForm::keys));
    const std::int64_t block = configuration.at("block_threads");
    for (const auto kind : {LayoutKind::flags, LayoutKind::keys})
        for (const int bits : {32, 64}) {
            Problem problem(op, form_of(kind), bits);
            problem.checked_tables = {"t"};
            const auto emitted = emit(problem, stage, configuration);
            for (const auto& shape : segment_cases(kind, block, block - 32, true)) {
                Workload workload;
                workload.op = op;
                workload.segments = with_index_bits(shape.segments.copy(), bits);
                const auto n = workload.segments.num_elements;
                auto column = generate_values(Type::i32, n, 5, ValueRange::small_integers);
                for (auto& value : column.as<std::int32_t>())
                    value = (value < 0 ? -value : value) + 1;
                workload.arrays.push_back(std::move(column));
                workload.arrays.push_back(generate_values(Type::i64, 20, 6, ValueRange::small_integers));
                const auto comparison = Judge(workload).compare(simt::run(workload, emitted));
                ASSERT_TRUE(comparison.agrees()) << shape.name << ": " << segfold::print(comparison);
            }
        }
}

}  // namespace
}  // namespace segfold::test
