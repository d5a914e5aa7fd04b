// Probes: what their files may say, and their answers.
#include <gtest/gtest.h>

#include <cstring>

#include "codegen/catalogue.h"
#include "dsl/error.h"
#include "runtime/measure/bench/probe_answers.h"
#include "tests/common/message_of.h"

namespace segfold::probe_test {
namespace {

const std::string kHead = "//% probe p\n//% title T\n//% source S\n";
const std::string kBody =
    "//% output  results : unsigned[num_elements]\n"
    "//% moves   4 * num_elements\n"
    "//% launch  p  grid = num_elements  block = 32\n"
    "extern \"C\" __global__ void p(unsigned* results) { results[blockIdx.x] = kSize; }\n";

std::string_view no_part(std::string_view path) { throw SpecError("unknown part " + std::string(path)); }

std::string failure_of(const std::string& text)
{
    return test::message_of([&] {
        const auto probe = read_probe("measuring/p.cu", text);
        (void)emit(probe, configure(probe, {}), no_part);
    });
}

TEST(ProbeFile, FaultsNameFileAndLine)
{
    EXPECT_EQ(failure_of(kHead + kBody), "nothing was thrown");
    EXPECT_EQ(failure_of("//% probe p\n"),
              "measuring/p.cu: a probe's file needs the directives probe, title and source");
    EXPECT_EQ(failure_of(kHead + "//% title U\n"), "measuring/p.cu:4: 'title' is said twice");
    EXPECT_EQ(failure_of(kHead + "//% launches p\n"),
              "measuring/p.cu:4: unknown directive 'launches'; did you mean 'launch'?");
    EXPECT_EQ(failure_of(kHead), "measuring/p.cu: a probe needs an output, what it moves and a launch");
    EXPECT_EQ(failure_of(kHead + "//% moves 1\n" + kBody), "measuring/p.cu:6: 'moves' is said twice");
    EXPECT_EQ(failure_of(kHead + "//% input x : float[3]\n" + kBody),
              "measuring/p.cu:4: unknown element 'float'; scratch is made of unsigned or u64");
    auto other = kBody;
    EXPECT_EQ(failure_of(kHead + other.replace(other.find("unsigned* results"), 17, "unsigned* totals")),
              "measuring/p.cu: kernel 'p' has the parameter 'totals'; parameters are num_elements, results");
}

TEST(ProbeFile, TunablesBecomeConstantsWhereTheyAreMentioned)
{
    const auto probe = read_probe(
        "measuring/p.cu", kHead + "//% tune size = 1, 2\n//% tune other = 3\n//% where size < 2\n" + kBody);
    const auto source = emit(probe, configure(probe, {}), no_part).source;
    EXPECT_NE(source.find("constexpr int kSize = 1;\n"), std::string::npos) << source;
    EXPECT_EQ(source.find("kOther"), std::string::npos) << source;
    EXPECT_EQ(source.find("//%"), std::string::npos) << source;
    EXPECT_EQ(test::message_of([&] {
                  (void)configure(probe, {{"size", 3}});
              }),
              "probe p: size cannot be 3; its values are 1, 2");
    EXPECT_EQ(test::message_of([&] {
                  (void)configure(probe, {{"size", 2}});
              }),
              "probe p: other=3 size=2 is excluded; it must hold that size < 2");
}

TEST(ProbeFile, RangesOfValuesGoUp)
{
    const auto values = [](const std::string& list) {
        return read_probe("measuring/p.cu", kHead + "//% tune size = " + list + "\n" + kBody)
            .tunables[0]
            .values;
    };
    EXPECT_EQ(values("7, 1..3, 9"), (std::vector<int>{7, 1, 2, 3, 9}));
    EXPECT_EQ(values("-1..-1"), (std::vector<int>{-1}));
    const auto fault = [&](const std::string& list) { return test::message_of([&] { (void)values(list); }); };
    EXPECT_EQ(fault("3..1"), "measuring/p.cu:4: '3..1' for size; a range goes up, over 1024 values at most");
    EXPECT_EQ(fault("0..1024").substr(0, 17), "measuring/p.cu:4:");
    EXPECT_EQ(fault("1..x"), "measuring/p.cu:4: 'x' is not a value for size; values are integers");
}

TEST(Probes, AreNamedAsTheirFilesAndHaveAnswers)
{
    const auto& probes = Catalogue::standard().probes();
    EXPECT_GE(probes.size(), 5U);
    for (const auto& probe : probes) {
        EXPECT_EQ(probe.file, "measuring/" + probe.name + ".cu");
        const auto configuration = configure(probe, {});
        FormulaNames names(configuration.begin(), configuration.end());
        names["num_elements"] = 64;
        EXPECT_NO_THROW((void)bench::answer_of(probe.name, names)) << probe.name;
    }
    EXPECT_THROW((void)bench::answer_of("nothing", {}), InternalError);
    EXPECT_EQ(test::message_of([] { (void)Catalogue::standard().probe("divergance"); }).substr(0, 26),
              "unknown probe 'divergance'");
}

TEST(ProbeAnswer, TheFirstWrongElementIsNamed)
{
    const auto answer = bench::answer_of("strided_copy", {{"stride", 2}, {"num_elements", 2}});
    std::vector<std::uint32_t> results = {bench::probe_word(0), 0xcdcdcdcd, bench::probe_word(2), 0xcdcdcdcd};
    const auto judge = [&] { return bench::judge_probe(answer, std::as_bytes(std::span(results)), 4); };
    EXPECT_EQ(judge(), "");
    results[3] = 7;
    EXPECT_EQ(judge(), "result 3 is 0x7; it has to be 0xcdcdcdcd");
    results[2] = 9;
    EXPECT_TRUE(judge().starts_with("result 2 is 0x9; it has to be ")) << judge();
}

}  // namespace
}  // namespace segfold::probe_test
