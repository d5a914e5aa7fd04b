// What stages emit: some texts whole, as files that people review, the others by their SHA-256.
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

#include "codegen/emit.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/support/files/sha256.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/golden.h"

namespace segfold::golden_test {
namespace {

/// Of every stage but kHashedRungs this one is kept whole.
constexpr std::string_view kShownOperator = "sum_i32";
/// Of stages over rows this one; of those that map them in the same launch the other.
constexpr std::string_view kShownRows = "tests/golden/affine_rows.seg";
constexpr std::string_view kShownMapped = "tests/golden/told_rows.seg";
/// Of stages that give running results these two; and from the end, without identity.
constexpr std::string_view kShownScan = "tests/golden/told_scan.seg";
constexpr std::string_view kPlainScan = "tests/golden/plain_scan.seg";
constexpr std::string_view kScansBack = "tests/golden/last_scan.seg";
/// Of stages that give running results of rows this one.
constexpr std::string_view kShownRowScan = "tests/golden/told_row_scan.seg";
/// Its map reads a table by the segment, one by the place in it, and a scalar.
constexpr std::string_view kMapsByTables = "tests/golden/scaled_share.seg";
/// It, and: several fields; exact and not commutative; no identity; 64-bit states; four fields; a type whose
/// values expressions convert; a scalar; an array that is read at a computed place; arrays of locals; an
/// array in an operator of many operations.
constexpr std::array<std::string_view, 11> kOperators = {
    "sum_i32", "mean_variance_f32", "affine_u32",    "keep_first_i32", "trace_u64",     "max_subarray_i32",
    "sum_f16", "count_above_f32",   "automaton_i32", "top_four_f32",   "binned_sum_f32"};

/// Rungs of a ladder that differ from another one, which is kept whole, in a loop or two.
constexpr std::array<std::string_view, 10> kHashedRungs = {
    "pairs_sequential", "pairs_first_add", "pairs_unrolled",          "pairs_cascade", "tree_first_add",
    "tree_unrolled",    "tree_cascade",    "tree_interleaved_modulo", "tree_redux",    "tree_shuffle"};

constexpr const char* kHashes = "hashes.csv";

struct Golden {
    const Stage* stage;
    std::string op;  ///< a standard operator, or the path of a file from the root of the repository
    SegmentForm form;
    std::string variant;  ///< what tells the text from that of the same stage and operator, with "_" in front
    Numbers numbers = Numbers::constant;
    std::vector<std::string> checked_tables = {};

    /// The name of the text, which is unique within the stage.
    [[nodiscard]] std::string text_name() const
    {
        return std::filesystem::path(op).stem().string() + variant;
    }
    [[nodiscard]] bool is_whole() const
    {
        if (!variant.empty() || std::ranges::find(kHashedRungs, stage->name) != kHashedRungs.end())
            return false;
        return op == kShownOperator || op == kShownRows || op == kShownScan || op == kPlainScan ||
               op == kShownRowScan || is_fused(*stage);
    }
    [[nodiscard]] std::string file() const { return stage->name + "/" + text_name() + ".cu"; }
    [[nodiscard]] std::string row() const { return stage->name + "," + text_name(); }
};

[[maybe_unused]] void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.file(); }

/// Offsets where the stage takes them, else its first form; those that give running results, tile_scan,
/// run_stream and those that make offsets of flags and keys, whose texts depend on the form, in others too,
/// and rungs over one segment. Of stages over rows an operator that is exact and not commutative, without and
/// with write-back. Of stages whose numbers may come with the launch, that text as well. Operators with
/// tables, whose reads are checked.
std::vector<Golden> find_goldens()
{
    std::vector<Golden> all;
    std::map<std::string_view, Operator> operators;
    for (const auto name : kOperators)
        operators.emplace(name, standard_operator(std::string(name)));
    std::map<std::pair<std::string_view, SegmentForm>, Problem> problems;
    const auto problem_of = [&](std::string_view name, SegmentForm form) -> const Problem& {
        auto place = problems.find({name, form});
        if (place == problems.end())
            place = problems.emplace(std::pair(name, form), Problem(operators.at(name), form)).first;
        return place->second;
    };
    const auto& catalogue = Catalogue::standard();
    for (const auto& stage : catalogue.stages()) {
        const bool offsets = std::ranges::find(stage.forms, SegmentForm::offsets) != stage.forms.end();
        const auto form = offsets ? SegmentForm::offsets : stage.forms.front();
        for (const auto name : kOperators)
            if (!catalogue.unmet(stage, problem_of(name, form)))
                all.push_back({&stage, std::string(name), form, ""});
        const auto add_form = [&](SegmentForm other) {
            all.push_back({&stage, "sum_i32", other, "_" + std::string(name(other))});
        };
        if (!stage.numbers.empty())
            all.push_back({&stage, "sum_i32", form, "_at_launch", Numbers::at_launch});
        if (stage.name == "thread_per_segment")
            all.push_back({&stage, "tests/golden/spmv.seg", form, "_checked", Numbers::constant, {"x"}});
        if (stage.name == "thread_per_segment" || stage.name == "warp_stream")
            for (const auto op : {std::string_view("softmax_f32"), kMapsByTables})
                all.push_back({&stage, std::string(op), form, "_mapped"});
        if (is_fused(stage))
            all.push_back({&stage,
                           stage.name == "fused_row_groups" ? std::string(kShownMapped) : "softmax_f32", form,
                           ""});
        if (stage.name == "fused_tiles" || stage.name == "fused_blocks")
            all.push_back(
                {&stage, std::string(kMapsByTables), form, "_mapped", Numbers::constant, {"weight", "bias"}});
        if (stage.name.starts_with("row_")) {
            all.push_back({&stage, std::string(kShownRows), form, ""});
            all.push_back({&stage, std::string(kShownMapped), form, "_mapped"});
        }
        if (stage.name == "running_rows") {
            all.push_back({&stage, std::string(kShownRowScan), form, ""});
            for (const auto other : {SegmentForm::uniform, SegmentForm::ranges})
                all.push_back({&stage, std::string(kShownRowScan), other, "_" + std::string(name(other))});
        }
        if (stage.name == "running_segments")
            for (const auto op : {kShownScan, kScansBack, kPlainScan})
                all.push_back({&stage, std::string(op), form, op == kPlainScan ? "" : "_uniform"});
        if (stage.name == "running_tiles") {
            for (const auto op : {kShownScan, kPlainScan})
                all.push_back({&stage, std::string(op), form, ""});
            for (const auto other :
                 {SegmentForm::whole, SegmentForm::uniform, SegmentForm::flags, SegmentForm::keys})
                all.push_back({&stage, std::string(kPlainScan), other, "_" + std::string(name(other))});
            for (const auto other : {SegmentForm::offsets, SegmentForm::ranges})
                all.push_back({&stage, std::string(kScansBack), other, "_" + std::string(name(other))});
        }
        if (stage.is_rung)
            add_form(SegmentForm::whole);
        if (stage.name == "run_stream")
            add_form(SegmentForm::flags);
        for (const auto other : {SegmentForm::flags, SegmentForm::keys})
            if (finds_offsets(stage, other) && stage.name != "running_tiles")
                add_form(other);
        if (stage.name == "tile_scan")
            for (const auto other : {SegmentForm::uniform, SegmentForm::ranges})
                add_form(other);
    }
    return all;
}

/// Every process of this program asks several times, to name its tests.
const std::vector<Golden>& goldens()
{
    static const auto all = find_goldens();
    return all;
}

Problem problem_of(const Golden& golden)
{
    const bool is_file = golden.op.ends_with(".seg");
    Problem problem(is_file ? parse_operator(golden.op, read_text(SEGFOLD_SOURCE_DIR "/" + golden.op))
                            : standard_operator(golden.op),
                    golden.form);
    problem.checked_tables = golden.checked_tables;
    return problem;
}

Configuration configuration_of(const Golden& golden)
{
    return default_configuration(*golden.stage, plan_facts(problem_of(golden)));
}

std::string text_of(const Golden& golden)
{
    return emit(problem_of(golden), *golden.stage, configuration_of(golden), Catalogue::standard(),
                golden.numbers)
        .source;
}

/// The arguments with which the program prints the text. All tunables are set, because the program prefers
/// others where a layout says more of the segments than its form.
std::vector<std::string> arguments_of(const Golden& golden)
{
    std::vector<std::string> words = {
        "emit", golden.op, "--stage", golden.stage->name, "--layout", std::string(name(golden.form))};
    for (const auto& [tunable, value] : configuration_of(golden))
        words.insert(words.end(), {"--set", tunable + "=" + std::to_string(value)});
    if (golden.numbers == Numbers::at_launch)
        words.emplace_back("--at-launch");
    if (!golden.checked_tables.empty())
        words.emplace_back("--check-tables");
    return words;
}

std::string command_of(const Golden& golden)
{
    std::string command = "segfold";
    for (const auto& word : arguments_of(golden))
        command += " " + word;
    return command;
}

class GoldenText : public testing::TestWithParam<Golden> {};

TEST_P(GoldenText, IsTheFile) { expect_golden(GetParam().file(), text_of(GetParam())); }

std::vector<Golden> whole_goldens()
{
    auto all = goldens();
    std::erase_if(all, [](const Golden& golden) { return !golden.is_whole(); });
    return all;
}

INSTANTIATE_TEST_SUITE_P(Golden, GoldenText, testing::ValuesIn(whole_goldens()), [](const auto& info) {
    return info.param.stage->name + "_" + info.param.text_name();
});

/// The texts of one stage that are kept by their hashes.
class HashedTexts : public testing::TestWithParam<std::string> {
protected:
    static std::vector<Golden> texts()
    {
        auto all = goldens();
        std::erase_if(
            all, [](const Golden& golden) { return golden.is_whole() || golden.stage->name != GetParam(); });
        return all;
    }
};

TEST_P(HashedTexts, HaveTheHashesOfTheFile)
{
    if (updates_golden())
        return;  // tests run side by side, and HashFile writes all rows
    const auto expected = read_hashes(kHashes);
    for (const auto& golden : texts()) {
        const auto row = expected.find(golden.row());
        const auto wrong = hash_difference(kHashes, golden.row(), row == expected.end() ? "" : row->second,
                                           cache::sha256_hex(text_of(golden)), command_of(golden));
        if (!wrong.empty())
            ADD_FAILURE() << wrong;
    }
}

/// The command that a message names prints the text that the message speaks of.
TEST_P(HashedTexts, AreWhatTheirCommandsPrint)
{
    const test::ProgramFolder folder;
    test::Draw draw;
    for (const auto& golden : texts()) {
        if (!draw.takes(golden.row()))
            continue;
        auto arguments = arguments_of(golden);
        if (golden.op.ends_with(".seg"))
            arguments.at(1) = SEGFOLD_SOURCE_DIR "/" + golden.op;
        const auto result = folder.run(arguments);
        EXPECT_EQ(result.exit_code, 0) << command_of(golden) << "\n" << result.errors;
        EXPECT_TRUE(result.output == text_of(golden))
            << command_of(golden) << "\ndiffers at " << first_difference(text_of(golden), result.output);
    }
}

std::vector<std::string> stage_names()
{
    std::set<std::string> names;
    for (const auto& golden : goldens())
        if (!golden.is_whole())
            names.insert(golden.stage->name);
    return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(Golden, HashedTexts, testing::ValuesIn(stage_names()),
                         [](const auto& info) { return info.param; });

TEST(HashFile, HasOneRowForEachTextThatIsNotWhole)
{
    Hashes rows;
    for (const auto& golden : goldens())
        if (!golden.is_whole()) {
            EXPECT_TRUE(rows.emplace(golden.row(), cache::sha256_hex(text_of(golden))).second)
                << golden.row();
        }
    expect_rows(kHashes, rows);
}

TEST(GoldenFiles, EachBelongsToAStage)
{
    namespace fs = std::filesystem;
    const fs::path root = golden_path("");
    std::set<std::string> known;
    for (const auto& golden : whole_goldens())
        known.insert(golden.file());
    for (const auto& entry : fs::recursive_directory_iterator(root))
        if (entry.path().extension() == ".cu") {
            const auto file = entry.path().lexically_relative(root).generic_string();
            EXPECT_TRUE(known.contains(file)) << "tests/golden/" << file << " belongs to no stage; remove it";
        }
}

TEST(GoldenDifference, ShowsTheFirstLinesThatDiffer)
{
    EXPECT_EQ(first_difference("a\nb\nc\nd\ne\n", "a\nb\nc\nx\ne\n"),
              "line 4:\n  a\n  b\n  c\n- d\n- e\n+ x\n+ e\n");
    EXPECT_EQ(first_difference("a\n", "a\nb\n"), "line 2:\n  a\n+ b\n");
    EXPECT_EQ(first_difference("", "b\n"), "line 1:\n+ b\n");
}

TEST(GoldenDifference, NamesTheCommandThatPrintsAHashedText)
{
    const std::string command = "segfold emit sum_i32 --stage tree_redux --layout whole";
    EXPECT_EQ(hash_difference(kHashes, "tree_redux,sum_i32_whole", "0a1b", "0a1b", command), "");
    EXPECT_EQ(
        hash_difference(kHashes, "tree_redux,sum_i32_whole", "0a1b", "2c3d", command),
        "tests/golden/hashes.csv row 'tree_redux,sum_i32_whole': the text has changed; its SHA-256 is 2c3d, "
        "the file has 0a1b\n"
        "to print the text:  segfold emit sum_i32 --stage tree_redux --layout whole\n"
        "to see what changed, compare with what a build before the change prints; UPDATE_GOLDEN=1 accepts "
        "it");
    EXPECT_EQ(
        hash_difference(kHashes, "tree_redux,sum_i32_whole", "", "2c3d", command),
        "tests/golden/hashes.csv has no row 'tree_redux,sum_i32_whole'; the SHA-256 of the text is 2c3d\n"
        "to print the text:  segfold emit sum_i32 --stage tree_redux --layout whole\n"
        "UPDATE_GOLDEN=1 accepts it");
}

}  // namespace
}  // namespace segfold::golden_test
