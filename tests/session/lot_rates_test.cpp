// Compares the stage that a run takes without records with the best stage, on random workloads that GPUs have
// measured.
//
// tests/data/lot holds rows of `segfold bench OP --no-tune --peers none --sweep lot:N,seed=S --rates FILE`,
// and of the same command for single layouts. The `suits` lines of stages were fitted on some files. The
// other files are held out: no line may be changed because of their rows.
//
// fitted.csv (an H100) and fitted_h200.csv were used for fitting; held_out.csv (an H200) is held out.
//
// Files found_*.csv have equal lengths given by flags and by keys of 4 bytes. found_h100.csv has random
// lengths (tests/benchmark/lots_of_found.py), found_h200.csv lengths of 4, 8, 16, 40 and 256. The last
// borders were fitted on found_h100.csv; since then `run_stream` takes fewer slices for some of its rows.
// found_held_out.csv is held out. Rows of 2 to 6.6 million elements were measured with the text of
// 2026-11-27; lines were moved for such rows of the first two files of an H100.
//
// found_small.csv (an H100, seeds 54 to 56) has 2^16 to 2^23 elements and lengths of 3 to 2^20; a few lines
// were fitted on it. found_small_held_out.csv has seed 57 and was drawn afterwards.
//
// Files lengths*.csv have offsets whose lengths follow distributions (tests/benchmark/lots_of_lengths.py).
// Lines were fitted on lengths.csv (an H100, seeds 61 to 66) and on lengths_h200.csv (seeds 81 and 82, and
// geometric lengths of 2^26 to 2^28 elements). Drawn afterwards were lengths_held_out.csv (seed 67), for
// which one line was kept, lengths_h200_held_out.csv (seeds 83 and 84), and drawn_h200.csv (an H200, lots of
// seeds 9941 to 9947).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "codegen/catalogue.h"
#include "dsl/text/standard_operators.h"
#include "runtime/support/statistics.h"

namespace segfold::lot_rates_test {
namespace {

/// A measured workload.
struct Row {
    std::string text;  ///< the row without the rates
    std::string op;
    SegmentForm form = SegmentForm::offsets;
    Shape shape;
    std::map<std::string, double> rates;  ///< rates by stage
};

SegmentForm form_of(const std::string& text)
{
    for (const auto form : {SegmentForm::uniform, SegmentForm::flags, SegmentForm::keys})
        if (text == name(form))
            return form;
    EXPECT_EQ(text, name(SegmentForm::offsets));
    return SegmentForm::offsets;
}

std::vector<Row> rows_of(const std::string& file)
{
    std::ifstream table(SEGFOLD_SOURCE_DIR "/tests/data/lot/" + file);
    std::string line;
    std::getline(table, line);
    EXPECT_EQ(line, "operator,form,elements,segments,longest,padded,rates") << file;
    std::vector<Row> rows;
    while (std::getline(table, line)) {
        Row row;
        row.text = line.substr(0, line.rfind(','));  // settings of plans contain no comma
        std::istringstream cells(line);
        std::string form, rate;
        char comma = 0;
        std::getline(cells, row.op, ',');
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

/// Required shares, about a hundredth below the reached ones.
struct Bounds {
    std::string file;
    std::size_t least_rows;
    double mean, tenth, worst;
};

class LotRates : public testing::TestWithParam<Bounds> {};

TEST_P(LotRates, ChosenPlansAreNearTheBest)
{
    const auto& bounds = GetParam();
    const auto rows = rows_of(bounds.file);
    ASSERT_GE(rows.size(), bounds.least_rows);
    const auto shares = chosen_over_best(rows);
    std::vector<double> values;
    std::map<std::string, std::vector<double>> of_operator;
    for (const auto& [share, op, text] : shares) {
        values.push_back(share);
        of_operator[op].push_back(share);
    }
    std::cout << summary(bounds.file, values) << "\n";
    for (const auto& [op, own] : of_operator)
        std::cout << summary(op, own) << "\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(shares.size(), 12); ++i)
        std::cout << fmt::format("{:.3f} {}\n", shares[i].share, shares[i].text);
    EXPECT_GE(geometric_mean(values), bounds.mean);
    EXPECT_GE(values[(values.size() - 1) / 10], bounds.tenth);
    EXPECT_GE(values.front(), bounds.worst);
}

INSTANTIATE_TEST_SUITE_P(Files, LotRates,
                         testing::Values(Bounds{"fitted.csv", 2130, 0.985, 0.97, 0.70},
                                         Bounds{"fitted_h200.csv", 1124, 0.98, 0.95, 0.65},
                                         Bounds{"held_out.csv", 301, 0.98, 0.95, 0.74},
                                         Bounds{"found_h100.csv", 198, 0.985, 0.99, 0.86},
                                         Bounds{"found_h200.csv", 70, 0.985, 0.99, 0.89},
                                         Bounds{"found_held_out.csv", 90, 0.985, 0.99, 0.90},
                                         Bounds{"found_small.csv", 270, 0.985, 0.99, 0.74},
                                         Bounds{"found_small_held_out.csv", 108, 0.985, 0.99, 0.78},
                                         Bounds{"lengths.csv", 616, 0.985, 0.97, 0.79},
                                         Bounds{"lengths_held_out.csv", 112, 0.97, 0.93, 0.70},
                                         Bounds{"lengths_h200.csv", 156, 0.98, 0.96, 0.81},
                                         Bounds{"lengths_h200_held_out.csv", 84, 0.97, 0.94, 0.72},
                                         Bounds{"drawn_h200.csv", 210, 0.975, 0.91, 0.75}),
                         [](const auto& info) {
                             return info.param.file.substr(0, info.param.file.find('.'));
                         });

}  // namespace
}  // namespace segfold::lot_rates_test
