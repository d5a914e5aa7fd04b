// Compares the stage that a run takes without records with the best stage, on random workloads that GPUs have
// measured: the rows in kernels/ranks/rows, from which the order is grown. How well it does on rows that it
// has not seen says `python kernels/ranks/grow.py --judge`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "codegen/catalogue.h"
#include "codegen/facts.h"
#include "dsl/text/standard_operators.h"
#include "runtime/support/statistics.h"

namespace segfold::measured_order_test {
namespace {

/// A measured workload.
struct Row {
    std::string text;  ///< the row without the rates
    std::string op;
    struct {
        std::int64_t element_bytes = 0, state_bytes = 0, combine_cost = 0, commutative = 0, gathers = 0;
    } facts = {};
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
    std::map<std::string, double> rates;  ///< rates by stage
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
    EXPECT_EQ(
        line,
        "device,operator,element_bytes,state_bytes,combine_cost,commutative,gathers,form,elements,segments,"
        "longest,padded,rates")
        << file;
    std::vector<Row> rows;
    while (std::getline(table, line)) {
        Row row;
        row.text = line.substr(0, line.rfind(','));  // settings of plans contain no comma
        std::istringstream cells(line);
        std::string device, form, rate;
        char comma = 0;
        std::getline(cells, device, ',');
        std::getline(cells, row.op, ',');
        for (auto* fact : {&row.facts.element_bytes, &row.facts.state_bytes, &row.facts.combine_cost,
                           &row.facts.commutative, &row.facts.gathers})
            cells >> *fact >> comma;
        std::getline(cells, form, ',');
        row.form = form_of(form);
        cells >> row.shape.num_elements >> comma >> row.shape.num_segments >> comma >> row.shape.longest >>
            comma >> row.shape.padded >> comma;
        while (cells >> rate) {
            const auto plan = rate.substr(0, rate.rfind('='));
            // Only stages without settings of the user: runs take these.
            if (plan.find(':') == std::string::npos)
                row.rates[plan] = std::max(row.rates[plan], std::stod(rate.substr(rate.rfind('=') + 1)));
        }
        EXPECT_TRUE(is_standard_operator(row.op) && row.rates.size() > 1) << line;
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

/// Returns the share of each row, the worst first.
std::vector<Share> chosen_over_best(const std::vector<Row>& rows)
{
    std::vector<Share> shares;
    for (const auto& row : rows) {
        const Problem problem(standard_operator(row.op), row.form);
        const auto& taken = Catalogue::standard().rule_of_thumb(problem, row.shape).name;
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
        EXPECT_GE(geometric_mean(values), 0.98) << file;
        EXPECT_GE(values[(values.size() - 1) / 10], 0.92) << file;
        EXPECT_GE(values.front(), 0.4) << file;
    }
}

/// What the order was grown from is what a choice asks.
TEST(MeasuredOrder, RowsHaveTheFactsOfTheirOperators)
{
    for (const auto& file : files())
        for (const auto& row : rows_of(file)) {
            const auto facts = problem_facts(Problem(standard_operator(row.op), row.form));
            EXPECT_EQ(row.facts.element_bytes, facts.at("element_bytes")) << file << " " << row.text;
            EXPECT_EQ(row.facts.state_bytes, facts.at("state_bytes")) << file << " " << row.text;
            EXPECT_EQ(row.facts.combine_cost, facts.at("combine_cost")) << file << " " << row.text;
            EXPECT_EQ(row.facts.commutative, facts.at("commutative")) << file << " " << row.text;
            EXPECT_EQ(row.facts.gathers, facts.at("gathers")) << file << " " << row.text;
        }
}

}  // namespace
}  // namespace segfold::measured_order_test
