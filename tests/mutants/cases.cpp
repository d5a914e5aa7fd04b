#include "tests/mutants/cases.h"

#include <algorithm>
#include <bit>
#include <set>

namespace segfold::test {
namespace {

using Shapes = std::vector<SegmentCase>;

constexpr std::int64_t kTableLength = 8;
constexpr std::int64_t kMostTile = 2048;  // of configurations that are tried beside the small ones

const std::vector<Round> kFewRounds = {{1, 1, 2, 0}, {2, 3, 2, 1}};
const std::vector<Round> kAllRounds = {{1, 1, 1, 0}, {2, 64, 2, 0}, {3, 3, 1, 1}, {4, 2, 1, 0}};

/// Asks for everything that a lift and a finish may know.
Operator places(const std::string& name, const std::string& laws)
{
    return parse_operator(name, "operator " + name +
                                    R"((column: i32, t: table i64) -> (a: i64, b: i64, c: i64, n: i64) {
            state { a: i64 = 0; b: i64 = 0; c: i64 = 0 }
            lift { a = index * 3 + position; b = segment * position; c = t[column & 7] }
            combine(a, b) { a = a.a + b.a; b = a.b + b.b; c = a.c + b.c }
            )" + laws + R"(
            finish { a = a; b = b + segment; c = c; n = length }
            empty { a = -1; b = segment; c = 0; n = length }
        })");
}

/// The same for stages that find the segments, or read elements in vectors.
Operator indices()
{
    return parse_operator("indices", R"(
        operator indices(column: i32, t: table i64) -> (a: i64, b: i64, n: i64) {
            state { a: i64 = 0; c: i64 = 0 }
            lift { a = index * 3; c = t[column & 7] }
            combine(a, b) { a = a.a + b.a; c = a.c + b.c }
            finish { a = a * 7 + c; b = segment; n = length }
        })");
}

/// The polynomial hash with three numbers of a type: states of 3, 12 and 24 bytes.
Operator hash_of(const std::string& type)
{
    const std::string name = "hash_" + type;
    const auto all = "hash: " + type + ", power: " + type + ", count: " + type;
    const auto state = "hash: " + type + " = 0; power: " + type + " = 1; count: " + type + " = 0";
    return parse_operator(name,
                          "operator " + name + "(x: " + type + ") -> (" + all + ") { state { " + state + R"( }
            lift { hash = x; power = 31; count = 1 }
            combine(a, b) { hash = a.hash * b.power + b.hash; power = a.power * b.power; count = a.count + b.count }
        })");
}

/// The last element, stored in a half type: every rounding is a result.
Operator half_of(const std::string& type)
{
    const std::string name = "half_" + type;
    return parse_operator(name, "operator " + name + "(x: f32) -> (half: " + type + ", back: f32) {" +
                                    "state { any: i32 = 0; half: " + type + " = 0 }" +
                                    "lift { any = 1; half = " + type + "(x) }" + R"(
            combine(a, b) { any = max(a.any, b.any); half = b.any != 0 ? b.half : a.half }
            finish { half = half; back = f32(half) }
        })");
}

/// Floats where the halves round to even, overflow, vanish or are no numbers.
Array edges_of_halves(std::int64_t count)
{
    // Upper halves: 0, the least, an odd and an even one, the greatest of f16 and of all, infinity, NaN; both
    // signs.
    constexpr std::uint32_t kUpper[] = {0x0000, 0x0001, 0x3301, 0x3f80, 0x3f81,
                                        0x4780, 0x7f7f, 0x7f80, 0x7fc1};
    // Lower halves: exact, just above, below, at and above the middle between two values of bf16.
    constexpr std::uint32_t kLower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0x3000};
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto upper = kUpper[i % std::size(kUpper)] | (i % 2 == 0 ? 0u : 0x8000u);
        const auto lower = kLower[i / std::size(kUpper) % std::size(kLower)];
        values[i] = std::bit_cast<float>(upper << 16 | lower);
    }
    return Array::of<float>(Type::f32, std::span<const float>(values));
}

Operator operator_of(const std::string& name)
{
    if (name.starts_with("half_"))
        return half_of(name.substr(5));
    if (name.starts_with("hash_"))
        return hash_of(name.substr(5));
    if (name == "places" || name == "placed_sum")
        return places(name, name == "places" ? "" : "laws commutative");
    return name == "indices" ? indices() : matrix_operator(name);
}

/// Shapes that cross most borders with few elements.
Shapes few_shapes(SegmentForm form, std::int64_t tile, bool empties)
{
    Shapes shapes;
    if (form == SegmentForm::whole) {
        for (const auto n : {3 * tile + 1, tile - 1, std::int64_t{1}, 20 * tile + 5})
            shapes.push_back({"whole " + std::to_string(n), whole_segments(n)});
        return shapes;
    }
    if (form == SegmentForm::uniform) {
        for (const auto& [length, count] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{7, 3 * tile / 7 + 1},
                                                                {5, 3 * tile},
                                                                {tile + 1, 3},
                                                                {4, tile / 3},
                                                                {33, 5},
                                                                {1, tile + 2},
                                                                {3 * tile, 2}})
            shapes.push_back({"uniform " + std::to_string(length) + " x " + std::to_string(count),
                              uniform_segments(length * count, length)});
        return shapes;
    }
    const auto add = [&](const std::string& name, std::vector<std::int64_t> lengths) {
        if (!empties)
            std::erase(lengths, 0);
        shapes.push_back({name, segments_in_form(form, lengths)});
    };
    std::vector<std::int64_t> many(static_cast<std::size_t>(tile) + 3, 1);
    many[many.size() / 2] = 2 * tile + 3;
    add("lengths about a tile",
        {0, tile - 1, 1, 2 * tile + 3, 0, 0, 31, 33, tile, 5, 3, 0, 3 * tile, 7, 2, tile + 1, 0});
    add("a giant among ones", many);
    std::vector<std::int64_t> half;
    for (std::int64_t i = 0; i < 3 * tile; ++i)
        half.push_back(i % 2 == 0 ? 0 : i % 7);
    add("half empty", half);
    add("one", {tile + 1});
    add("less than a tile", {tile - 1});
    add("tiles exactly", {tile, tile});
    if (empties)
        add("all empty", std::vector<std::int64_t>(static_cast<std::size_t>(tile) + 3, 0));
    if (is_found(form))  // segments that begin in one warp's share and end two shares on
        add("nine of one length", std::vector<std::int64_t>(9, tile * 11 / 15));
    return shapes;
}

Shapes all_shapes(const Stage& stage, SegmentForm form, std::int64_t block, std::int64_t tile, bool empties)
{
    Shapes shapes;
    if (stage.is_rung)
        shapes = rung_shapes(form, tile);
    const auto kind = form == SegmentForm::whole     ? LayoutKind::whole
                      : form == SegmentForm::uniform ? LayoutKind::uniform
                      : form == SegmentForm::ranges  ? LayoutKind::ranges
                      : form == SegmentForm::flags   ? LayoutKind::flags
                      : form == SegmentForm::keys    ? LayoutKind::keys
                                                     : LayoutKind::offsets;
    auto more = segment_cases(kind, block, tile, empties);
    std::ranges::move(more, std::back_inserter(shapes));
    if (is_found(form))  // segments that begin in one warp's share and end two shares on
        for (const std::int64_t length : {tile * 11 / 15, tile * 11 / 30, tile * 11 / 60})
            shapes.push_back(
                {"nine of one length", segments_in_form(form, std::vector<std::int64_t>(9, length))});
    return shapes;
}

/// The smallest configuration, changed so that loops over vectors, rows, slices and shares go round.
Configuration looping_configuration(const Stage& stage, const Problem& problem)
{
    auto configuration = smallest_configuration(stage, problem);
    const auto set = [&](const std::string& name, const std::string& tunable, int value) {
        if (stage.name == name)
            configuration[tunable] = value;
    };
    set("thread_per_segment", "segments_per_thread", 2);
    set("group_per_segment", "lanes_per_segment", 4);
    set("group_per_segment", "segments_per_group", 2);
    set("block_per_segment", "items_per_thread", 8);
    set("warp_per_segment", "items_per_thread", 8);
    set("run_stream", "items_per_thread", 16);
    set("run_stream", "slices_per_warp", 2);
    set("grid_reduce", "blocks_per_multiprocessor", 2);
    set("warp_stream", "block_threads", 64);
    set("warp_stream", "blocks_per_multiprocessor", 3);
    set("tree_vector", "items_per_thread", 8);
    for (const auto* rung : {"tree_last_warp", "pairs_last_warp", "tree_unrolled", "pairs_unrolled"})
        set(rung, "block_threads", 128);  // so that there are rounds of more than a warp
    if (configuration.contains("items_per_thread") && stage.is_rung &&
        stage.name.find("cascade") != std::string::npos)
        configuration["items_per_thread"] = 2;
    return configuration;
}

/// Configurations with one tunable at another value than the smallest one's: its greatest, and one between.
std::vector<Configuration> other_configurations(const Stage& stage, const Problem& problem)
{
    const auto facts = plan_facts(problem);
    const auto allowed = configurations(stage, facts);
    const auto smallest = smallest_configuration(stage, problem);
    std::vector<Configuration> others;
    for (const auto& tunable : stage.tunables) {
        auto values = tunable.values;
        std::ranges::sort(values);
        for (const int value : {values.front(), values[values.size() / 2], values.back()}) {
            auto other = smallest;
            other[tunable.name] = value;
            if (other != smallest && std::ranges::find(others, other) == others.end() &&
                std::ranges::find(allowed, other) != allowed.end() &&
                block_and_tile(other).second <= kMostTile)
                others.push_back(other);
        }
    }
    return others;
}

class Cases {
public:
    explicit Cases(const Stage& stage) : stage_(stage) {}

    std::vector<MutantCase> make()
    {
        // Nothing that a part does alone depends on the order in which forms are tried.
        auto forms = stage_.forms;
        std::ranges::stable_sort(forms, {}, [](SegmentForm form) {
            return form == SegmentForm::offsets || form == SegmentForm::keys ? 0 : 1;
        });
        const auto main = forms.front();
        for (const auto form : forms)
            add("trace_u64", form, 0);
        add("sum_i32", main, 0);
        add("placed_sum", main, 0);
        special(0);
        if (!stage_.name.ends_with("_stream"))
            special(1);
        for (const auto form : forms)
            for (const auto* op :
                 {"sum_i32", "sum_and_length", "places", "placed_sum", "indices", "costly_trace"})
                add(op, form, 1);
        for (const auto* op :
             {"affine_u32", "keep_first_i32", "max_subarray_i32", "hash_u32", "hash_u64", "hash_u8"})
            add(op, main, 1);
        add_as("trace_u64", main, 1, 64, Numbers::constant);
        if (!stage_.numbers.empty())
            for (const auto form : forms)
                for (const auto* op : {"trace_u64", "sum_i32"})
                    add_as(op, form, 1, 32, Numbers::at_launch);
        const std::string ordered = serves("trace_u64", main) ? "trace_u64" : "sum_i32";
        const Problem problem(operator_of(ordered), main);
        for (const auto* op : {"trace_u64", "sum_i32"})
            add_with(op, main, 1, 32, Numbers::constant, smallest_configuration(stage_, problem));
        if (stage_.name.ends_with("_stream"))  // they take long
            special(1);
        for (const auto form : forms) {
            add("trace_u64", form, 2);
            add("sum_i32", form, 2);
        }
        for (const auto& configuration : other_configurations(stage_, problem))
            for (const auto* op : {"trace_u64", "sum_i32"})
                for (const auto form : forms)
                    if (form == main || form == SegmentForm::whole || form == SegmentForm::uniform)
                        add_with(op, form, 2, 32, Numbers::constant, configuration);
        return std::move(cases_);
    }

private:
    [[nodiscard]] bool serves(const std::string& op, SegmentForm form, int bits = 32) const
    {
        return !Catalogue::standard().unmet(stage_, Problem(operator_of(op), form, bits));
    }

    void add(const std::string& op, SegmentForm form, int level)
    {
        add_as(op, form, level, 32, Numbers::constant);
    }

    void add_as(const std::string& op, SegmentForm form, int level, int bits, Numbers numbers)
    {
        if (serves(op, form, bits))
            add_with(op, form, level, bits, numbers,
                     looping_configuration(stage_, Problem(operator_of(op), form, bits)));
    }

    void add_with(const std::string& op, SegmentForm form, int level, int bits, Numbers numbers,
                  const Configuration& configuration)
    {
        if (!serves(op, form, bits))
            return;
        const auto [block, tile] = block_and_tile(configuration);
        const bool empties = operator_of(op).allows_empty();
        const auto& stage = stage_;
        const bool is_all = level > 1 && tile <= 512;
        add_case({"", level, stage_.name, Problem(operator_of(op), form, bits), configuration, numbers,
                  [=, &stage, block = block, tile = tile] {
                      return is_all ? all_shapes(stage, form, block, tile, empties)
                                    : few_shapes(form, tile, empties);
                  },
                  is_all ? kAllRounds : kFewRounds},
                 is_all ? "all" : "few");
    }

    void add_case(MutantCase c, const std::string& shapes)
    {
        const auto facts = plan_facts(c.problem);
        const auto allowed = configurations(stage_, facts);
        if (std::ranges::find(allowed, c.configuration) == allowed.end())
            return;
        c.name = stage_.name + " of " + c.problem.op.name + " over " + std::string(name(c.problem.form)) +
                 (c.problem.index_bits == 64 ? ", 64 bits" : "") +
                 (c.numbers == Numbers::at_launch ? ", numbers at launch" : "") + ", " +
                 segfold::print(c.configuration) + ", " + shapes + " shapes";
        if (names_.insert(c.name).second)
            cases_.push_back(std::move(c));
    }

    void add_special(const std::string& op, SegmentForm form, int level, const Configuration& configuration,
                     std::function<Shapes()> shapes, std::vector<Round> rounds, const std::string& what,
                     bool checked = true)
    {
        if (serves(op, form))
            add_case({"", level, stage_.name, Problem(operator_of(op), form), configuration,
                      Numbers::constant, std::move(shapes), std::move(rounds), checked},
                     what);
    }

    [[nodiscard]] Configuration smallest(const std::string& op, SegmentForm form) const
    {
        return smallest_configuration(stage_, Problem(operator_of(op), form));
    }

    /// What one stage alone is delicate about.
    void special(int level)
    {
        if (stage_.name == "warp_stream")
            crowds(level);
        if (stage_.name == "group_or_grid")
            pieces(level);
        if (stage_.name == "thread_per_segment" && level == 0)
            halves();
        if (level == 0)
            return;
        for (const std::string op : {"trace_u64", "sum_i32"}) {
            if (stage_.name == "tile_scan")
                groups(op);
            if (stage_.name == "run_stream")
                tree(op);
            if (std::ranges::find(stage_.forms, SegmentForm::whole) != stage_.forms.end() &&
                serves(op, SegmentForm::whole)) {
                const auto configuration = smallest(op, SegmentForm::whole);
                const auto [block, tile] = block_and_tile(configuration);
                add_special(
                    op, SegmentForm::whole, 1, configuration,
                    [n = block * tile * 2 + 1] {
                        return one({"many partials", whole_segments(n)});
                    },
                    {{1, 256, 2, 0}}, "many partials", false);
            }
        }
        if (const auto& last = stage_.tunables.back(); last.name == "atomic_totals" && last.values.size() > 1)
            for (const std::string op : {"sum_i32", "sum_u64"}) {
                auto configuration = smallest(op, SegmentForm::whole);
                configuration["atomic_totals"] = 1;
                const auto tile = block_and_tile(configuration).second;
                add_special(
                    op, SegmentForm::whole, 1, configuration,
                    [=] { return few_shapes(SegmentForm::whole, tile, true); }, kAllRounds, "atomic");
            }
    }

    static Shapes one(SegmentCase shape)
    {
        Shapes shapes;
        shapes.push_back(std::move(shape));
        return shapes;
    }

    void crowds(int level)
    {
        const auto of = [](const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& cases) {
            Shapes shapes;
            for (const auto& [name, lengths] : cases)
                shapes.push_back(
                    {name, segments_from_offsets(index_array(offsets_of(lengths)), total(lengths))});
            return shapes;
        };
        for (const std::string op : {"trace_u64", "sum_i32", "costly_trace"})
            for (const auto& [block, items, ring, held, blocks] :
                 std::vector<std::tuple<int, int, int, int, int>>{
                     {64, 8, 256, 0, 3}, {32, 16, 256, 256, 2}, {96, 8, 512, 0, 1}}) {
                if (level == 0 && (op != "trace_u64" || block != 64))
                    continue;
                const Configuration configuration = {{"block_threads", block},
                                                     {"items_per_thread", items},
                                                     {"ring_offsets", ring},
                                                     {"held_totals", held},
                                                     {"blocks_per_multiprocessor", blocks}};
                add_special(
                    op, SegmentForm::offsets, level, configuration,
                    [=, items = items] {
                        auto cases = crowded_cases(items * 32);
                        if (level == 0)  // those that find most
                            cases = {cases[6], cases[7], cases[10], cases[13], cases.back()};
                        return of(cases);
                    },
                    level == 0 ? std::vector<Round>{{1, 1, 1, 0}}
                               : std::vector<Round>{{1, 1, 1, 0}, {2, 3, 2, 1}, {3, 64, 1, 0}},
                    level == 0 ? "some crowded" : "crowded");
            }
    }

    /// Conversions of the half types, done by an instruction and by hand.
    void halves()
    {
        for (const std::string type : {"bf16", "f16"})
            for (const bool by_hand : {false, true}) {
                const auto op = "half_" + type;
                Problem problem(operator_of(op), SegmentForm::uniform);
                problem.target.has_bf16_conversions = !by_hand;
                if (by_hand && type == "f16")
                    continue;
                add_case({"",
                          0,
                          stage_.name,
                          problem,
                          smallest(op, SegmentForm::uniform),
                          Numbers::constant,
                          [] {
                              return one({"edges of halves", uniform_segments(720, 1)});
                          },
                          {{1, 1, 1, 0}}},
                         by_hand ? "rounded by hand" : "edges");
            }
    }

    void pieces(int level)
    {
        const Configuration configuration = {{"block_threads", 64},
                                             {"items_per_thread", 2},
                                             {"lanes_per_segment", 2},
                                             {"long_items", 64},
                                             {"blocks_per_multiprocessor", 4}};
        for (const std::string op : {"trace_u64", "sum_i32", "costly_trace"})
            add_special(
                op, SegmentForm::offsets, level, configuration,
                [] {
                    Shapes shapes;
                    for (const auto& [name, lengths] : piece_cases(64, 64))
                        shapes.push_back({name, segments_in_form(SegmentForm::offsets, lengths)});
                    return shapes;
                },
                level == 0 ? std::vector<Round>{{3, 3, 1, 0}}
                           : std::vector<Round>{{1, 1, 2, 0}, {2, 3, 1, 1}, {3, 100, 2, 0}},
                level == 0 ? "pieces once" : "pieces");
    }

    void groups(const std::string& op)
    {
        const auto configuration = smallest(op, SegmentForm::offsets);
        const auto [block, tile] = block_and_tile(configuration);
        const auto group = tile * block;
        const auto n = group * 3 + 7;
        add_special(
            op, SegmentForm::offsets, 1, configuration,
            [=] {
                Shapes shapes;
                for (const std::vector<std::int64_t>& lengths : {std::vector<std::int64_t>{n},
                                                                 {3, group + 5, n - group - 8},
                                                                 {n - 1, 1},
                                                                 {group, group, group, 7},
                                                                 {5, group * 2, group - 5, 7}})
                    shapes.push_back({"groups", segments_in_form(SegmentForm::offsets, lengths)});
                return shapes;
            },
            {{1, 1, 1, 0}}, "groups of tiles", false);
    }

    void tree(const std::string& op)
    {
        const auto configuration = smallest(op, SegmentForm::keys);
        const auto tile = block_and_tile(configuration).second;
        const auto n = tile * (32 * 32 + 40) + 7;
        add_special(
            op, SegmentForm::keys, 1, configuration,
            [=] {
                Shapes shapes;
                for (const std::vector<std::int64_t>& lengths :
                     {std::vector<std::int64_t>{n},
                      {3, tile * 70, 1, tile * 955, tile, n - tile * 1026 - 4},
                      {tile * 32, tile * 31, tile * 33, n - tile * 96}})
                    shapes.push_back({"levels of the tree", segments_in_form(SegmentForm::keys, lengths)});
                return shapes;
            },
            {{3, 3, 1, 0}}, "levels of the tree", false);
        // So many tiles are in flight that numbers are looked for further back than a warp has lanes.
        add_special(
            op, SegmentForm::keys, 1, configuration,
            [=] {
                return one({"tiles in flight", segments_in_form(SegmentForm::keys, std::vector<std::int64_t>(
                                                                                       tile * 100 / 7, 7))});
            },
            {{2, 64, 1, 0, 80}, {3, 64, 1, 0, 80}}, "tiles in flight", false);
    }

    const Stage& stage_;
    std::vector<MutantCase> cases_;
    std::set<std::string> names_;
};

}  // namespace

std::vector<MutantCase> cases_of(const Stage& stage) { return Cases(stage).make(); }

Workload workload_of(const MutantCase& c, Segments segments)
{
    auto workload = make_workload(c.problem.op, with_index_bits(std::move(segments), c.problem.index_bits),
                                  11, kTableLength);
    if (c.problem.op.name.starts_with("half_"))
        workload.arrays.front() = edges_of_halves(workload.segments.num_elements);
    return workload;
}

}  // namespace segfold::test
