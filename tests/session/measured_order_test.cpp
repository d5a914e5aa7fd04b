// Compares the stage that a run takes without records with the best stage, on random workloads that GPUs have
// measured: the rows in kernels/ranks/rows, from which the order is grown. How well it does on rows that it
// has not seen says `python kernels/ranks/grow.py --judge`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <ranges>
#include <sstream>

#include "codegen/catalogue.h"
#include "codegen/facts.h"
#include "codegen/order/stage_order.h"
#include "dsl/derived.h"
#include "dsl/text/standard_operators.h"
#include "runtime/measure/bench/workloads/lot_cases.h"
#include "runtime/support/statistics.h"

namespace segfold::measured_order_test {
namespace {

/// A measured workload.
struct Row {
    std::string text;  ///< the row without the rates
    std::string op;
    std::array<std::int64_t, kRowFacts.size()> facts = {};
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
    std::map<std::string, double> rates;  ///< rates by stage

    /// What a choice asks: the facts of the row in place of those of its operator.
    [[nodiscard]] FormulaNames plan_facts() const
    {
        FormulaNames names = {{name(form), 1}};
        for (std::size_t i = 0; i < facts.size(); ++i)
            names[kRowFacts[i].first] = facts[i];
        return with_shape(std::move(names), shape);
    }
};

SegmentForm form_of(const std::string& text)
{
    for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::flags, SegmentForm::keys})
        if (text == name(form))
            return form;
    EXPECT_EQ(text, name(SegmentForm::offsets));
    return SegmentForm::offsets;
}

std::vector<Row> rows_of(const std::string& file)
{
    std::ifstream table(SEGFOLD_SOURCE_DIR "/kernels/ranks/rows/" + file);
    std::string line;
    std::getline(table, line);
    EXPECT_EQ(line + "\n", bench::titles_of_rates()) << file;
    std::vector<Row> rows;
    while (std::getline(table, line)) {
        Row row;
        row.text = line.substr(0, line.rfind(','));  // settings of plans contain no comma
        std::istringstream cells(line);
        std::string cell, rate;
        for (int i = 0; i < 4; ++i)  // date, device, driver, compiler
            std::getline(cells, cell, ',');
        std::getline(cells, row.op, ',');
        char comma = 0;
        for (auto& fact : row.facts)
            cells >> fact >> comma;
        std::getline(cells, cell, ',');
        row.form = form_of(cell);
        for (auto* size : {&row.shape.num_elements, &row.shape.num_segments, &row.shape.longest,
                           &row.shape.padded, &row.shape.num_features})
            cells >> *size >> comma;
        while (cells >> rate) {
            const auto plan = rate.substr(0, rate.rfind('='));
            // Only stages without settings of the user: runs take these.
            if (plan.find(':') != std::string::npos)
                continue;
            auto& known = row.rates[plan.substr(0, plan.find('@'))];
            known = std::max(known, std::stod(rate.substr(rate.rfind('=') + 1)));
        }
        if (row.rates.size() > 1)  // where one stage alone can serve there is no choice
            rows.push_back(std::move(row));
    }
    return rows;
}

/// The rate of the stage that a run takes / the best stage's rate.
struct Share {
    double share;
    std::string op;
    std::string text;

    friend auto operator<=>(const Share&, const Share&) = default;
};

/// The row's operator; rows of stages for running results are of the scanned one.
Operator operator_of(const Row& row)
{
    const auto op = standard_operator(row.op);
    return row.rates.begin()->first.starts_with("running_") ? scanned(op, {}) : op;
}

/// The stage that a run takes. For an operator that is not known here, one of those that have a rate.
std::string taken_for(const Row& row)
{
    if (is_standard_operator(row.op)) {
        const auto& gpu = Catalogue::standard().stages();
        const bool is_of_gpu = std::ranges::find(gpu, row.rates.begin()->first, &Stage::name) != gpu.end();
        Problem problem(operator_of(row), row.form);
        problem.target.has_wide_vectors = row.facts.back() != 0;
        return (is_of_gpu ? Catalogue::standard() : Catalogue::native())
            .rule_of_thumb(problem, row.shape)
            .name;
    }
    const auto facts = order_facts(row.plan_facts());
    return std::ranges::max(std::views::keys(row.rates), {}, [&](const std::string& stage) {
        return StageOrder::standard().expected_share(stage, facts).value_or(0);
    });
}

/// Returns the share of each row, the worst first.
std::vector<Share> chosen_over_best(const std::vector<Row>& rows)
{
    std::vector<Share> shares;
    for (const auto& row : rows) {
        const auto taken = taken_for(row);
        double best = 0;
        for (const auto& [stage, rate] : row.rates)
            best = std::max(best, rate);
        // A stage without a rate was abandoned, because it would have taken a hundred times as long.
        const auto found = row.rates.find(taken);
        const double share = found == row.rates.end() ? 0.01 : found->second / best;
        shares.push_back({share, row.op, row.text + " " + taken});
    }
    std::ranges::sort(shares);
    return shares;
}

/// Returns "sum_f32 120: geometric mean 0.991, worst 0.804; deciles 0.950 0.970 ...". `shares` must be
/// sorted.
std::string summary(const std::string& what, const std::vector<double>& shares)
{
    auto text = fmt::format("{} {}: geometric mean {:.3f}, worst {:.3f}; deciles", what, shares.size(),
                            geometric_mean(shares), shares.front());
    for (std::size_t k = 1; k < 10; ++k)
        text += fmt::format(" {:.3f}", shares[(shares.size() - 1) * k / 10]);
    return text;
}

/// Names of the files of rows, sorted.
std::vector<std::string> files()
{
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(SEGFOLD_SOURCE_DIR "/kernels/ranks/rows"))
        names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
}

TEST(MeasuredOrder, TakesStagesNearTheBestOfEachFile)
{
    ASSERT_GE(files().size(), 13U);
    for (const auto& file : files()) {
        const auto shares = chosen_over_best(rows_of(file));
        std::vector<double> values;
        for (const auto& one : shares)
            values.push_back(one.share);
        std::cout << summary(file, values) << "\n";
        for (std::size_t i = 0; i < std::min<std::size_t>(shares.size(), 3); ++i)
            std::cout << fmt::format("{:.3f} {}\n", shares[i].share, shares[i].text);
        EXPECT_GE(geometric_mean(values), 0.975) << file;
        EXPECT_GE(values[(values.size() - 1) / 10], 0.92) << file;
        EXPECT_GE(values[(values.size() - 1) / 100], 0.7) << file;
    }
}

/// What the order was grown from is what a choice asks.
TEST(MeasuredOrder, RowsHaveTheFactsOfTheirOperators)
{
    int compared = 0;
    for (const auto& file : files())
        for (const auto& row : rows_of(file)) {
            if (!is_standard_operator(row.op))
                continue;  // others are made by draw.py
            const auto facts = problem_facts(Problem(operator_of(row), row.form));
            for (std::size_t i = 0; i < kRowFacts.size(); ++i) {
                if (kRowFacts[i].first == "wide_vectors")  // which the machine decides
                    continue;
                EXPECT_EQ(row.facts[i], facts.at(kRowFacts[i].first))
                    << file << " " << row.text << " " << kRowFacts[i].first;
            }
            ++compared;
        }
    EXPECT_GT(compared, 5000);
}

}  // namespace
}  // namespace segfold::measured_order_test
