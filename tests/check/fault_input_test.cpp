// For a law that is refuted, check prints a command that shows what comes of it through a kernel: it is run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/cli_program.h"

namespace segfold::fault_input_test {
namespace {

namespace fs = std::filesystem;

struct Shown {
    const char* op;
    const char* law;
    bool fails_check;
};

/// What a shell prints and returns for a line.
std::pair<int, std::string> shell(const std::string& line)
{
    std::string output;
    FILE* pipe = popen((line + " 2>/dev/null").c_str(), "r");
    char part[4096];
    for (std::size_t count = 0; (count = fread(part, 1, sizeof part, pipe)) > 0;)
        output.append(part, count);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

class FaultInputTest : public testing::TestWithParam<Shown> {};

TEST_P(FaultInputTest, TheCommandThatIsPrintedShowsIt)
{
    if (!test::has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const auto [name, law, fails_check] = GetParam();
    const auto op = fs::path(SEGFOLD_SOURCE_DIR) / "tests/laws/table" / fmt::format("{}.seg", name);
    const test::ProgramFolder folder;
    const auto found =
        folder.run({"check", op.string(), "--backend", "simt", "--prove", "off", "--stage",
                    "thread_per_segment", "--layout", "uniform=8", "--elements", "64", "--json"});
    EXPECT_EQ(found.exit_code, 1) << found.errors;
    const auto document = nlohmann::json::parse(found.output);
    const auto fault =
        std::ranges::find(document.at("faults"), law, [](const auto& one) { return one.at("law"); });
    ASSERT_NE(fault, document.at("faults").end()) << document.at("faults");
    EXPECT_EQ(fault->at("fails_check"), fails_check);
    EXPECT_NE(fault->at("given"), fault->at("expected"));
    const auto command = fault->at("command").get<std::string>();
    EXPECT_LT(command.size(), 1000U);
    const auto path = fmt::format("PATH={}:$PATH ", fs::path(SEGFOLD_PROGRAM).parent_path().string());
    const auto [code, output] = shell(path + command + " --json");
    EXPECT_EQ(code, fails_check ? 1 : 0) << command << "\n" << output;
    // The same segments folded by the reference.
    const auto at = command.find("--backend simt");
    ASSERT_NE(at, command.npos);
    const auto run = nlohmann::json::parse(output.substr(output.find('{')));
    const auto segment = fault->at("segment").get<std::size_t>();
    const auto& given = run.at("results").at(segment);
    const auto [unused, right] = shell(
        path + fmt::format("segfold run {} --backend reference --json --layout 'offsets={}' --input 'x={}'",
                           op.string(), fault->at("offsets").get<std::string>(),
                           fault->at("inputs").at("x").get<std::string>()));
    EXPECT_NE(given, nlohmann::json::parse(right).at("results").at(segment)) << command;
}

/// One element shows that the identity is none, and nothing of another order.
TEST(FaultInput, WhatTheIdentityDoesIsNoFaultOfTheOrder)
{
    if (!test::has_compiler())
        GTEST_SKIP() << "simt needs a C++ compiler";
    const test::ProgramFolder folder;
    (void)folder.write(
        "average.seg",
        "operator average(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) (a + b) / 2 }");
    const auto found = folder.run({"check", "average.seg", "--backend", "simt", "--prove", "off", "--json"});
    const auto document = nlohmann::json::parse(found.output);
    std::map<std::string, std::string> stages;
    for (const auto& fault : document.at("faults"))
        stages[fault.at("law")] = fault.at("stage");
    EXPECT_EQ(stages, (std::map<std::string, std::string>{{"associative", "tile_scan"},
                                                          {"identity", "thread_per_segment"}}));
}

INSTANTIATE_TEST_SUITE_P(Operators, FaultInputTest,
                         testing::Values(Shown{"subtract_i32", "associative", true},
                                         Shown{"average_of_averages", "associative", true},
                                         Shown{"greater_or_second_f32", "associative", true},
                                         Shown{"sum_identity_1", "identity", true},
                                         Shown{"online_softmax", "identity", true},
                                         Shown{"first_commutative", "commutative", true}),
                         [](const auto& shown) { return shown.param.op; });

}  // namespace
}  // namespace segfold::fault_input_test
