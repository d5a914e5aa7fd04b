#include "tests/mutants/cases.h"

#include <algorithm>
#include <set>

#include "tests/mutants/case_configurations.h"
#include "tests/mutants/case_operators.h"
#include "tests/mutants/case_rows.h"
#include "tests/mutants/case_runs.h"
#include "tests/mutants/case_shapes.h"

namespace segfold::test {
namespace {

const std::vector<Round> kFewRounds = {{1, 1, 2, 0}, {2, 3, 2, 1}};
const std::vector<Round> kAllRounds = {{1, 1, 1, 0}, {2, 64, 2, 0}, {3, 3, 1, 1}, {4, 2, 1, 0}};

class Cases {
public:
    explicit Cases(const Stage& stage) : stage_(stage) {}

    std::vector<MutantCase> make()
    {
        // Nothing that a part does alone depends on the order in which forms are tried.
        auto forms = stage_.forms;
        std::ranges::stable_sort(forms, {}, [](SegmentForm form) {
            return form == SegmentForm::offsets ? 0 : form == SegmentForm::keys ? 1 : 2;
        });
        const auto main = forms.front();
        for (const auto form : forms)
            add("trace_u64", form, 0);
        add("sum_i32", main, 0);
        add("placed_sum", main, 0);
        for (const auto form : forms)
            add("rows_affine", form, 0);
        add("rows_sum", main, 0);
        for (const auto form : forms)
            for (const auto* op : {"scan_trace", "scan_back", "rows_scan", "rows_back"})
                add(op, form, 0);
        special(0);
        if (!stage_.name.ends_with("_stream"))
            special(1);
        for (const auto form : forms)
            for (const auto* op :
                 {"sum_i32", "sum_and_length", "places", "placed_sum", "indices", "costly_trace",
                  "appended_hash", "appended_sum", "appended_places", "scan_kept", "rows_kept"})
                add(op, form, 1);
        for (const auto* op :
             {"affine_u32", "keep_first_i32", "max_subarray_i32", "hash_u32", "hash_u64", "hash_u8"})
            add(op, main, 1);
        for (const auto* op : {"trace_u64", "scan_back", "rows_back"})
            add_as(op, main, 1, 64, Numbers::constant);
        if (!stage_.numbers.empty())
            for (const auto form : forms)
                for (const auto* op : {"trace_u64", "sum_i32", "scan_trace"})
                    add_as(op, form, 1, 32, Numbers::at_launch);
        const std::string ordered = serves("trace_u64", main)    ? "trace_u64"
                                    : serves("scan_trace", main) ? "scan_trace"
                                    : serves("rows_scan", main)  ? "rows_scan"
                                                                 : "sum_i32";
        const Problem problem(operator_of(ordered), main);
        for (const auto* op : {"trace_u64", "sum_i32", "scan_trace", "scan_back"})
            add_with(op, main, 1, 32, Numbers::constant, smallest_configuration(stage_, problem));
        if (stage_.name.ends_with("_stream"))  // they take long
            special(1);
        for (const auto form : forms) {
            add("trace_u64", form, 2);
            add("sum_i32", form, 2);
            add("rows_affine", form, 2);
            add("rows_sum", form, 2);
            add("scan_trace", form, 2);
            add("scan_back", form, 2);
            add("rows_scan", form, 2);
            add("rows_back", form, 2);
        }
        for (const auto& configuration : other_configurations(stage_, problem))
            for (const auto* op : {"trace_u64", "sum_i32", "rows_affine", "rows_sum", "scan_trace",
                                   "scan_back", "rows_scan", "rows_back"})
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
        if (form == SegmentForm::ranges && operator_of(op).scan)
            return;  // ranges of the shapes overlap, and an element has one output
        const auto [block, tile] =
            block_and_tile(stage_, Problem(operator_of(op), form, bits), configuration);
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
        if (!is_allowed(stage_, c.configuration, plan_facts(c.problem)))
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
        if (stage_.name == "warp_stream" && level == 1)
            shares();
        if (stage_.name == "gather_tiles")
            tiles_through(level);
        if (stage_.name == "group_per_segment" && level == 1)
            pairs_of_lanes();
        if (stage_.name == "thread_per_segment" && level == 0)
            halves();
        if (stage_.name == "thread_per_segment" && level == 1)
            full_block();
        if ((stage_.name == "thread_per_segment" || stage_.name.starts_with("fused_")) && level == 0)
            for (const auto* op : {"told", "told_looked"})
                maps(op);
        if (stage_.name == "fused_blocks" && level == 0)
            segments_of_lanes();
        if (level == 0 && (stage_.name.ends_with("row_groups") || stage_.name == "row_stream" ||
                           stage_.name == "running_rows"))
            rows();
        if (std::ranges::all_of(stage_.forms, is_found))
            for (auto& [c, what] : run_cases(stage_))
                if (c.level == level)
                    add_case(std::move(c), what);
        for (const auto form : {SegmentForm::flags, SegmentForm::keys})
            if (finds_offsets(stage_, form))
                units(form, level);
        if (level == 0)
            return;
        for (const std::string op : {"trace_u64", "sum_i32"}) {
            if (stage_.name == "tile_scan")
                groups(op);
            if (std::ranges::find(stage_.forms, SegmentForm::whole) != stage_.forms.end() &&
                serves(op, SegmentForm::whole)) {
                const auto configuration = smallest(op, SegmentForm::whole);
                const auto [block, tile] = block_and_tile(configuration);
                add_special(
                    op, SegmentForm::whole, 1, configuration,
                    [n = tile * 20] {
                        return one({"tiles exactly", whole_segments(n)});
                    },
                    {{1, 4, 2, 0}}, "tiles exactly");
                if (stage_.is_rung && tile <= 128)
                    add_special(
                        op, SegmentForm::whole, 1, configuration,
                        [n = tile * tile * 2] {
                            return one({"levels exactly", whole_segments(n)});
                        },
                        {{1, 4, 1, 0}}, "levels exactly", false);
                add_special(
                    op, SegmentForm::whole, 1, configuration,
                    [n = block * tile * 2 + 1] {
                        return one({"many partials", whole_segments(n)});
                    },
                    {{1, 256, 2, 0}}, "many partials", false);
            }
        }
        // In the last round all blocks have put their totals together before any says that it has.
        auto rounds = kAllRounds;
        rounds.push_back({1, 1, 2, 0, 32, true});
        if (const auto& last = stage_.tunables.back(); last.name == "atomic_totals" && last.values.size() > 1)
            for (const std::string op : {"sum_i32", "sum_u64", "sum_and_segment"}) {
                auto configuration = smallest(op, SegmentForm::whole);
                configuration["atomic_totals"] = 1;
                const auto tile = block_and_tile(configuration).second;
                add_special(
                    op, SegmentForm::whole, 1, configuration,
                    [=] { return few_shapes(SegmentForm::whole, tile, true); }, rounds, "atomic");
            }
    }

    /// Segments through whole tiles, which are joined at their borders, 32 at a time. A second launch meets
    /// what one over other segments has left.
    void tiles_through(int level)
    {
        for (const std::string op : {"trace_u64", "hash_u8", "sum_i32", "hash_u64"}) {
            const auto configuration = smallest(op, SegmentForm::offsets);
            const auto tile = block_and_tile(configuration).second;
            if (level == 0)
                add_special(
                    op, SegmentForm::offsets, 0, configuration,
                    [=] { return few_border_shapes(SegmentForm::offsets, tile); },
                    {{1, 64, 2, 0}, {2, 64, 1, 0}, {1, 64, 1, 0, 16, true}}, "through tiles");
            else
                add_special(
                    op, SegmentForm::offsets, 1, configuration,
                    [=] { return border_shapes(SegmentForm::offsets, tile); },
                    {{2, 64, 2, 0}, {3, 64, 1, 0, 64}}, "through many tiles", false);
        }
        if (level == 0 || !serves("hash_u64", SegmentForm::offsets))
            return;
        const auto configuration = smallest("hash_u64", SegmentForm::offsets);
        const auto tile = block_and_tile(configuration).second;
        const std::vector<std::int64_t> lengths = {5, 3 * tile, tile - 6, 2 * tile, tile, 9 * tile - 2, 7};
        for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
            MutantCase c{"",
                         1,
                         stage_.name,
                         Problem(operator_of("hash_u64"), SegmentForm::offsets),
                         configuration,
                         Numbers::constant,
                         [=] { return offsets_shape("other segments than before", lengths); },
                         {{seed, 64, 2, 0}}};
            c.earlier = [=] {
                return segments_in_form(SegmentForm::offsets, {lengths.rbegin(), lengths.rend()});
            };
            add_case(std::move(c), "other segments than before, seed " + std::to_string(seed));
        }
    }

    /// Offsets made of flags and keys.
    void units(SegmentForm form, int level)
    {
        if (level == 0)
            add_special(
                "sum_i32", form, 0, smallest("sum_i32", form), [form] { return unit_shapes(form); },
                {{1, 2, 2, 0}, {2, 1, 1, 1}}, "units");
        if (level != 1 || !serves("sum_i32", form))
            return;
        add_case({"",
                  1,
                  stage_.name,
                  Problem(operator_of("sum_i32"), form),
                  smallest("sum_i32", form),
                  Numbers::constant,
                  [form] {
                      return one({"many units", many_units(form, 1000)});
                  },
                  {{1, 2, 2, 0}},
                  false,
                  [form] { return many_units(form, 300); }},
                 "many units");
    }

    void maps(const std::string& op)
    {
        for (const auto form :
             {SegmentForm::offsets, SegmentForm::uniform, SegmentForm::whole, SegmentForm::ranges})
            add_special(
                op, form, 0, looping(op, form),
                [&stage = stage_, form] { return mapped_shapes(stage, form); }, {{1, 1, 1, 0}, {2, 3, 1, 1}},
                "mapped");
    }

    /// Segments of some lanes; threads that take neighbouring vectors, and those that do not.
    void segments_of_lanes()
    {
        const auto form = SegmentForm::offsets;
        for (const auto* op : {"told_sum", "told"}) {
            auto sharing = smallest(op, form), clustered = looping(op, form);
            sharing["shared_items"] = 8;
            clustered["cluster_blocks"] = 2;
            for (const auto& configuration : {smallest(op, form), looping(op, form), sharing, clustered})
                add_special(
                    op, form, 0, configuration, [&stage = stage_] { return mapped_shapes(stage, form); },
                    {{2, 3, 1, 1}}, "mapped by lanes");
        }
    }

    /// Rows over several lanes.
    void rows()
    {
        maps("rows_told");
        for (auto& [c, what] : row_cases(stage_))
            add_case(std::move(c), what);
    }

    [[nodiscard]] Configuration looping(const std::string& op, SegmentForm form) const
    {
        return looping_configuration(stage_, Problem(operator_of(op), form));
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

    void pairs_of_lanes()
    {
        for (const std::string op : {"trace_u64", "sum_i32"}) {
            auto configuration = looping(op, SegmentForm::offsets);
            configuration["lanes_per_segment"] = 2;
            add_with(op, SegmentForm::offsets, 1, 32, Numbers::constant, configuration);
        }
        add_special("trace_u64", SegmentForm::ranges, 1, looping("trace_u64", SegmentForm::ranges),
                    empty_range_at_the_end, {{1, 1, 1, 0}}, "an empty range at the end");
    }

    void full_block()
    {
        for (const std::string op : {"trace_u64", "lookup"})
            add_special(op, SegmentForm::offsets, 1, looping(op, SegmentForm::offsets), full_block_shapes,
                        {{1, 1, 1, 0}}, "a full block");
    }

    /// Where the shares of warps are cut, and what is at the end of the input.
    void shares()
    {
        const auto with = [](int block, int blocks) {
            return Configuration{{"block_threads", block},
                                 {"items_per_thread", 8},
                                 {"ring_offsets", 256},
                                 {"held_totals", 0},
                                 {"blocks_per_multiprocessor", blocks}};
        };
        constexpr std::int64_t kTile = 8 * 32;
        const std::vector<Round> once = {{1, 1, 1, 0}};
        for (const auto form : {SegmentForm::offsets, SegmentForm::uniform}) {
            add_special(
                "trace_u64", form, 1, with(64, 3),
                [=] {
                    return one({"shares of a tile less one", segments_in_form(form, {4 * (kTile - 1)})});
                },
                once, "shares of a tile less one");
            add("lookup", form, 1);
            Problem problem(operator_of("trace_u64"), form);
            problem.target.has_async_copies = false;
            problem.target.compute_capability = 75;
            add_case({"", 1, stage_.name, problem, with(64, 1), Numbers::constant,
                      [=] { return few_shapes(form, 2 * kTile, true); }, once},
                     "few, no asynchronous copies");
        }
        add_special(
            "sum_i32", SegmentForm::offsets, 1, with(64, 1),
            [] {
                return offsets_shape("offsets less one than in a chunk", std::vector<std::int64_t>(126, 3));
            },
            once, "offsets less one than in a chunk");
        add_special(
            "sum_i32", SegmentForm::offsets, 1, with(64, 1),
            [] { return offsets_shape("a share begins with an empty segment", empty_segment_first()); }, once,
            "a share begins with an empty segment");
        add_case({"",
                  1,
                  stage_.name,
                  Problem(operator_of("trace_u64"), SegmentForm::offsets),
                  with(32, 1),
                  Numbers::at_launch,
                  [] { return offsets_shape("one total too many", one_total_too_many()); },
                  {{1, 2, 1, 0}}},
                 "one total too many");
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

    const Stage& stage_;
    std::vector<MutantCase> cases_;
    std::set<std::string> names_;
};

}  // namespace

std::vector<MutantCase> cases_of(const Stage& stage) { return Cases(stage).make(); }

Workload workload_of(const MutantCase& c, Segments segments)
{
    return workload_of(c.problem.op, with_index_bits(std::move(segments), c.problem.index_bits));
}

}  // namespace segfold::test
