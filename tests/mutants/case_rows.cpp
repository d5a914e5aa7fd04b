#include "tests/mutants/case_rows.h"

#include "codegen/catalogue.h"
#include "tests/mutants/case_configurations.h"
#include "tests/mutants/case_operators.h"
#include "tests/mutants/case_shapes.h"

namespace segfold::test {
namespace {

class RowCases {
public:
    explicit RowCases(const Stage& stage) : stage_(stage) {}

    std::vector<std::pair<MutantCase, std::string>> make()
    {
        giants();
        found_rows();
        if (stage_.name == "row_groups") {
            mapped_rows();
            endless_rows();
        }
        if (stage_.name == "fused_row_groups")
            joined_lanes();
        if (stage_.name == "row_stream")
            long_rows();
        return std::move(cases_);
    }

private:
    using Changes = std::vector<std::pair<const char*, int>>;

    void add(const Problem& problem, const Changes& changes, std::function<Shapes()> shapes,
             std::vector<Round> rounds, const std::string& what, bool checked = true)
    {
        if (Catalogue::standard().unmet(stage_, problem))
            return;
        auto configuration = looping_configuration(stage_, problem);
        for (const auto& [tunable, value] : changes)
            if (configuration.contains(tunable))
                configuration[tunable] = value;
        cases_.emplace_back(MutantCase{"", 0, stage_.name, problem, configuration, Numbers::constant,
                                       std::move(shapes), std::move(rounds), checked},
                            what);
    }

    static Problem over(const std::string& op, SegmentForm form = SegmentForm::offsets)
    {
        return {operator_of(op), form};
    }

    /// Feature by feature, and giants over many shares.
    void giants()
    {
        for (const std::string op : {"rows_affine", "rows_sum", "rows_wide", "rows_narrow"}) {
            Changes changes = {{"features_per_lane", 1}};
            if (stage_.name == "row_groups")
                changes.emplace_back("row_lanes", 8);
            else if (op == "rows_wide")  // so that there are many shares
                changes.emplace_back("feature_lanes", 32);
            add(
                over(op), changes,
                [] {
                    return offsets_shape("giants", {3, 1, 700, 0, 2, 8, 16, 0, 500, 1, 0, 170, 170, 170, 2});
                },
                {{1, 1, 2, 0}, {2, 16, 2, 0}, {3, 64, 1, 0}}, "giants");
        }
    }

    /// More rows than the groups that map take eight at a time, so that a share has nine: 640 groups of 32
    /// lanes, and 20480 of a lane that share 6 features.
    void mapped_rows()
    {
        for (const auto& [lanes, num_rows] :
             std::vector<std::pair<int, std::int64_t>>{{32, 640 * 9}, {1, 20480 / 6 * 8 + 7}}) {
            const Changes changes = {{"feature_lanes", lanes}, {"features_per_lane", 1}, {"row_lanes", 1}};
            add(
                over("rows_told"), changes, [n = num_rows] { return mapped_rows_shapes(n); }, {{1, 1, 1, 0}},
                "mapped rows", lanes > 1);
            add(
                over("rows_told", SegmentForm::ranges), changes,
                [&stage = stage_] { return mapped_shapes(stage, SegmentForm::ranges); }, {{1, 1, 1, 0}},
                "mapped rows");
        }
    }

    /// Rows of more blocks of features than the 640 groups of 32 lanes that map, which take two.
    void endless_rows()
    {
        add(
            over("rows_endless"), {{"feature_lanes", 32}, {"features_per_lane", 1}, {"row_lanes", 1}},
            [] {
                return offsets_shape("a few rows", {2, 0, 1});
            },
            {{1, 1, 1, 0}}, "endless");
    }

    /// Lanes that are joined and have more features than lanes join, as many, and fewer; groups that take one
    /// segment, and whole rows of two after each other; lanes of one feature whose rows are in order.
    void joined_lanes()
    {
        const auto try_out = [&](const char* op, const Changes& changes) {
            add(
                over(op), changes,
                [] {
                    return offsets_shape("joined lanes", {3, 0, 1, 40, 17, 2, 8, 5});
                },
                {{1, 1, 1, 0}}, "joined lanes");
        };
        try_out("rows_shares", {{"features_per_lane", 4}, {"row_lanes", 2}});
        try_out("rows_shares", {{"features_per_lane", 2}, {"row_lanes", 4}});
        try_out("rows_shares", {{"features_per_lane", 2}, {"row_lanes", 8}});
        try_out(
            "rows_shares",
            {{"features_per_lane", 4}, {"feature_lanes", 8}, {"row_lanes", 4}, {"segments_per_group", 2}});
        try_out("rows_told", {{"features_per_lane", 1}, {"row_lanes", 8}});
        try_out("rows_told", {{"row_lanes", 1}, {"rows_per_step", 1}});
    }

    /// Rows of one feature, and rows so long that a block joins the tails of two shares, or of a part of one.
    void long_rows()
    {
        for (const std::string op : {"rows_one", "rows_many", "rows_long"})
            add(over(op), {{"features_per_lane", 1}, {"feature_lanes", op == "rows_one" ? 1 : 32}},
                long_row_shapes, {{1, 64, 1, 0}, {2, 64, 2, 0}}, "long rows");
    }

    /// Rows of a table whose places are checked; where lanes hold numbers, those of one step, and of four.
    void found_rows()
    {
        auto problem = over(stage_.name == "fused_row_groups" ? "rows_traced"
                            : stage_.name == "running_rows"   ? "rows_looked"
                                                              : "rows_found");
        problem.checked_tables = {"t"};
        const auto tile = block_and_tile(looping_configuration(stage_, problem)).second;
        for (const Changes& changes : {Changes{}, Changes{{"feature_lanes", 8}, {"rows_per_step", 2}}})
            add(
                problem, changes, [=] { return few_shapes(SegmentForm::offsets, tile, true); },
                {{1, 1, 1, 0}}, "found rows");
    }

    const Stage& stage_;
    std::vector<std::pair<MutantCase, std::string>> cases_;
};

}  // namespace

std::vector<std::pair<MutantCase, std::string>> row_cases(const Stage& stage)
{
    return RowCases(stage).make();
}

}  // namespace segfold::test
