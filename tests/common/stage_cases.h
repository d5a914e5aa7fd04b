#pragma once
// The shapes and operators that every stage must get right, on every back end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "codegen/emit.h"
#include "dsl/error.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/check/smallest_configuration.h"
#include "runtime/data/generated/generated_arrays.h"
#include "runtime/data/index_at.h"
#include "runtime/data/resolve.h"
#include "runtime/data/workload.h"
#include "tests/common/appending_operators.h"

namespace segfold::test {

/// Segments with a name for messages of failures.
struct SegmentCase {
    std::string name;
    Segments segments;
};

/// All layout kinds, in the order of the language.
inline constexpr LayoutKind kLayoutKinds[] = {LayoutKind::whole,  LayoutKind::uniform, LayoutKind::offsets,
                                              LayoutKind::ranges, LayoutKind::lengths, LayoutKind::flags,
                                              LayoutKind::keys};

/// Operators of the matrix, in order: commutative and exact; not commutative; with two columns; without
/// identity; with several fields; with rounding.
inline const std::vector<std::string> kMatrixOperators = {
    "sum_i32", "trace_u64", "affine_u32", "keep_first_i32", "max_subarray_i32", "mean_variance_f32"};

/// The stages that find segments in flags or keys.
inline const std::vector<std::string> kRunStages = {"run_stream", "run_tiles", "lean_stream"};

inline Array index_array(const std::vector<std::int64_t>& values)
{
    return Array::of<std::int64_t>(Type::i64, values);
}

inline std::int64_t total(const std::vector<std::int64_t>& lengths)
{
    std::int64_t sum = 0;
    for (const auto length : lengths)
        sum += length;
    return sum;
}

inline std::vector<std::int64_t> offsets_of(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::int64_t> offsets = {0};
    for (const auto length : lengths)
        offsets.push_back(offsets.back() + length);
    return offsets;
}

/// Lengths near the borders of a block of `block` threads and of tiles of `tile` items.
inline std::vector<std::int64_t> boundary_sizes(std::int64_t block, std::int64_t tile)
{
    return {0, 1, 31, 32, 33, block - 1, block, block + 1, tile - 1, tile, tile + 1, 3 * tile + 1};
}

/// Named lists of segment lengths. Lists contain empty segments only if `empties`.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> length_cases(std::int64_t block,
                                                                                   std::int64_t tile,
                                                                                   bool empties)
{
    std::vector<std::pair<std::string, std::vector<std::int64_t>>> cases;
    for (const auto n : boundary_sizes(block, tile)) {
        if (n == 0 && !empties)
            continue;
        cases.emplace_back("one segment of " + std::to_string(n), std::vector<std::int64_t>{n});
        cases.emplace_back("ones, " + std::to_string(n),
                           std::vector<std::int64_t>(static_cast<std::size_t>(n), 1));
    }
    cases.emplace_back("all boundary sizes in a row", std::vector<std::int64_t>());
    for (const auto n : boundary_sizes(block, tile))
        if (n != 0 || empties)
            cases.back().second.push_back(n);
    cases.emplace_back("tiles exactly", std::vector<std::int64_t>{tile, tile, tile});
    cases.emplace_back("a segment over three tiles between short ones",
                       std::vector<std::int64_t>{5, tile - 5, 3, 3 * tile, 7, 2, tile});
    cases.emplace_back("segments that begin on the last item of a tile",
                       std::vector<std::int64_t>{tile - 1, 2, tile - 2, tile + 1, 5});
    cases.emplace_back("segments that end late in the next tile",
                       std::vector<std::int64_t>{tile / 2 + 1, tile + tile / 4, tile, 3});
    std::vector<std::int64_t> giant(200, 1);
    giant[100] = 2 * tile + 3;
    cases.emplace_back("one giant among ones", giant);
    std::vector<std::int64_t> power_law;
    for (std::int64_t i = 1; i <= 150; ++i)
        power_law.push_back(1 + 2 * tile / i / i);
    cases.emplace_back("power law", power_law);
    if (empties) {
        cases.emplace_back("no segment", std::vector<std::int64_t>());
        cases.emplace_back("all empty", std::vector<std::int64_t>(static_cast<std::size_t>(block) + 3, 0));
        cases.emplace_back("first empty", std::vector<std::int64_t>{0, 0, 5, tile, 3});
        cases.emplace_back("last empty", std::vector<std::int64_t>{5, tile, 3, 0, 0});
        cases.emplace_back("middle empty", std::vector<std::int64_t>{5, tile - 5, 0, 0, 0, 7, 0, tile + 1});
        std::vector<std::int64_t> half;
        for (std::int64_t i = 0; i < 2 * block; ++i)
            half.push_back(i % 2 == 0 ? 0 : i % 7);
        cases.emplace_back("half empty", half);
        std::vector<std::int64_t> desert(static_cast<std::size_t>(3 * block), 0);
        desert.front() = desert.back() = tile + 1;
        cases.emplace_back("many empties between two long ones", desert);
    }
    return cases;
}

/// Lengths with more than 1024 segment ends in one place, the most that a stage holds at a time, and with
/// shares of the work that end among them. Many segments are empty.
inline std::vector<std::pair<std::string, std::vector<std::int64_t>>> crowded_cases(std::int64_t tile)
{
    using Lengths = std::vector<std::int64_t>;
    const auto joined = [](const std::vector<Lengths>& lists) {
        Lengths all;
        for (const auto& list : lists)
            all.insert(all.end(), list.begin(), list.end());
        return all;
    };
    const auto times = [](std::int64_t count, std::int64_t length) {
        return Lengths(static_cast<std::size_t>(count), length);
    };
    const auto repeated = [](std::int64_t count, const Lengths& list) {
        Lengths all;
        for (std::int64_t i = 0; i < count; ++i)
            all.insert(all.end(), list.begin(), list.end());
        return all;
    };
    Lengths mixed;
    for (std::int64_t i = 0; i < 1500; ++i)
        mixed.push_back(i % 97 == 0 ? tile / 3 : i % 5 % 3);
    return {{"ones over three tiles", times(3 * tile + 5, 1)},
            {"one element", {1}},
            {"two elements in three segments", {1, 0, 1}},
            {"no element, many segments", times(2500, 0)},
            {"one element behind many empties", joined({times(2500, 0), {1}})},
            {"one element before many empties", joined({{1}, times(2500, 0)})},
            {"empties in one place of a tile", joined({{5}, times(1100, 0), {7, tile - 20, 9}})},
            {"empties in several places of a tile",
             joined({times(20, 1), times(300, 0), times(20, 2), times(700, 0), {tile}, times(1300, 0), {3}})},
            {"empties where a tile ends", joined({{tile}, times(1100, 0), {tile}, times(1100, 0), {tile}})},
            {"empties on the last item of a tile",
             joined({{tile - 1}, times(600, 0), {1}, times(600, 0), {2 * tile - 1}, times(600, 0), {2}})},
            {"empties among ones", joined({times(tile, 1), times(1100, 0), times(tile, 1)})},
            {"empties before the last of a tile's ones",
             joined({times(tile - 1, 1), repeated(9, joined({times(900, 0), times(tile, 1)}))})},
            {"empties with a giant on both sides", joined({{5 * tile + 3}, times(2100, 0), {4 * tile + 9}})},
            {"twos over many tiles", times(12 * tile + 4, 2)},
            {"ones and empties over many tiles", repeated(3 * tile, {1, 0, 2, 0})},
            {"threes and empties over many tiles", repeated(2 * tile, {3, 0})},
            {"four empties behind each element", repeated(7 * tile / 2, {1, 0, 0, 0, 0})},
            {"lengths of every kind", mixed}};
}

/// Ranges that leave gaps, overlap, repeat and come in descending order.
inline Segments scattered_ranges(const std::vector<std::int64_t>& lengths)
{
    const std::int64_t n = total(lengths) + 17;
    std::vector<std::int64_t> begins, ends;
    std::int64_t at = n;
    for (const auto length : lengths) {
        at = at - length / 2 - 1;
        if (at < 0 || at + length > n)
            at = (n - length) / 2;
        begins.push_back(at);
        ends.push_back(at + length);
    }
    return segments_from_ranges(index_array(begins), index_array(ends), n);
}

inline Segments from_flags(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::uint8_t> flags(static_cast<std::size_t>(total(lengths)), 0);
    constexpr std::uint8_t kFlags[] = {1, 255, 64, 128, 2};  // every nonzero value is a flag
    std::int64_t at = 0;
    for (const auto length : lengths) {
        flags[static_cast<std::size_t>(at)] = kFlags[static_cast<std::size_t>(at) % 5];
        at += length;
    }
    return segments_from_flags(Array::of<std::uint8_t>(Type::u8, flags), total(lengths));
}

inline Segments from_keys(const std::vector<std::int64_t>& lengths)
{
    std::vector<std::int32_t> keys;
    std::int32_t key = 0;
    for (const auto length : lengths) {
        ++key;
        keys.insert(keys.end(), static_cast<std::size_t>(length),
                    key % 101 * 2 + key % 2);  // keys repeat, but neighbours differ
    }
    return segments_from_keys(Array::of<std::int32_t>(Type::i32, keys), total(lengths));
}

/// Segments of the given lengths in a form that a stage takes. Empty segments are left out if the form cannot
/// express them.
inline Segments segments_in_form(SegmentForm form, std::vector<std::int64_t> lengths)
{
    if (is_found(form))
        std::erase(lengths, 0);
    const auto n = total(lengths);
    switch (form) {
        case SegmentForm::whole: return whole_segments(n);
        case SegmentForm::uniform: return uniform_segments(n, n);
        case SegmentForm::ranges: return scattered_ranges(lengths);
        case SegmentForm::flags: return from_flags(lengths);
        case SegmentForm::keys: return from_keys(lengths);
        default: return segments_from_offsets(index_array(offsets_of(lengths)), n);
    }
}

/// Segments with the same lengths in reverse order.
inline Segments backwards(const Segments& segments)
{
    std::vector<std::int64_t> lengths;
    for (std::int64_t s = segments.num_segments; s > 0; --s)
        lengths.push_back(index_at(segments.offsets, s) - index_at(segments.offsets, s - 1));
    return segments_in_form(segments.form, lengths);
}

/// Shapes at the borders of a rung: part of a tile, one tile, several tiles, and for `whole` three levels.
inline std::vector<SegmentCase> rung_shapes(SegmentForm form, std::int64_t tile)
{
    std::vector<SegmentCase> cases;
    if (form == SegmentForm::whole) {
        for (const auto n : {std::int64_t{0}, std::int64_t{1}, tile - 1, tile, tile + 1, 3 * tile + 5})
            cases.push_back({"whole " + std::to_string(n), whole_segments(n)});
        if (tile <= 128)
            cases.push_back({"three levels", whole_segments(tile * tile + 1)});
        return cases;
    }
    if (form == SegmentForm::uniform) {
        for (const auto length : {std::int64_t{1}, std::int64_t{33}, tile - 1, tile, tile + 1})
            if (length > 0)
                cases.push_back({"uniform " + std::to_string(length), uniform_segments(length * 5, length)});
        return cases;
    }
    const std::vector<std::int64_t> lengths = {0,  tile - 1, 1,    2 * tile + 3, 0,        0, 5,
                                               31, 33,       tile, 64,           tile + 1, 0};
    cases.push_back({"lengths about a tile", segments_in_form(form, lengths)});
    return cases;
}

/// True if the stage's kernels read segments in the form of the layout, without a conversion by the host.
inline bool takes_directly(const Stage& stage, LayoutKind kind)
{
    return served_form(stage, form_of(kind)) == form_of(kind);
}

/// Every case of one layout kind. `empties` says whether the operator has a result for an empty segment.
inline std::vector<SegmentCase> segment_cases(LayoutKind kind, std::int64_t block, std::int64_t tile,
                                              bool empties)
{
    std::vector<SegmentCase> cases;
    if (kind == LayoutKind::whole) {
        for (const auto n : boundary_sizes(block, tile))
            if (n != 0 || empties)
                cases.push_back({"whole " + std::to_string(n), whole_segments(n)});
        return cases;
    }
    if (kind == LayoutKind::uniform) {
        for (const auto length : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{32},
                                  std::int64_t{33}, block, tile - 1, tile, tile + 1})
            for (const auto count : {std::int64_t{0}, std::int64_t{1}, 3 * tile / length + 1})
                cases.push_back({"uniform " + std::to_string(length) + " x " + std::to_string(count),
                                 uniform_segments(length * count, length)});
        return cases;
    }
    const bool expresses_empties = kind != LayoutKind::flags && kind != LayoutKind::keys;
    for (const auto& [name, lengths] : length_cases(block, tile, empties && expresses_empties)) {
        const std::int64_t n = total(lengths);
        switch (kind) {
            case LayoutKind::offsets:
                cases.push_back({name, segments_from_offsets(index_array(offsets_of(lengths)), n)});
                break;
            case LayoutKind::lengths:
                cases.push_back({name, segments_from_lengths(index_array(lengths), n)});
                break;
            case LayoutKind::ranges: cases.push_back({name, scattered_ranges(lengths)}); break;
            case LayoutKind::flags: cases.push_back({name, from_flags(lengths)}); break;
            case LayoutKind::keys: cases.push_back({name, from_keys(lengths)}); break;
            default: break;
        }
    }
    return cases;
}

/// The polynomial hash of trace_u64 with a combine of so many operations that stages loop over it instead of
/// unrolling.
inline Operator costly_trace()
{
    return parse_operator("costly_trace", R"(
        operator costly_trace(x: u32) -> (hash: u64, power: u64) {
            state { hash: u64 = 0; power: u64 = 1 }
            lift { hash = u64(x) * 0xbf58476d1ce4e5b9 + 1; power = 0xd1342543de82ef95 }
            combine(a, b) {
                let low = (a.hash & 0xffffffff) * (b.power & 0xffffffff);
                let cross = (a.hash >> 32) * (b.power & 0xffffffff) + (a.hash & 0xffffffff) * (b.power >> 32);
                hash = low + (cross << 32) + b.hash;
                power = a.power * b.power
            }
        })");
}

/// A sum that also returns the segment's length. For i64, elements are states without a conversion.
inline Operator sum_and_length(const std::string& element = "i32")
{
    return parse_operator("sum_and_length", "operator sum_and_length(x: " + element +
                                                R"() -> (total: i64, count: i64) {
            state sum: i64 = 0
            lift )" + (element == "i64" ? "x" : "i64(x)") +
                                                R"(
            combine(a, b) a + b
            finish { total = sum; count = length }
        })");
}

/// The polynomial hash of i32 elements in an unsigned type. It shows a wrong order for any number of
/// elements.
inline Operator polynomial_hash(const std::string& type)
{
    return parse_operator("hash_" + type, "operator hash_" + type + "(x: i32) -> (hash: " + type +
                                              ", power: " + type + R"() {
        state   { hash: )" + type +
                                              " = 0; power: " + type + R"( = 1 }
        lift    { hash = )" + type + R"((x); power = 31 }
        combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power }
    })");
}

/// A standard operator, costly_trace, a sum_and_length, or one with an append.
inline Operator matrix_operator(const std::string& name)
{
    return name.starts_with("hash_")      ? polynomial_hash(name.substr(5))
           : name == "costly_trace"       ? costly_trace()
           : name == "sum_and_length"     ? sum_and_length()
           : name == "sum_i64_and_length" ? sum_and_length("i64")
           : name == "appended_hash"      ? appended_hash()
           : name == "appended_pair"      ? appended_pair()
                                          : standard_operator(name);
}

/// A workload of the operator over the given segments, with generated columns.
inline Workload make_workload(const Operator& op, Segments segments, std::uint64_t seed,
                              std::int64_t table_length = 0)
{
    Workload workload;
    workload.op = op;
    for (const auto& parameter : op.parameters) {
        workload.arrays.push_back(
            generate_values(parameter.type, parameter.table ? table_length : segments.num_elements, seed,
                            is_float(parameter.type) ? ValueRange::uniform : ValueRange::small_integers));
        ++seed;
    }
    workload.segments = std::move(segments);
    return workload;
}

inline Workload make_workload(const std::string& operator_name, Segments segments, std::uint64_t seed)
{
    return make_workload(matrix_operator(operator_name), std::move(segments), seed, 1);
}

/// The same with tables that are just long enough for what lift and map read by the segment, by the place in
/// it and by columns.
inline Workload make_workload_with_tables(const Operator& op, Segments segments, std::uint64_t seed)
{
    if (std::ranges::none_of(op.parameters, &Parameter::table))
        return make_workload(op, std::move(segments), seed);
    Workload workload{op, {}, std::move(segments)};
    std::map<std::string, Array> arrays;
    complete_arrays(op, workload.segments, {.seed = seed}, arrays);
    for (const auto& use : table_uses(op)) {
        auto& table = arrays.at(use.table);
        if (use.index != "position")  // for which there is one entry too many, as for `length`
            continue;
        Array exact(table.type(), static_cast<std::size_t>(length_range(workload.segments).longest));
        std::copy_n(table.data(), exact.bytes(), exact.data());
        table = std::move(exact);
    }
    for (const auto& parameter : op.parameters)
        workload.arrays.push_back(std::move(arrays.at(parameter.name)));
    return workload;
}

/// Threads of a block, and items of a tile.
inline std::pair<std::int64_t, std::int64_t> block_and_tile(const Configuration& configuration)
{
    const auto items = configuration.find("items_per_thread");
    const std::int64_t block = configuration.at("block_threads");
    // If `resident_threads` is a tunable, one warp of a block counts segments and folds no items.
    const std::int64_t folding = block - (configuration.contains("resident_threads") ? 32 : 0);
    const auto slices = configuration.find("slices_per_warp");
    return {block, folding * (items == configuration.end() ? 1 : items->second) *
                       (slices == configuration.end() ? 1 : slices->second)};
}

/// Returns the threads of a block, and the items of a tile for a problem. In stages that find segments, one
/// warp of a block counts them, and wide states leave room for fewer items.
inline std::pair<std::int64_t, std::int64_t> block_and_tile(const Stage& stage, const Problem& problem,
                                                            const Configuration& configuration)
{
    if (!std::ranges::all_of(stage.forms, is_found))
        return block_and_tile(configuration);
    const auto bytes = std::max<std::int64_t>(4, state_bytes(problem.op));
    const auto slices = configuration.find("slices_per_warp");
    const std::int64_t block = configuration.at("block_threads");
    const std::int64_t items = (configuration.at("items_per_thread") * 4 + bytes - 1) / bytes;
    return {block, (block - 32) * items * (slices == configuration.end() ? 1 : slices->second)};
}

/// Returns configurations of a stage, a random sample if there are more than `most`. First come
/// configurations with a value of a tunable that no earlier one has, so that few configurations cover all
/// values.
inline std::vector<Configuration> some_configurations(const Stage& stage, const Problem& problem,
                                                      std::size_t most)
{
    auto all = configurations(stage, plan_facts(problem));
    std::ranges::shuffle(all, std::mt19937(5));
    std::set<std::pair<std::string, int>> met;
    std::vector<Configuration> first, others;
    for (auto& configuration : all) {
        const auto before = met.size();
        met.insert(configuration.begin(), configuration.end());
        (met.size() > before ? first : others).push_back(std::move(configuration));
    }
    std::ranges::move(others, std::back_inserter(first));
    first.resize(std::min(first.size(), most));
    return first;
}

/// The stages from which runs choose, but for those of groups in any order, which have tests of their own;
/// only the stage $SEGFOLD_STAGE if it is set.
inline std::vector<Stage> plans()
{
    if (const char* asked = std::getenv("SEGFOLD_STAGE"))
        return {Catalogue::standard().stage(asked)};
    std::vector<Stage> list;
    std::ranges::copy_if(Catalogue::standard().stages(), std::back_inserter(list), [](const Stage& stage) {
        return !stage.is_rung && stage.forms != std::vector{SegmentForm::groups};
    });
    return list;
}

/// The stages that exist only to be measured.
inline std::vector<Stage> rungs()
{
    std::vector<Stage> list;
    std::ranges::copy_if(Catalogue::standard().stages(), std::back_inserter(list), &Stage::is_rung);
    return list;
}

/// Whether the stage's conditions allow a configuration. This is cheaper than searching all allowed
/// configurations.
inline bool is_allowed(const Stage& stage, const Configuration& configuration, const FormulaNames& facts)
{
    try {
        return configure(stage, {configuration.begin(), configuration.end()}, facts) == configuration;
    } catch (const InputError&) {
        return false;
    }
}

/// The configuration with the smallest tile, so that few elements fill several of them.
inline Configuration smallest_configuration(const Stage& stage, const Problem& problem)
{
    // In streaming stages blocks_per_multiprocessor sets the number of resident blocks; in block_per_segment
    // it sets the number of segments that a block takes.
    return regress::smallest_configuration(
        stage, problem, stage.name == "block_per_segment" ? "" : "blocks_per_multiprocessor");
}

}  // namespace segfold::test
