// Texts that a session keeps equal those of emit(), and different problems have different texts.
#include "runtime/session/choice/emitted_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codegen/configuration.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"

namespace segfold::emitted_texts_test {
namespace {

/// Problems that each differ from the first in one property.
std::vector<std::pair<std::string, Problem>> problems()
{
    const Problem first(standard_operator("sum_i32"), SegmentForm::offsets);
    std::vector<std::pair<std::string, Problem>> all = {
        {"first", first},
        {"operator", Problem(standard_operator("sum_i64"), SegmentForm::offsets)},
        {"form", Problem(standard_operator("sum_i32"), SegmentForm::uniform)},
        {"index", Problem(standard_operator("sum_i32"), SegmentForm::offsets, 64)}};
    const auto changed = [&](const std::string& name, const auto& change) {
        auto problem = first;
        change(problem);
        all.emplace_back(name, std::move(problem));
    };
    changed("order", [](Problem& problem) { problem.laws.commutative = false; });
    changed("old GPU", [](Problem& problem) { problem.target.has_async_copies = false; });
    const auto gather = parse_operator("gather",
                                       "operator gather(c: i32, w: table f32) -> f32 { "
                                       "state s: f32 = 0  lift w[c]  combine(a, b) a + b }");
    all.emplace_back("table", Problem(gather, SegmentForm::offsets));
    Problem checked(gather, SegmentForm::offsets);
    checked.checked_tables = {"w"};
    all.emplace_back("checked table", checked);
    return all;
}

TEST(EmittedTexts, AreThoseOfEmit)
{
    const auto& catalogue = Catalogue::standard();
    EmittedTexts texts;
    for (int round = 0; round < 2; ++round)
        for (const auto& [what, problem] : problems())
            for (const char* name : {"warp_per_segment", "warp_stream"}) {
                const auto& stage = catalogue.stage(name);
                for (const int block_threads : {128, 256})
                    for (const auto numbers : {Numbers::constant, Numbers::at_launch}) {
                        const auto configuration = configure(stage, {{"block_threads", block_threads}});
                        const auto wanted = emit(problem, stage, configuration, catalogue, numbers);
                        const auto got = texts.get(problem, stage, configuration, catalogue, numbers);
                        EXPECT_EQ(got.source, wanted.source) << what;
                        EXPECT_EQ(got.configuration, wanted.configuration) << what;
                        EXPECT_EQ(got.form, wanted.form) << what;
                        EXPECT_EQ(got.checked_tables, wanted.checked_tables) << what;
                        EXPECT_EQ(got.is_associative, wanted.is_associative) << what;
                    }
            }
    EXPECT_EQ(texts.size(), problems().size() * 2 * 2 * 2);
}

TEST(EmittedTexts, StagesOfAnotherFolderAreOthers)
{
    EmittedTexts texts;
    const Problem problem(standard_operator("sum_i32"), SegmentForm::offsets);
    const auto get = [&](const Catalogue& catalogue) {
        const auto& stage = catalogue.stage("warp_per_segment");
        return texts.get(problem, stage, default_configuration(stage), catalogue, Numbers::constant);
    };
    const auto other = Catalogue::overlaid(std::string(SEGFOLD_SOURCE_DIR) + "/kernels");
    EXPECT_EQ(get(Catalogue::standard()).source, get(other).source);
    EXPECT_EQ(texts.size(), 2U);
}

TEST(EmittedTexts, TheOldestAreForgotten)
{
    EmittedTexts texts;
    const auto& catalogue = Catalogue::standard();
    const auto& stage = catalogue.stage("thread_per_segment");
    for (int i = 0; i < 100; ++i) {
        const auto name = "sum" + std::to_string(i);
        const Problem problem(parse_operator(name, "operator " + name +
                                                       "(x: i32) -> i32 { state s: i32 = 0  "
                                                       "lift x  combine(a, b) a + b }"),
                              SegmentForm::offsets);
        const auto text =
            texts.get(problem, stage, default_configuration(stage), catalogue, Numbers::constant);
        EXPECT_NE(text.source.find(name + "("), std::string::npos);
    }
    EXPECT_EQ(texts.size(), 64U);
}

}  // namespace
}  // namespace segfold::emitted_texts_test
