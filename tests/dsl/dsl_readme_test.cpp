// The operators in dsl/README.md are accepted, and the rules in its table are true.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "dsl/cpp/define.h"
#include "dsl/derived.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "readme_example.h"
#include "tests/common/evaluate.h"
#include "tests/common/readme_rules.h"

namespace segfold::dsl_readme_test {
namespace {

std::vector<std::string> readme()
{
    std::ifstream file(SEGFOLD_SOURCE_DIR "/dsl/README.md");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        lines.push_back(line);
    return lines;
}

/// The fenced blocks that begin with "```" alone.
std::vector<std::string> blocks()
{
    std::vector<std::string> result;
    std::string fence;
    for (const auto& line : readme()) {
        if (line.starts_with("```")) {
            if (fence.empty() && line == "```")
                result.emplace_back();
            fence = fence.empty() ? line : "";
        } else if (fence == "```") {
            result.back() += line + "\n";
        }
    }
    return result;
}

TEST(DslReadme, ItsOperatorsAreAccepted)
{
    const auto operators = blocks();
    EXPECT_EQ(operators.size(), 11u);
    for (const auto& text : operators) {
        const auto op = parse_operator("README.md", text);
        EXPECT_TRUE(same(parse_operator("printed", print(op)), op));
    }
}

TEST(DslReadme, ItsGradientIsWhatIsMade)
{
    const auto made = print(gradient(standard_operator("log_sum_exp", Type::f32), "x"));
    EXPECT_TRUE(std::ranges::count(blocks(), made)) << made;
}

TEST(DslReadme, ItsOperatorsInCppEqualTheirTexts)
{
    const auto text = parse_operator("README.md", blocks().at(0));
    EXPECT_TRUE(same(mean_variance, text)) << print(mean_variance) << print(text);
    EXPECT_TRUE(same(dot<float>(), standard_operator("dot", Type::f32)));
    EXPECT_TRUE(same(dot<std::uint8_t>(), standard_operator("dot", Type::u8)));
}

TEST(DslReadme, EveryRuleIsTrue)
{
    const auto rules = readme_rules();
    for (const auto& rule : rules) {
        Evaluation evaluation(rule, Type::boolean, {{"x", Type::u8}});
        EXPECT_TRUE(evaluation.at<bool>(std::uint8_t{0})) << rule;
    }
    EXPECT_EQ(rules.size(), 22u);
}

}  // namespace
}  // namespace segfold::dsl_readme_test
