// Plans for machines without a compiler: they are those that a fold there asks for.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "dsl/derived.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/session/core.h"
#include "runtime/session/shipped/shipped_texts.h"
#include "runtime/support/random.h"
#include "tests/common/files.h"
#include "tests/common/skeleton_backend.h"

namespace segfold::shipped_plans_test {
namespace {

std::set<std::string> shipped_texts(const Operator& op, const ExportOptions& options, Session& session,
                                    int capability = 90)
{
    std::set<std::string> texts;
    for_each_shipped(op, capability, options, session,
                     [&](const Emitted& emitted) { texts.insert(emitted.source); });
    return texts;
}

/// Shapes by lot, with thresholds between the octaves that an export asks.
std::vector<Shape> shapes_by_lot(int count, std::uint64_t seed)
{
    RandomSequence random(seed);
    const auto lot = [&](double octaves) {  // up to 2^octaves, each octave as likely
        return std::exp2(octaves * static_cast<double>(random() >> 11) / static_cast<double>(1ULL << 53));
    };
    std::vector<Shape> shapes;
    for (int i = 0; i < count; ++i) {
        const auto elements = static_cast<std::int64_t>(lot(28)) + 1;
        const auto segments =
            std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(elements) / lot(16)));
        const auto longest = std::min(
            elements, static_cast<std::int64_t>(static_cast<double>(elements / segments + 1) * lot(8)));
        shapes.push_back(
            {elements, segments, i % 3 == 0 ? 0 : longest, 0,
             i % 3 == 0 ? 0 : static_cast<std::int64_t>(static_cast<double>(elements) * lot(2))});
    }
    return shapes;
}

TEST(ShippedPlans, AreThoseThatFoldsElsewhereAskFor)
{
    Session session({.backend = "simt", .asks_records = false});
    int asked = 0, found = 0;
    for (const auto* name : {"sum_f32", "argmax_f32", "mean_variance_f32", "softmax_f32", "spmv_f32"}) {
        const auto op = standard_operator(name);
        for (const auto* layout : {"offsets", "keys"}) {
            if (layout == std::string("keys") && !op.outputs.empty())
                continue;
            const auto texts = shipped_texts(op, {.layouts = {layout}}, session);
            const auto laws = while_nothing_overflows(session.laws(op), op);
            auto problem = make_problem(
                op, layout == std::string("keys") ? SegmentForm::keys : SegmentForm::offsets, 32, laws);
            for (const auto& shape : shapes_by_lot(100, 7)) {
                const auto chosen = core(session).choose(problem, shape, laws, {}, "no record is asked");
                ++asked;
                found += texts.contains(chosen.plan->emitted.source);
            }
        }
    }
    EXPECT_GE(found, asked * 98 / 100) << "of " << asked;
}

TEST(ShippedPlans, AreNarrowedByWhatIsAskedFor)
{
    Session session({.backend = "simt", .asks_records = false});
    const auto op = standard_operator("sum_f32");
    const auto all = shipped_texts(op, {}, session);
    const auto some = shipped_texts(op, {.num_elements = 1 << 20}, session);
    const auto one = shipped_texts(op, {.plan = {.stage = "tile_scan"}}, session);
    const auto equal = shipped_texts(op, {.layouts = {"uniform=4"}}, session);
    EXPECT_LT(some.size(), all.size());
    EXPECT_FALSE(some.empty());
    EXPECT_FALSE(equal.empty());
    for (const auto& text : one)
        EXPECT_TRUE(text.starts_with("// tile_scan: ")) << text.substr(0, 40);
    for (const auto& text : some)
        EXPECT_TRUE(all.contains(text));
    EXPECT_NE(shipped_texts(op, {.index_bits = 64}, session), all);
    EXPECT_THROW((void)shipped_texts(op, {.layouts = {"sideways"}}, session), InputError);
}

/// What no plan can serve is refused before a compiler is looked for, and leaves no file.
TEST(ShippedPlans, AreRefusedInWordsWhereNoneCanBe)
{
    const TemporaryFolder folder;
    const auto path = folder.file("plans.zip");
    const std::vector<Operator> some = {standard_operator("sum_i32")};
    const auto refused = [&](ExportOptions options, std::span<const Operator> operators) {
        options.architectures = {"sm_90"};
        const auto words = refusal([&] { (void)export_plans(path, operators, options); });
        EXPECT_FALSE(std::filesystem::exists(path)) << words;
        return words;
    };
    EXPECT_EQ(refused({}, {}), "no operator is named to compile plans of; name one or more");
    EXPECT_EQ(refused({.layouts = {}}, some),
              "no layout is named to compile plans for; name some, such as offsets and uniform=4");
    for (const int bits : {-32, 0, 7, 16, 128})
        EXPECT_EQ(refused({.index_bits = bits}, some),
                  "index_bits is " + std::to_string(bits) + "; it must be 32 or 64");
    for (const int bytes : {-1, 0, 3, 16})
        EXPECT_EQ(refused({.layouts = {"keys"}, .key_bytes = bytes}, some),
                  "key_bytes is " + std::to_string(bytes) + "; it must be 1, 2, 4 or 8");
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    for (const auto elements :
         {kLeast, std::int64_t{-5}, std::int64_t{0}, kMostShippedElements + 1, (kMost >> 1) + 6, kMost})
        EXPECT_EQ(refused({.num_elements = elements, .index_bits = 64}, some),
                  "num_elements is " + std::to_string(elements) + "; it must be from 1 to 1099511627776");
    EXPECT_EQ(
        refused({.num_elements = kMaxNarrowIndex + 1}, some),
        "--elements (num_elements) is 2013265921, and folds with 32-bit indices have 2013265920 elements "
        "at most; take 64-bit indices: --index-bits 64 (index_bits=64)");
}

/// Both ends of the range have plans, of rows of features and of padded segments as well.
TEST(ShippedPlans, AreOfAllNumbersOfElements)
{
    Session session({.backend = "simt", .asks_records = false});
    const auto rows = parse_operator(
        "rows", "operator rows(x: row f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }");
    for (const auto& op : {standard_operator("sum_f32"), rows})
        for (const auto* layout : {"offsets", "uniform=4294967296", "groups"})
            for (const auto& [elements, bits] :
                 {std::pair{std::int64_t{1}, 32}, {kMaxNarrowIndex, 32}, {kMostShippedElements, 64}})
                EXPECT_FALSE(
                    shipped_texts(op, {.layouts = {layout}, .num_elements = elements, .index_bits = bits},
                                  session)
                        .empty())
                    << op.name << " " << layout << " " << elements;
}

/// An archive without a plan of what it was made for would be of no use where it is imported.
TEST(ShippedPlans, AreRefusedWhereNoStageTakesTheOperator)
{
    Session session({.backend = "simt", .asks_records = false});
    std::string fields, values, sums;
    for (int i = 0; i < 17; ++i) {  // 136 bytes; running results take states of 128
        fields += "s" + std::to_string(i) + ": i64 = 0; ";
        values += "s" + std::to_string(i) + " = x; ";
        sums += "s" + std::to_string(i) + " = a.s" + std::to_string(i) + " + b.s" + std::to_string(i) + "; ";
    }
    const auto wide =
        parse_operator("wide", "operator wide(x: i64) -> (sum: i64) { state { " + fields + "} lift { " +
                                   values + "} combine(a, b) { " + sums + "} finish { sum = s0 } }");
    EXPECT_FALSE(shipped_texts(wide, {.num_elements = 1 << 10}, session).empty());
    for (const auto* layout : {"offsets", "whole", "groups"})
        EXPECT_EQ(refusal([&] {
                      (void)shipped_texts(scanned(wide, {}), {.layouts = {layout}, .num_elements = 1 << 10},
                                          session);
                  }),
                  std::string("no stage of a GPU takes operator wide over segments given as ") + layout +
                      ", so there is nothing to export for them");
}

/// A machine that compiles nothing, and has one stage.
class LoadingBackend : public test::SkeletonBackend {
public:
    explicit LoadingBackend(std::string stage) : stage_(std::move(stage)) {}
    [[nodiscard]] bool only_loads() override { return true; }
    [[nodiscard]] double seconds_to_compile(const Emitted& text) override
    {
        return text.stage == stage_ ? 0 : std::numeric_limits<double>::infinity();
    }

private:
    std::string stage_;
};

/// Only where all stages give the same bits may what is there decide what runs, and never against the caller.
TEST(ShippedPlans, AreTakenWhereNothingRounds)
{
    Session session(std::make_unique<LoadingBackend>("tile_scan"), {.asks_records = false});
    const auto taken = [&](const char* name, const PlanRequest& request = {}) {
        const auto op = standard_operator(name);
        const auto laws = session.laws(op);
        return core(session)
            .choose(make_problem(op, SegmentForm::offsets, 32, laws), {1 << 24, 1 << 19}, laws, request,
                    "none")
            .plan->stage->name;
    };
    EXPECT_EQ(taken("sum_i32"), "tile_scan");
    EXPECT_EQ(taken("sum_i32"), "tile_scan") << "the second fold as the first one";
    EXPECT_EQ(taken("sum_i32", {.first = First::best}), "tile_scan");
    EXPECT_NE(taken("sum_f32"), "tile_scan") << "another order of sums has other bits";
    EXPECT_EQ(taken("sum_i32", {.stage = "warp_per_segment"}), "warp_per_segment");
    Session none(std::make_unique<LoadingBackend>("nothing"), {.asks_records = false});
    const auto op = standard_operator("sum_i32");
    const auto laws = none.laws(op);
    EXPECT_EQ(
        core(none)
            .choose(make_problem(op, SegmentForm::offsets, 32, laws), {1 << 24, 1 << 19}, laws, {}, "none")
            .plan->chosen_by(),
        "measured rows")
        << "where nothing is there, the error is of the stage that all take";
}

}  // namespace
}  // namespace segfold::shipped_plans_test
