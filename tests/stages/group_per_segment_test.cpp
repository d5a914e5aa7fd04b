// Delicate cases of the stage group_per_segment: segments that begin and end anywhere in a vector, elements
// of every width, arrays that begin anywhere. Also thread_per_segment with several segments at a time.
#include <gtest/gtest.h>

#include "dsl/error.h"
#include "runtime/backends/simt_backend.h"
#include "runtime/judge/compare.h"
#include "tests/common/brief_tests.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::group_per_segment_test {
namespace {

using Lengths = std::vector<std::int64_t>;

const Stage& groups() { return Catalogue::standard().stage("group_per_segment"); }
const Stage& threads() { return Catalogue::standard().stage("thread_per_segment"); }

Configuration of_groups(int lanes, int segments, int vector)
{
    return {{"block_threads", 64},
            {"lanes_per_segment", lanes},
            {"segments_per_group", segments},
            {"vector_items", vector}};
}

void expect_agreement(const std::string& what, const Workload& workload, const Emitted& emitted,
                      int shifted_elements = 0)
{
    SCOPED_TRACE(what);
    try {
        const auto seed = static_cast<std::uint64_t>(1 + shifted_elements);
        const auto comparison = Judge(workload).compare(
            simt::run(workload, emitted, simt::options_from_seed(seed), {}, 2, 1, shifted_elements));
        EXPECT_TRUE(comparison.agrees()) << segfold::print(comparison);
    } catch (const Error& error) {
        ADD_FAILURE() << error.what();
    }
}

/// Lengths of segments that begin and end at every place in a vector: shorter than a vector, about a row of
/// `row` items, and much longer. The array ends inside a vector.
Lengths anywhere(std::int64_t vector, std::int64_t row)
{
    Lengths lengths;
    for (std::int64_t residue = 0; residue < vector; ++residue)
        for (const auto length : {vector - 1, row - residue, row + 1}) {
            lengths.push_back(length);
            // The segment after this filler begins one place further in a vector.
            lengths.push_back((2 * vector + 1 - length % vector) % vector);
        }
    lengths.push_back(3 * row + vector / 2 + 1);
    return lengths;
}

/// Named lengths of neighbouring segments.
std::vector<std::pair<std::string, Lengths>> shapes(std::int64_t vector, std::int64_t row)
{
    auto with_empties = anywhere(vector, row);
    with_empties.insert(with_empties.begin(), 3, 0);
    for (std::size_t i = 5; i < with_empties.size(); i += 3)
        with_empties[i] = 0;
    with_empties.insert(with_empties.end(), 70, 0);
    return {{"anywhere", anywhere(vector, row)},
            {"empties first, last and between", with_empties},
            {"all empty", Lengths(67, 0)},
            {"one element", {1}},
            {"a vector less one", {0, vector - 1, 0}}};
}

std::vector<SegmentCase> cases(SegmentForm form, std::int64_t vector, std::int64_t row, bool empties)
{
    std::vector<SegmentCase> list;
    if (form == SegmentForm::uniform) {
        for (const auto length :
             {std::int64_t{1}, vector - 1, vector, vector + 1, row - 1, row, row + 1, 2 * row + vector / 2})
            list.push_back({std::to_string(length) + " each", uniform_segments(length * 37, length)});
        return list;
    }
    for (auto& [name, lengths] : shapes(vector, row)) {
        if (!empties)
            std::erase(lengths, 0);
        if (!lengths.empty())
            list.push_back({name, segments_in_form(form, lengths)});
    }
    return list;
}

struct Grouped {
    std::string op;
    SegmentForm form;
    int bits = 32;
};

std::string print(const Grouped& c)
{
    return c.op + "_" + std::string(name(c.form)) + (c.bits == 64 ? "_wide" : "");
}

[[maybe_unused]] void PrintTo(const Grouped& c, std::ostream* out) { *out << print(c); }

std::vector<Grouped> grouped()
{
    std::vector<Grouped> list;
    for (const auto form : {SegmentForm::offsets, SegmentForm::uniform, SegmentForm::ranges})
        for (const auto* op : {"sum_i32", "mean_variance_f32", "affine_u32", "keep_first_i32"})
            list.push_back({op, form});
    list.push_back({"trace_u64", SegmentForm::offsets, 64});
    list.push_back({"appended_hash", SegmentForm::offsets});
    return list;
}

class SegmentsOfGroups : public testing::TestWithParam<Grouped> {};

TEST_P(SegmentsOfGroups, BeginAndEndAnywhereInAVector)
{
    Draw draw;
    const auto& param = GetParam();
    const Problem problem(matrix_operator(param.op), param.form, param.bits);
    const auto allowed = configurations(groups(), plan_facts(problem));
    for (const int vector : {4, 8, 16})
        for (const int lanes : {1, 2, 32})
            for (const int segments : {1, 2}) {
                const auto configuration = of_groups(lanes, segments, vector);
                if (std::ranges::find(allowed, configuration) == allowed.end() ||
                    !draw.takes(print(param) + " " + segfold::print(configuration)))
                    continue;
                const auto emitted = emit(problem, groups(), configuration);
                for (const auto& [name, segments_of] :
                     cases(param.form, vector, vector * lanes, problem.op.allows_empty()))
                    expect_agreement(
                        segfold::print(configuration) + ", " + name,
                        make_workload(param.op, with_index_bits(segments_of.copy(), param.bits), 7), emitted,
                        lanes == 2 ? 1 : 0);
            }
}

INSTANTIATE_TEST_SUITE_P(GroupPerSegment, SegmentsOfGroups, testing::ValuesIn(grouped()),
                         [](const auto& info) { return print(info.param); });

/// The polynomial hash of a column of any type.
Operator hash_of(Type type)
{
    return parse_operator("hash", "operator hash(x: " + std::string(name(type)) +
                                      R"() -> (hash: u64, power: u64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(i32(x) + 9); power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
        })");
}

/// Columns of 1, 2, 4 and 8 bytes; bytes are read as words. Arrays begin in the middle of a vector.
TEST(GroupPerSegment, ElementsMayHaveAnyWidthAndArraysBeginAnywhere)
{
    for (const auto type : {Type::i8, Type::boolean, Type::i16, Type::f32, Type::i64})
        for (const auto form : {SegmentForm::offsets, SegmentForm::ranges}) {
            const Problem problem(hash_of(type), form);
            for (const int vector : {4, 8, 16}) {
                const auto emitted = emit(problem, groups(), of_groups(2, 2, vector));
                for (const auto& [what, segments] : cases(form, vector, 2 * vector, true)) {
                    auto workload = make_workload(problem.op, segments.copy(), 3);
                    workload.arrays[0] =
                        generate_values(type, workload.segments.num_elements, 3, ValueRange::small_integers);
                    for (const int shift : {0, 1, 3})
                        expect_agreement(std::string(name(type)) + ", vectors of " + std::to_string(vector) +
                                             ", " + what + ", shifted by " + std::to_string(shift),
                                         workload, emitted, shift);
                }
            }
        }
}

/// An operator that uses the places of elements and the lengths of segments.
Operator placed()
{
    return parse_operator("placed", R"(
        operator placed(x: u32) -> (hash: u64, power: u64, count: i64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) + u64(index * 3 + position * 5 + segment * 7); power = 0xd1342543de82ef95 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
            finish { hash = hash; power = power; count = length }
        })");
}

TEST(ThreadPerSegment, SeveralSegmentsAreUnderWay)
{
    const std::vector<std::pair<std::string, Lengths>> lists = {{"fewer than a block takes", {3, 0, 5}},
                                                                {"no elements", Lengths(600, 0)},
                                                                {"no segments", {}},
                                                                {"empty first and last",
                                                                 [] {
                                                                     Lengths lengths(70, 0);
                                                                     for (std::int64_t i = 0; i < 1200; ++i)
                                                                         lengths.push_back(i * 7 % 11 / 2);
                                                                     lengths.insert(lengths.end(), 600, 0);
                                                                     return lengths;
                                                                 }()},
                                                                {"a long one among ones", [] {
                                                                     Lengths lengths(1100, 1);
                                                                     lengths[70] = 40;
                                                                     return lengths;
                                                                 }()}};
    for (const auto* name_of : {"placed", "sum_i32", "affine_u32", "keep_first_i32", "appended_hash"})
        for (const auto form : {SegmentForm::offsets, SegmentForm::ranges})
            for (const int bits : {32, 64}) {
                const auto op = std::string(name_of) == "placed" ? placed() : matrix_operator(name_of);
                const Problem problem(op, form, bits);
                for (const int per_thread : {2, 4, 8}) {
                    const auto emitted = emit(problem, threads(),
                                              {{"block_threads", 64}, {"segments_per_thread", per_thread}});
                    for (auto [what, lengths] : lists) {
                        if (!op.allows_empty())
                            std::erase(lengths, 0);
                        expect_agreement(
                            op.name + " over " + std::string(name(form)) + ", " + what + ", " +
                                std::to_string(per_thread) + " a thread",
                            make_workload(op, with_index_bits(segments_in_form(form, lengths), bits), 5),
                            emitted);
                    }
                }
            }
}

/// Tables must not be read for elements behind a segment's end, or for elements outside of all segments.
void expect_tables_read_for_elements_only(const Stage& stage, const Configuration& configuration)
{
    const auto of_column = parse_operator("of_column", R"(
        operator of_column(column: i32, t: table i32) -> i32 {
            state sum: i32 = 0
            lift t[column]
            combine(a, b) a + b
        })");
    const auto of_position = parse_operator("of_position", R"(
        operator of_position(column: i32, t: table i32) -> i32 {
            state sum: i32 = 0
            lift t[i64(column) - position]
            combine(a, b) a + b
        })");
    for (const bool is_checked : {false, true}) {
        const auto expect = [&](const Operator& op, Segments segments,
                                const std::vector<std::int32_t>& column) {
            Problem problem(op, segments.form);
            if (is_checked)
                problem.checked_tables = {"t"};
            if (Catalogue::standard().unmet(stage, problem))
                return;
            auto workload = make_workload(op, std::move(segments), 3, 1);
            workload.arrays[0] = Array::of<std::int32_t>(Type::i32, column);
            expect_agreement(op.name + ", " + segfold::print(configuration) + (is_checked ? ", checked" : ""),
                             workload, emit(problem, stage, configuration));
        };
        Lengths lengths(600, 1);
        lengths[64] = 30;
        std::vector<std::int32_t> places;
        for (const auto length : lengths)
            for (std::int32_t i = 0; i < length; ++i)
                places.push_back(i);
        expect(of_position, segments_in_form(SegmentForm::offsets, lengths), places);
        Lengths begins(600, 2), ends(600, 3);
        ends[64] = 2;  // behind an element that is in no segment
        expect(of_column, segments_from_ranges(index_array(begins), index_array(ends), 4), {7, 7, 0, 7});
        std::vector<std::int32_t> gaps(20, 7);
        gaps[9] = gaps[10] = 0;
        expect(of_column, segments_from_ranges(index_array({9, 10, 20}), index_array({11, 10, 20}), 20),
               gaps);
    }
}

TEST(GroupPerSegment, TablesAreReadForElementsOnly)
{
    for (const int lanes : {1, 4})
        for (const int vector : {4, 16})
            expect_tables_read_for_elements_only(groups(), of_groups(lanes, 2, vector));
}

TEST(ThreadPerSegment, TablesAreReadForElementsOnly)
{
    for (const int per_thread : {1, 2, 8})
        expect_tables_read_for_elements_only(threads(),
                                             {{"block_threads", 64}, {"segments_per_thread", per_thread}});
}

}  // namespace
}  // namespace segfold::test::group_per_segment_test
