#include "tests/mutants/case_runs.h"

#include <algorithm>

#include "codegen/catalogue.h"
#include "tests/mutants/case_configurations.h"
#include "tests/mutants/case_operators.h"
#include "tests/mutants/case_shapes.h"

namespace segfold::test {
namespace {

class RunCases {
public:
    explicit RunCases(const Stage& stage) : stage_(stage) {}

    std::vector<std::pair<MutantCase, std::string>> make()
    {
        wide_keys();
        other_keys();
        tiles_in_flight();
        crowds();
        for (const std::string op : {"trace_u64", "sum_i32", "sum_and_length"}) {
            if (stage_.name == "run_stream")
                tree(op);
            full_tiles(op);
        }
        if (stage_.name == "run_tiles")
            for (const std::string op : {"trace_u64", "hash_u8", "counted_hash", "five_bytes", "sum_i32"})
                borders(op);
        if (stage_.name == "run_tiles")
            for (const std::string op : {"sum_i32", "sum_i64_and_length"})
                for (const auto form : {SegmentForm::flags, SegmentForm::keys})
                    copied_slices(op, form);
        return std::move(cases_);
    }

private:
    void add(const std::string& op, SegmentForm form, int level, const Configuration& configuration,
             std::function<Shapes()> shapes, std::vector<Round> rounds, const std::string& what,
             bool checked = true)
    {
        const Problem problem(operator_of(op), form);
        if (!Catalogue::standard().unmet(stage_, problem))
            cases_.emplace_back(MutantCase{"", level, stage_.name, problem, configuration, Numbers::constant,
                                           std::move(shapes), std::move(rounds), checked},
                                what);
    }

    [[nodiscard]] Configuration smallest(const std::string& op, SegmentForm form) const
    {
        return smallest_configuration(stage_, Problem(operator_of(op), form));
    }

    [[nodiscard]] std::int64_t tile_of(const std::string& op, const Configuration& configuration) const
    {
        return block_and_tile(stage_, Problem(operator_of(op), SegmentForm::keys), configuration).second;
    }

    /// Segments over many tiles, so that a tree over tiles has three levels.
    void tree(const std::string& op)
    {
        const auto configuration = smallest(op, SegmentForm::keys);
        add(
            op, SegmentForm::keys, 1, configuration,
            [tile = tile_of(op, configuration)] { return tree_shapes(tile); }, {{3, 3, 1, 0}},
            "levels of the tree", false);
        add(
            op, SegmentForm::keys, 1, configuration,
            [tile = tile_of(op, configuration)] {
                return one({"a group of one tile", segments_in_form(SegmentForm::keys, {3, 32 * tile})});
            },
            {{1, 1, 1, 0}, {2, 64, 1, 0}}, "a group of one tile");
    }

    /// Many tiles of which each has its own number of heads; of wide states there are four times as many.
    void full_tiles(const std::string& op)
    {
        constexpr std::size_t kElements = 100 * 96 * 4;
        const auto configuration = smallest(op, SegmentForm::keys);
        const std::vector<std::int64_t> sevens(kElements / 7, 7);
        add(
            op, SegmentForm::keys, 1, configuration,
            [=] {
                return one({"tiles in flight", segments_in_form(SegmentForm::keys, sevens)});
            },
            {{2, 64, 1, 0, 80}, {3, 64, 1, 0, 80}}, "tiles in flight", false);
    }

    /// Segments through whole tiles, for which a block looks back over the borders before: through a few
    /// tiles each, at once one behind the other, and through more than a warp has lanes. A second launch
    /// meets the words of the first.
    void borders(const std::string& op)
    {
        const auto configuration = smallest(op, SegmentForm::keys);
        const auto tile = tile_of(op, configuration);
        add(
            op, SegmentForm::keys, 0, configuration,
            [=] { return few_border_shapes(SegmentForm::keys, tile); },
            {{1, 64, 2, 0}, {2, 64, 1, 0}, {1, 64, 1, 0, 16, true}}, "through tiles");
        add(
            op, SegmentForm::keys, 1, configuration, [=] { return border_shapes(SegmentForm::keys, tile); },
            {{2, 64, 2, 0}, {3, 64, 1, 0, 64}}, "through many tiles", false);
    }

    /// Items that are copied past registers, some slices of them a warp, in vectors and one by one.
    void copied_slices(const std::string& op, SegmentForm form)
    {
        auto configuration = smallest(op, form);
        configuration["items_per_thread"] = 8;
        configuration["copies"] = 1;
        configuration["slices_per_warp"] = form == SegmentForm::flags ? 3 : 2;
        const auto tile = tile_of(op, configuration);
        add(
            op, form, 0, configuration, [=] { return few_border_shapes(form, tile); },
            {{1, 64, 2, 0}, {2, 64, 1, 0}}, "copied slices through tiles");
        add(
            op, form, 0, configuration, [=] { return crowded_shapes(form, tile); },
            {{1, 2, 1, 0}, {2, 2, 1, 1}}, "crowded copied slices");
        const std::vector<std::int64_t> lengths(60, tile / 6 + 3);
        add(
            op, form, 0, configuration,
            [=] {
                return one({"segments about as long as a slice", segments_in_form(form, lengths)});
            },
            {{1, 2, 1, 0}}, "a head in each copied slice");
    }

    /// All tiles are in flight, and each looks for numbers back to the first one, past more words than a lane
    /// has under way. The executor must see that who looks back waits, and let others go on.
    void tiles_in_flight()
    {
        const auto configuration = smallest("sum_i32", SegmentForm::keys);
        const auto tile = tile_of("sum_i32", configuration);
        constexpr int kTiles = 150;
        add(
            "sum_i32", SegmentForm::keys, 1, configuration,
            [=] { return growing_shapes(SegmentForm::keys, tile * kTiles); }, {{1, 64, 1, 0, kTiles, true}},
            "all tiles in flight");
    }

    /// Flags whose vectors are not those of sixteen items, keys of more heads than a warp holds, and slices
    /// by one, four and eight where a warp has several.
    void crowds()
    {
        const bool has_slices = stage_.name == "run_stream";
        for (const std::string op : {"sum_i32", "mean_variance_f32"})
            for (const int slices : has_slices ? std::vector<int>{1, 4, 8} : std::vector<int>{1})
                for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
                    auto configuration = smallest(op, form);
                    configuration["items_per_thread"] = 16;
                    if (has_slices)
                        configuration["slices_per_warp"] = slices;
                    const auto tile = tile_of(op, configuration);
                    add(
                        op, form, 1, configuration, [=] { return crowded_shapes(form, tile); },
                        {{1, 1, 1, 0}}, "slices " + std::to_string(slices));
                }
    }

    /// Keys of 8 bytes, and an odd number of items a lane: vectors hold one key.
    void wide_keys()
    {
        Problem problem(operator_of("hash_u64"), SegmentForm::keys);
        problem.key_bytes = 8;
        const auto configuration = looping_configuration(stage_, problem);
        const auto tile = tile_of("hash_u64", configuration);
        cases_.emplace_back(
            MutantCase{"",
                       1,
                       stage_.name,
                       problem,
                       configuration,
                       Numbers::constant,
                       [=] {
                           return one({"keys of 8 bytes",
                                       from_wide_keys({tile - 1, 1, 2 * tile + 3, 31, 5, 1, 1, 7, tile, 2})});
                       },
                       {{1, 1, 2, 0}, {2, 3, 2, 1}}},
            "keys of 8 bytes");
    }

    /// The second launch finds other segments than the first: what that has left must count as nothing.
    void other_keys()
    {
        const auto of = [](std::int64_t n, std::int64_t length) {
            return segments_in_form(SegmentForm::keys,
                                    std::vector<std::int64_t>(static_cast<std::size_t>(n / length), length));
        };
        for (const std::string op : {"sum_i32", "trace_u64"}) {
            const auto configuration = smallest(op, SegmentForm::keys);
            const auto n = tile_of(op, configuration) * 21;
            MutantCase c{"",
                         1,
                         stage_.name,
                         Problem(operator_of(op), SegmentForm::keys),
                         configuration,
                         Numbers::constant,
                         [=] {
                             return one({"other keys than before", of(n, 3)});
                         },
                         {{1, 4, 2, 0}, {2, 4, 2, 0}}};
            c.earlier = [=] { return of(n, 21); };
            cases_.emplace_back(c, "other keys than before");
            c.shapes = [=] { return one({"longer segments than before", of(n, n / 7)}); };
            cases_.emplace_back(std::move(c), "longer segments than before");
        }
    }

    const Stage& stage_;
    std::vector<std::pair<MutantCase, std::string>> cases_;
};

}  // namespace

std::vector<std::pair<MutantCase, std::string>> run_cases(const Stage& stage)
{
    return RunCases(stage).make();
}

}  // namespace segfold::test
