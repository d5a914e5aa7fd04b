// The stages that are known: their order, what they need of a problem, and folders of a user's own.
#include "codegen/catalogue.h"
#include "codegen/costs.h"

#include <gtest/gtest.h>

#include "codegen/embedded_kernels.h"
#include "codegen/emit.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/files.h"
#include "tests/common/message_of.h"

namespace segfold::catalogue_test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKernel = R"(//% launch  fold  grid = num_segments  block = 1
extern "C" __global__ void fold(Inputs inputs, Results results)
{
    store(results, 0, 0, identity());
}
)";

/// A folder like kernels/ with the given stage files.
class KernelFolder {
public:
    using Files = std::initializer_list<std::pair<std::string, std::string>>;

    explicit KernelFolder(Files stages)
    {
        fs::create_directories(folder_.file("stages"));
        fs::create_directories(folder_.file("parts"));
        for (const char* half : {"f16", "bf16"})
            (void)folder_.write(std::string("parts/") + half + ".cuh", "struct f {};\n");
        for (const auto& [name, directives] : stages)
            (void)folder_.write(
                "stages/" + name + ".cu",
                "//% stage " + name + "\n//% title T\n//% layout whole, offsets\n" + directives + kKernel);
    }
    [[nodiscard]] std::string path() const { return folder_.file(""); }
    [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
    [[nodiscard]] Catalogue catalogue() const { return Catalogue::from_directory(path()); }

private:
    TemporaryFolder folder_;
};

std::string names(const Catalogue& catalogue)
{
    std::string list;
    for (const auto& stage : catalogue.stages())
        list += (list.empty() ? "" : " ") + stage.name;
    return list;
}

Problem problem(const std::string& op, SegmentForm form = SegmentForm::offsets)
{
    return {standard_operator(op), form};
}

TEST(Catalogue, EveryStageFollowsTheOneItImprovesOn)
{
    const auto& stages = Catalogue::standard().stages();
    ASSERT_FALSE(stages.empty());
    for (auto stage = stages.begin(); stage != stages.end(); ++stage) {
        const auto before = [&](const Stage& other) { return other.name == stage->after; };
        EXPECT_TRUE(stage->after.empty() || std::any_of(stages.begin(), stage, before)) << stage->name;
        EXPECT_EQ(stage->file, (stage->is_rung ? "ladder/" : "stages/") + stage->name + ".cu");
        EXPECT_FALSE(stage->source.empty()) << stage->name << " does not say where its idea comes from";
        EXPECT_FALSE(
            configurations(*stage, plan_facts(Problem(standard_operator("sum_f32"), SegmentForm::offsets)))
                .empty())
            << stage->name;
    }
}

TEST(Catalogue, OrderIsTheLadderAndThenTheName)
{
    const KernelFolder kernels(KernelFolder::Files{
        {"late", "//% after mid\n"}, {"mid", "//% after zero\n"}, {"zero", ""}, {"alone", ""}});
    EXPECT_EQ(names(kernels.catalogue()), "alone zero mid late");
}

TEST(Catalogue, TheFolderHoldsWhatIsEmbedded)
{
    const auto read = Catalogue::from_directory(SEGFOLD_SOURCE_DIR "/kernels");
    EXPECT_EQ(names(read), names(Catalogue::standard()));
    for (const auto& file : embedded_kernels())
        EXPECT_EQ(file.text, read_text(SEGFOLD_SOURCE_DIR "/kernels/" + std::string(file.path))) << file.path;
}

TEST(Catalogue, UnknownNamesAreAnsweredWithTheKnownOnes)
{
    const KernelFolder kernels(KernelFolder::Files{{"tile_scan", ""}, {"merge", ""}});
    const auto catalogue = kernels.catalogue();
    EXPECT_EQ(test::message_of([&] { (void)catalogue.stage("tile_scn"); }),
              "unknown stage 'tile_scn'; did you mean 'tile_scan'? The stages are merge, tile_scan");
    EXPECT_EQ(test::message_of([&] { (void)catalogue.stage("elephant"); }),
              "unknown stage 'elephant'; the stages are merge, tile_scan");
    EXPECT_TRUE(test::message_of([&] {
                    (void)catalogue.stage("row_tree");
                }).starts_with("stage 'row_tree' is one of the back end cpu; those of the back ends cuda"));
    EXPECT_EQ(refusal([] { (void)Catalogue::standard().stage("row_tre"); }),
              "unknown stage 'row_tre'; did you mean 'row_tree'? That is one of the back end cpu");
    EXPECT_EQ(test::message_of([&] { (void)catalogue.part("parts/none.cuh"); }),
              "unknown part 'parts/none.cuh'");
    EXPECT_EQ(catalogue.stage("merge").name, "merge");
}

TEST(Catalogue, FoldersThatAreNoneAreRefused)
{
    const TemporaryFolder folder;
    EXPECT_EQ(test::message_of([&] { Catalogue::from_directory(folder.file("none")); }),
              folder.file("none") + ": has no folder 'stages'; it must look like kernels/");
    const KernelFolder orphan(KernelFolder::Files{{"a", "//% after b\n"}});
    EXPECT_EQ(test::message_of([&] { (void)orphan.catalogue(); }),
              "stages/a.cu: comes after 'b', which is no stage, or after itself");
}

TEST(Catalogue, CommentsThatCompilersReadOtherwiseAreRefused)
{
    const KernelFolder returns(KernelFolder::Files{{"a", "// one\rint two;\n"}});
    EXPECT_EQ(test::message_of([&] { (void)returns.catalogue(); }),
              "stages/a.cu:4: the comment holds '\\x0d', which is not shown");
    const KernelFolder carried(KernelFolder::Files{{"a", "// one \\\n"}});
    EXPECT_EQ(test::message_of([&] { (void)carried.catalogue(); }),
              "stages/a.cu:4: the comment ends with a backslash, which makes the next line a part of it");
    const KernelFolder windows(KernelFolder::Files{{"a", "// one\r\n"}});
    EXPECT_EQ(names(windows.catalogue()), "a");
}

TEST(Catalogue, LaddersWithoutAFootAreRefused)
{
    const KernelFolder circle(KernelFolder::Files{{"a", "//% after b\n"}, {"b", "//% after a\n"}});
    EXPECT_EQ(test::message_of([&] { (void)circle.catalogue(); }),
              "stages/a.cu: comes after 'b', which is no stage, or after itself");
}

TEST(Catalogue, StagesOfOneNameAreRefused)
{
    const KernelFolder kernels(KernelFolder::Files{{"a", ""}});
    (void)kernels.folder().write("stages/b.cu", read_text(kernels.folder().file("stages/a.cu")));
    EXPECT_EQ(test::message_of([&] { (void)kernels.catalogue(); }),
              "stages/b.cu: stage 'a' is already that of stages/a.cu");
}

TEST(Catalogue, FaultsOfAStageFileNameIt)
{
    const KernelFolder kernels(KernelFolder::Files{{"a", "//% tune x = y\n"}});
    EXPECT_EQ(test::message_of([&] { (void)kernels.catalogue(); }),
              "stages/a.cu:4: 'y' is not a value for x; values are integers");
}

/// What requiring `stage` for a problem says, where it and "any" are the stages.
std::string unmet(const std::string& directives, const Problem& problem)
{
    const KernelFolder kernels(KernelFolder::Files{{"stage", directives}, {"any", ""}});
    const auto catalogue = kernels.catalogue();
    return test::message_of([&] { catalogue.require(catalogue.stage("stage"), problem); });
}

TEST(Needs, AreMetOrNamedWithTheStagesThatCanServe)
{
    EXPECT_EQ(unmet("//% needs associative, identity, commutative\n", problem("sum_i32")),
              "nothing was thrown");
    EXPECT_EQ(
        unmet("//% needs commutative\n", problem("affine_u32")),
        "stage: needs a commutative operator, and operator affine does not declare that law; stages that can "
        "serve: any");
    EXPECT_EQ(unmet("//% needs idempotent\n", problem("sum_i32")),
              "stage: needs an idempotent operator, and operator sum does not declare that law; stages that "
              "can serve: any");
    EXPECT_EQ(unmet("//% needs identity\n", problem("keep_first_i32")),
              "stage: needs an identity, and operator keep_first declares none; stages that can serve: any");
    EXPECT_EQ(unmet("//% needs state_bytes <= 16\n", problem("max_subarray_i32")),
              "stage: needs state_bytes <= 16, and operator max_subarray has state_bytes = 32; stages that "
              "can serve: any");
    EXPECT_EQ(unmet("", problem("sum_i32", SegmentForm::ranges)),
              "stage: takes segments given as whole, offsets, not as ranges; stages that can serve: none");
    EXPECT_EQ(unmet("//% needs comutative\n", problem("sum_i32")),
              "stages/stage.cu:4: in 'comutative': unknown name 'comutative'; did you mean 'commutative'?");
}

TEST(Needs, OfAGpuNameTheOneThatIsThere)
{
    auto older = problem("sum_i32");
    EXPECT_EQ(unmet("//% needs cc >= 90\n", older), "nothing was thrown");
    older.target.compute_capability = 86;
    EXPECT_EQ(unmet("//% needs cc >= 90\n", older),
              "stage: needs cc >= 90, and the GPU has compute capability 8.6; stages that can serve: any");
}

TEST(Needs, OfElementsNameTheLift)
{
    EXPECT_EQ(
        unmet("//% needs element_bytes > 0\n", problem("count_i64")),
        "stage: needs a lift that reads elements, and that of operator count reads none; stages that can "
        "serve: any");
}

TEST(Needs, RefutedLawsDoNotCount)
{
    auto refuted = problem("sum_i32");
    refuted.laws.commutative = false;
    EXPECT_EQ(unmet("//% needs commutative\n", refuted),
              "stage: needs a commutative operator, and operator sum is refuted to be one; stages that can "
              "serve: any");
    refuted.laws.associative = false;
    EXPECT_EQ(unmet("//% needs associative\n", refuted),
              "stage: needs an associative operator, and combine of operator sum is refuted; stages that can "
              "serve: any");
}

TEST(Needs, EmittingIsRefusedAsWell)
{
    const KernelFolder kernels(KernelFolder::Files{{"stage", "//% needs commutative\n"}});
    const auto catalogue = kernels.catalogue();
    const auto& stage = catalogue.stage("stage");
    EXPECT_EQ(
        test::message_of([&] { emit(problem("affine_u32"), stage, {}, catalogue); }),
        "stage: needs a commutative operator, and operator affine does not declare that law; stages that can "
        "serve: none");
}

TEST(Catalogue, StagesThatTakeNoKeysGetTheOffsetsOfThem)
{
    const auto& catalogue = Catalogue::standard();
    const auto& tile_scan = catalogue.stage("tile_scan");
    const auto& run_stream = catalogue.stage("run_stream");
    for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
        EXPECT_EQ(catalogue.unmet(tile_scan, problem("sum_i32", form)), std::nullopt);
        EXPECT_EQ(served_form(tile_scan, form), SegmentForm::offsets);
        EXPECT_EQ(served_form(run_stream, form), form);
        EXPECT_EQ(served_form(catalogue.stage("run_tiles"), form), form);
        EXPECT_EQ(catalogue.rule_of_thumb(problem("sum_i32", form), {1000, 10}).name, "run_tiles");
        EXPECT_EQ(catalogue.rule_of_thumb(problem("sum_i32", form), {1 << 23, 10}).name, "run_stream");
    }
    EXPECT_EQ(catalogue.unmet(catalogue.stage("grid_reduce"), problem("sum_i32", SegmentForm::keys)),
              "takes segments given as whole, uniform, not as keys");
    EXPECT_EQ(catalogue.unmet(run_stream, problem("sum_i32")),
              "takes segments given as keys, flags, not as offsets");
}

TEST(Catalogue, LiftsThatUsePlacesNeedOffsets)
{
    const auto& catalogue = Catalogue::standard();
    for (const std::string place : {"position", "segment"}) {
        const Problem used(
            parse_operator("places.seg", "operator places(x: i64) -> i64 { state s: i64 = 0 lift x * " +
                                             place + " combine(a, b) a + b }"),
            SegmentForm::flags);
        for (const auto* stage : {"run_stream", "run_tiles"})
            EXPECT_EQ(catalogue.unmet(catalogue.stage(stage), used),
                      "needs a lift that does not use " + place + ", and that of operator places does");
        const auto ranked = catalogue.ranked(plan_facts(used, {1000, 10}), used);
        for (const auto& one : ranked)
            EXPECT_FALSE(one.expected_share) << one.stage->name << ", no row of which has flags";
        EXPECT_GT(ranked.front().rank, 0) << "what offsets let expect";
    }
}

TEST(RuleOfThumb, TakesAStageThatCanServe)
{
    const auto& catalogue = Catalogue::standard();
    for (const auto form : {SegmentForm::whole, SegmentForm::uniform, SegmentForm::offsets,
                            SegmentForm::ranges, SegmentForm::flags, SegmentForm::keys})
        for (const std::string op : {"sum_i32", "affine_u32", "keep_first_i32", "max_subarray_i32"})
            for (const std::int64_t length : {0, 1, 32, 1000000}) {
                const Shape shape{length * 64, 64};
                const auto& stage = catalogue.rule_of_thumb(problem(op, form), shape);
                EXPECT_EQ(catalogue.unmet(stage, problem(op, form)), std::nullopt) << stage.name;
            }
    EXPECT_NO_THROW((void)catalogue.rule_of_thumb(problem("sum_i32"), {0, 0}));
}

/// A sum of `count` columns of f64, with so many operations that stages loop over it where `costly`.
Operator sums(int count, bool costly)
{
    std::string parameters, state, lift, combine;
    for (int i = 0; i < count; ++i) {
        const auto n = std::to_string(i);
        parameters += (i == 0 ? "x" : ", x") + n + ": f64";
        state += "s" + n + ": f64 = 0; ";
        lift += "s" + n + " = x" + n + "; ";
        combine += "s" + n + " = a.s" + n + " + b.s" + n +
                   (costly ? " + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0 + 0" : "") + "; ";
    }
    return parse_operator("sums.seg", "operator sums(" + parameters + ") { state { " + state + "} lift { " +
                                          lift + "} combine(a, b) { " + combine + "} }");
}

TEST(Needs, OfSharedMemoryNameWhatTakesIt)
{
    const auto& catalogue = Catalogue::standard();
    EXPECT_EQ(catalogue.unmet(catalogue.stage("warp_stream"), Problem(sums(8, true), SegmentForm::offsets)),
              "needs least_bytes <= 46000, and operator sums has costly_combine = 1, element_bytes = 64, "
              "least_bytes = "
              "59520, state_bytes = 64");
    EXPECT_EQ(catalogue.unmet(catalogue.stage("warp_stream"), Problem(sums(8, false), SegmentForm::offsets)),
              std::nullopt);
}

/// Shared memory bounds the elements and states of some stages; such must say so in what they need.
TEST(RuleOfThumb, TakesAStageThatHasAConfiguration)
{
    const auto& catalogue = Catalogue::standard();
    for (const bool costly : {false, true})
        for (int count = 1; count <= 16; ++count)
            for (const auto form : {SegmentForm::uniform, SegmentForm::offsets})
                for (const int bits : {32, 64}) {
                    Problem wide(sums(count, costly), form, bits);
                    ASSERT_EQ(is_costly(wide.op), costly || count > 12);
                    for (const std::int64_t kilobytes : {48, 64, 99, 163, 227}) {
                        wide.target.block_shared_bytes = kilobytes * 1024;
                        for (const auto& stage : catalogue.stages()) {
                            if (!catalogue.unmet(stage, wide)) {
                                EXPECT_NO_THROW(default_configuration(stage, plan_facts(wide)))
                                    << stage.name << " of " << count << " columns, costly " << costly << ", "
                                    << kilobytes << " KB";
                            }
                        }
                    }
                }
}

TEST(RuleOfThumb, TakesTheGreatestRankOfThoseThatCanServe)
{
    const std::string even = "//% let is_even = longest_length <= 2 * mean_length\n";
    const KernelFolder kernels(KernelFolder::Files{
        {"any", "//% suits 10\n"},
        {"best", "//% needs commutative\n//% suits whole ? 90 : 20\n"},
        {"even", even + "//% suits is_even && num_segments > 1 ? 50 : -1\n//% tune b = 1, 2\n"},
        {"silent", ""}});
    const auto catalogue = kernels.catalogue();
    const auto chosen = [&](const std::string& op, SegmentForm form, const Shape& shape) {
        return catalogue.rule_of_thumb(problem(op, form), shape).name;
    };
    EXPECT_EQ(chosen("sum_i32", SegmentForm::whole, {100, 1, 100}), "best");
    EXPECT_EQ(chosen("sum_i32", SegmentForm::offsets, {100, 10, 21}), "best");
    EXPECT_EQ(chosen("sum_i32", SegmentForm::offsets, {100, 10, 20}), "even");
    EXPECT_EQ(chosen("affine_u32", SegmentForm::offsets, {100, 10, 21}), "any") << "best needs commutative";
}

TEST(RuleOfThumb, TakesTheFirstOfEqualRanks)
{
    const std::string equal = "//% suits 7\n";
    const KernelFolder kernels(
        KernelFolder::Files{{"a", equal + "//% after z\n"}, {"y", equal}, {"z", equal}, {"none", ""}});
    EXPECT_EQ(names(kernels.catalogue()), "none y z a");
    EXPECT_EQ(kernels.catalogue().rule_of_thumb(problem("sum_i32"), {}).name, "y");
}

TEST(RuleOfThumb, TakesARankOfZeroWhereAStageSaysNothing)
{
    const KernelFolder silent(
        KernelFolder::Files{{"b", ""}, {"a", "//% suits 0\n"}, {"c", "//% suits -1\n"}});
    EXPECT_EQ(silent.catalogue().rule_of_thumb(problem("sum_i32"), {}).name, "a")
        << "without a line the rank is 0";
}

TEST(RuleOfThumb, NamesTheLineOfARankThatHasNone)
{
    const auto said = [](const std::string& line) {
        const KernelFolder kernels(KernelFolder::Files{{"a", "//% tune b = 1, 2\n" + line}});
        return test::message_of([&] { (void)kernels.catalogue().rule_of_thumb(problem("sum_i32"), {}); });
    };
    EXPECT_EQ(said("//% suits mean_lengths\n"),
              "stages/a.cu:5: in 'mean_lengths': unknown name 'mean_lengths'; did you mean 'mean_length'?");
    EXPECT_EQ(said("//% suits 10 / num_segments\n"),
              "stages/a.cu:5: in '10 / num_segments': division by zero");
    EXPECT_EQ(said("//% suits b\n"), "stages/a.cu:5: in 'b': unknown name 'b'")
        << "no tunable has a value yet";
    EXPECT_EQ(said("//% suits 1\n//% let c = b\n"), "nothing was thrown");
}

TEST(RuleOfThumb, WhereNoneCanServeEachSaysWhy)
{
    const KernelFolder kernels(
        KernelFolder::Files{{"a", "//% needs commutative\n"}, {"b", "//% needs identity\n"}});
    const auto catalogue = kernels.catalogue();
    EXPECT_EQ(test::message_of([&] { (void)catalogue.rule_of_thumb(problem("keep_first_i32"), {}); }),
              "no stage can serve operator keep_first over segments given as offsets\n"
              "    a: needs a commutative operator, and operator keep_first does not declare that law\n"
              "    b: needs an identity, and operator keep_first declares none");
}

}  // namespace
}  // namespace segfold::catalogue_test
