// Recorded spaces: reading, refusing and replaying them, and the T4 export of their rows.
#include "tests/measure/replay.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/measure/tune/t4.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"

namespace segfold::tune::tune_replay_test {
namespace {

/// Rows of two stages, as `tune --every` writes them. The larger space has a valley, failing points and slow
/// ends.
std::vector<TuningRecord> recorded()
{
    std::vector<TuningRecord> rows;
    for (const auto* stage : {"rich", "plain"})
        for (const int a : {8, 1, 2, 4, 16, 32, 64})
            for (const int b : {4, 1, 2, 8, 16, 32})
                for (const int c : {2, 1, 4, 8, 16}) {
                    TuningRecord row;
                    row.device = {"Fake GPU", 80, 40, 4 << 20, 384, 1400000, 1200000};
                    row.op = "sum";
                    row.shape = {1 << 20, 1 << 10, 0};
                    row.point = {stage, {{"a", a}, {"b", b}, {"c", c}}};
                    const double away = std::pow(std::log2(a) - 5, 2) + std::pow(std::log2(b) - 1, 2) +
                                        2 * std::pow(std::log2(c) - 3, 2);
                    row.measurement.milliseconds =
                        0.1 * (*stage == 'p' ? 1.5 : 1) * std::exp(0.05 * away) + 0.0001 * ((a * 7 + c) % 5);
                    row.measurement.samples = {row.measurement.milliseconds};
                    if (a * b > 512)
                        row.measurement = {MeasurementOutcome::resources, 0, {}, "no block fits"};
                    rows.push_back(row);
                }
    return rows;
}

std::string text_of(const std::vector<TuningRecord>& rows)
{
    std::string text;
    for (const auto& row : rows)
        text += print(row) + "\n";
    return text;
}

/// Returns the share of the optimum reached after `budget` evaluations, the mean over seeds.
double reached(Replay& replay, Strategy strategy, std::size_t budget)
{
    constexpr int kSeeds = 30;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto trials =
            search(replay.space(), replay, {.strategy = strategy, .evaluations = budget, .seed = seed});
        const auto* best = fastest(trials);
        sum += best == nullptr ? 0 : replay.optimum() / best->measurement.milliseconds;
    }
    return sum / kSeeds;
}

/// Returns the text of a gzip file.
std::string unpacked(const std::string& path)
{
    const auto file = gzopen(path.c_str(), "rb");
    EXPECT_NE(file, nullptr) << path;
    std::string text;
    char block[1 << 16];
    int bytes = 0;
    while (file != nullptr && (bytes = gzread(file, block, sizeof(block))) > 0)
        text.append(block, static_cast<std::size_t>(bytes));
    EXPECT_EQ(bytes, 0) << path;
    if (file != nullptr)
        gzclose(file);
    return text;
}

void expect_better_than_chance(const std::string& name, const std::string& text)
{
    const auto records = parse_records(name, text);
    EXPECT_EQ(records.complaints, std::vector<std::string>{});
    Replay replay(name, records.rows);
    double ours = 0, chance = 0;
    for (const std::size_t budget : {25, 50, 100}) {
        const double one = reached(replay, Strategy::elite, budget);
        const double other = reached(replay, Strategy::random, budget);
        std::cout << name << ", " << budget << " of " << replay.space().size() << " plans: " << one
                  << " of the optimum, by chance " << other << "\n";
        ours += one;
        chance += other;
    }
    EXPECT_GE(ours, chance) << name;
}

TEST(Replay, SearchBeatsChance) { expect_better_than_chance("made-up", text_of(recorded())); }

/// Searches every space that was recorded on a GPU.
TEST(Replay, SearchBeatsChanceOnRecordedSpaces)
{
    test::Draw draw;
    for (const auto& entry : std::filesystem::directory_iterator(SEGFOLD_SOURCE_DIR "/tests/tuning"))
        if (const auto name = entry.path().filename().string(); name.ends_with(".gz") && draw.takes(name))
            expect_better_than_chance(name, unpacked(entry.path().string()));
}

TEST(Replay, RefusesWhatIsNoSpace)
{
    EXPECT_EQ(refusal([] { Replay("empty.jsonl", {}); }),
              "empty.jsonl: has no rows; 'segfold tune OP --every' records a space");
    auto rows = recorded();
    rows[3].device.name = "Other GPU";
    rows[3].origin = "x.jsonl:4";
    rows[0].origin = "x.jsonl:1";
    EXPECT_EQ(
        refusal([&] { Replay("x.jsonl", rows); }),
        "x.jsonl:4: is of another device, operator or shape than x.jsonl:1; a recorded space has one of "
        "each");
}

TEST(T4, HoldsEveryRow)
{
    const auto rows = recorded();
    const auto document = nlohmann::json::parse(print_t4(rows));
    EXPECT_EQ(document["schema_version"], "1.0.0");
    ASSERT_EQ(document["results"].size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& result = document["results"][i];
        const bool is_right = rows[i].measurement.outcome == MeasurementOutcome::correct;
        EXPECT_EQ(result["invalidity"], is_right ? "correct" : "constraints");
        EXPECT_EQ(result["measurements"].size(), is_right ? 1u : 0u);
        EXPECT_EQ(result["configuration"]["stage"], rows[i].point.stage);
        EXPECT_EQ(result["configuration"]["a"], rows[i].point.configuration.at("a"));
    }
}

}  // namespace
}  // namespace segfold::tune::tune_replay_test
