// Input and output files: generated data beside them, tables of text, archives.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/data/formats/npy.h"
#include "runtime/data/formats/npz.h"
#include "tests/cli/cli_program.h"

namespace segfold::test::cli_files_test {
namespace {

using Words = std::vector<std::string>;

class FilesTest : public testing::Test {
protected:
    void SetUp() override
    {
        write_npy(folder_.file("x.npy"), make_array<float>(Type::f32, {1, 2, 3, 4}));
        write_npy(folder_.file("k.npy"), make_array<std::int32_t>(Type::i32, {7, 7, 9, 9}));
        (void)folder_.write(
            "keys.seg",
            "operator o(x: f32) -> (keys: f32, layout_keys: f32) {\n  state s: f32 = 0\n  lift x\n"
            "  combine(a, b) a + b\n  finish { keys = s; layout_keys = -s }\n}\n");
        (void)folder_.write("above.seg",
                            "operator above(x: f32, least: scalar f32) -> f32 {\n  state s: f32 = 0\n"
                            "  lift x > least ? x : 0\n  combine(a, b) a + b\n}\n");
    }

    [[nodiscard]] ProgramResult run(Words words) const
    {
        words.insert(words.begin(), {"run"});
        words.insert(words.end(), {"--backend", "reference"});
        return folder_.run(std::move(words));
    }

    ProgramFolder folder_;
};

/// Data beside files are generated only if a flag requests it.
TEST_F(FilesTest, FlagsAskForGeneratedDataBesideFiles)
{
    for (const auto& words : {Words{"dot", "--input", "x=x.npy", "--values", "small_integers"},
                              Words{"sum", "--layout", "keys=k.npy", "--values", "units"},
                              Words{"sum", "--layout", "keys=k.npy", "--elements", "4"},
                              Words{"sum", "--layout", "keys=k.npy", "--elements", "4", "--memory", "1M"},
                              Words{"above.seg", "--layout", "offsets=[0, 1, 4]", "--elements", "4"},
                              Words{"sum", "--input", "x.npy", "--layout", "geometric:mean=2"},
                              Words{"sum", "--input", "x.npy", "--layout", "geometric:mean=2", "--seed", "3"},
                              Words{"above.seg", "--scalar", "least=1"}}) {
        const auto result = run(words);
        EXPECT_EQ(result.exit_code, 0) << words[0] << " " << words[2] << ": " << result.errors;
    }
    const auto refused = run({"sum", "--layout", "keys=k.npy", "--json"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(nlohmann::json::parse(refused.output).dump().find("--values RANGE"), std::string::npos)
        << refused.output;
}

/// Keys in any order: each run of equal keys is a segment, with a warning, unless keys are sorted first.
TEST_F(FilesTest, KeysThatComeBackAreSaidOrSorted)
{
    write_npy(folder_.file("mixed.npy"), make_array<std::int64_t>(Type::i64, {9, -7, 9, -7}));
    const Words words = {"sum", "--input", "x.npy", "--layout", "keys=mixed.npy", "--output", "y.npz"};
    const auto said = run(words);
    EXPECT_EQ(said.exit_code, 0) << said.errors;
    EXPECT_EQ(said.output.find("sorted by key"), std::string::npos) << said.output;
    EXPECT_NE(said.errors.find("warning: keys come back: 4 runs of equal neighbours have 2 distinct keys"),
              std::string::npos)
        << said.errors;
    EXPECT_EQ(read_array(folder_.file("y.npz:keys")).length(), 4U);
    for (const std::string backend : {"reference", "cpu", "simt"})
        for (const Words& more : {Words{}, Words{"--slices", "2"}}) {
            auto sorted = words;
            sorted.insert(sorted.begin(), {"run"});
            sorted.insert(sorted.end(), {"--sort-keys", "--backend", backend, "--check"});
            sorted.insert(sorted.end(), more.begin(), more.end());
            const auto result = folder_.run(std::move(sorted));
            EXPECT_EQ(result.exit_code, 0) << result.errors;
            EXPECT_EQ(result.errors.find("keys come back"), std::string::npos) << result.errors;
            EXPECT_NE(result.output.find("4 elements in 2 segments (keys=mixed.npy, sorted by key)"),
                      std::string::npos)
                << result.output;
            EXPECT_EQ(to_vector<std::int64_t>(read_array(folder_.file("y.npz:keys"))),
                      (std::vector<std::int64_t>{-7, 9}));
            EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npz:result"))), (std::vector<float>{6, 4}));
        }
    EXPECT_EQ(run({"sum", "--input", "x.npy", "--layout", "keys=k.npy"}).errors, "");
}

/// Outputs of sorted elements are written in the original order of the elements.
TEST_F(FilesTest, OutputsOfSortedElementsStandWhereTheElementsDo)
{
    write_npy(folder_.file("mixed.npy"), make_array<std::int32_t>(Type::i32, {9, 7, 9, 7}));
    (void)folder_.write("less.seg",
                        "operator less(x: f32) -> each f32 {\n  state s: f32 = 0\n  lift x\n"
                        "  combine(a, b) a + b\n  map x - s\n}\n");
    const auto result = run({"less.seg", "--input", "x.npy", "--layout", "keys=mixed.npy", "--sort-keys",
                             "--output", "y.npy", "--check"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npy"))), (std::vector<float>{-3, -4, -1, -2}));
}

TEST_F(FilesTest, GroupsMayStandInAnyOrder)
{
    write_npy(folder_.file("g.npy"), make_array<std::int16_t>(Type::i16, {2, -1, 2, 0}));
    (void)folder_.write(
        "less.seg",
        "operator less(x: f32) -> (s: f32, place: i64, each y: f32) {\n"
        "  state { s: f32 = 0; place: i64 = -1 }\n  lift { s = x; place = index }\n"
        "  combine(a, b) { s = a.s + b.s; place = max(a.place, b.place) }\n  map { y = x - s }\n}\n");
    for (const std::string backend : {"cpu", "simt", "reference"}) {
        const auto result =
            folder_.run({"run", "less.seg", "--input", "x.npy", "--layout", "groups=g.npy", "--num-groups",
                         "4", "--backend", backend, "--output", "y.npz", "--check"});
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        EXPECT_NE(result.output.find("4 elements in 4 segments (groups=g.npy)"), std::string::npos)
            << result.output;
        EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npz:s"))), (std::vector<float>{4, 0, 4, 0}));
        EXPECT_EQ(to_vector<std::int64_t>(read_array(folder_.file("y.npz:place"))),
                  (std::vector<std::int64_t>{3, -1, 2, -1}));
        EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npz:y"))), (std::vector<float>{-3, 0, -1, 0}));
    }
}

/// A kernel folds groups as they lie where it serves them; generated elements are the same as sorted ones.
TEST_F(FilesTest, GroupsAreFoldedAsTheyLie)
{
    write_npy(folder_.file("g.npy"), make_array<std::int16_t>(Type::i16, {2, -1, 2, 0, 0, 2, 2, -1, 0}));
    std::string first;
    for (const std::string backend : {"simt", "cpu", "reference"}) {
        const auto result = folder_.run({"run", "affine", "--type", "u32", "--layout", "groups=g.npy",
                                         "--num-groups", "4", "--values", "uniform", "--backend", backend,
                                         "--index-bits", "64", "--check", "--json"});
        ASSERT_EQ(result.exit_code, 0) << result.errors;
        const auto document = nlohmann::json::parse(result.output);
        if (backend == "simt") {
            EXPECT_EQ(document["stage"], "group_tables");
        }
        EXPECT_EQ(document["index_bits"], 64);
        const auto lengths = [&](int group) { return document["results"][group]["length"]; };
        EXPECT_EQ(lengths(0), 3);
        EXPECT_EQ(lengths(1), 0);
        EXPECT_EQ(lengths(2), 4);
        first = first.empty() ? document["results"].dump() : first;
        EXPECT_EQ(document["results"].dump(), first) << backend;
    }
}

/// Groups of a stream have results and keys at its end, whatever its slices.
TEST_F(FilesTest, StreamsOfGroupsWriteKeysAtTheirEnd)
{
    std::vector<std::int32_t> keys;
    std::vector<float> values;
    for (int i = 0; i < 1000; ++i) {
        keys.push_back(i * 7 % 5 - 2);
        values.push_back(static_cast<float>(i % 3));
    }
    write_npy(folder_.file("k.npy"), Array::of<std::int32_t>(Type::i32, keys));
    write_npy(folder_.file("v.npy"), Array::of<float>(Type::f32, values));
    const auto fold = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"run",        "sum",         "--input",   "v.npy", "--layout",
                                          "keys=k.npy", "--sort-keys", "--backend", "cpu"};
        words.insert(words.end(), more.begin(), more.end());
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
    };
    fold({"--output", "whole.npz"});
    fold({"--memory", "2K", "--output", "parts.npz"});
    fold({"--memory", "2K", "--output", "parts.npy", "--resume"});
    const auto sums = to_vector<float>(read_array(folder_.file("whole.npz:result")));
    EXPECT_EQ(to_vector<std::int32_t>(read_array(folder_.file("whole.npz:keys"))),
              (std::vector<std::int32_t>{-2, -1, 0, 1, 2}));
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("parts.npz:result"))), sums);
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("parts.result.npy"))), sums);
    for (const auto* file : {"parts.npz:keys", "parts.keys.npy"})
        EXPECT_EQ(to_vector<std::int32_t>(read_array(folder_.file(file))),
                  (std::vector<std::int32_t>{-2, -1, 0, 1, 2}))
            << file;
}

/// In parts, outputs of groups are those of one piece: running results, also from the end, and write-back.
TEST_F(FilesTest, OutputsOfGroupsInParts)
{
    std::vector<std::int16_t> numbers;
    std::vector<std::int32_t> values, keys;
    for (int i = 0; i < 900; ++i) {
        numbers.push_back(static_cast<std::int16_t>(i * i % 7 - 1));
        keys.push_back(3 - numbers.back());
        values.push_back(i * 31 % 17);
    }
    write_npy(folder_.file("n.npy"), Array::of<std::int16_t>(Type::i16, numbers));
    write_npy(folder_.file("k.npy"), Array::of<std::int32_t>(Type::i32, keys));
    write_npy(folder_.file("v.npy"), Array::of<std::int32_t>(Type::i32, values));
    (void)folder_.write("less.seg",
                        "operator less(x: i32) -> (s: i32, each y: i32) {\n  state s: i32 = 0\n  lift x\n"
                        "  combine(a, b) a + b\n  finish { s = s }\n  map { y = 1000 * x - s }\n}\n");
    (void)folder_.write(
        "so_far.seg",
        "operator so_far(x: i32) -> (s: i32, each y: i32) {\n  state { first: i32 = -1; n: i32 = 0 }"
        "\n  lift { first = x; n = 1 }\n  combine(a, b) { first = a.n == 0 ? b.first : a.first; n = "
        "a.n + b.n }\n  finish { s = first }\n  scan(before, through) { y = through.first + 100 * "
        "before.n }\n}\n");
    const auto fold = [&](const std::vector<std::string>& what, const std::vector<std::string>& more) {
        auto words = what;
        words.insert(words.end(), {"--input", "v.npy", "--backend", "cpu", "--json"});
        words.insert(words.end(), more.begin(), more.end());
        const auto result = folder_.run(words);
        EXPECT_EQ(result.exit_code, 0) << result.errors;
        return nlohmann::json::parse(result.output);
    };
    const std::vector<std::string> by_number = {"--layout", "groups=n.npy", "--num-groups", "8"},
                                   by_key = {"--layout", "keys=k.npy", "--sort-keys"};
    for (const std::vector<std::string>& start : {std::vector<std::string>{"run", "less.seg"},
                                                  {"run", "so_far.seg"},
                                                  {"scan", "keep_first_i32"},
                                                  {"scan", "max_i32", "--reverse"}})
        for (const auto& layout : {by_number, by_key}) {
            auto what = start;
            what.insert(what.end(), layout.begin(), layout.end());
            const auto whole = fold(what, {"--output", "whole.npz"});
            const auto parts = fold(what, {"--memory", "4K", "--output", "parts.npz"});
            EXPECT_EQ(parts["results"], whole["results"]) << start[1];
            EXPECT_EQ(parts["elements"], whole["elements"]) << start[1];
            EXPECT_FALSE(parts["configuration"].empty()) << parts;
            EXPECT_FALSE(parts["chosen_by"].empty()) << parts;
            const auto fields = npz_names(folder_.file("whole.npz"));
            EXPECT_EQ(npz_names(folder_.file("parts.npz")), fields);
            for (const auto& field : fields) {
                const auto right = read_array(folder_.file("whole.npz:" + field));
                const auto found = read_array(folder_.file("parts.npz:" + field));
                ASSERT_EQ(found.bytes(), right.bytes()) << start[1] << " " << field;
                EXPECT_EQ(std::memcmp(found.data(), right.data(), right.bytes()), 0)
                    << start[1] << " " << field;
            }
        }
    const auto refused = run({"less.seg", "--input", "v.npy", "--layout", "groups=n.npy", "--memory", "4K",
                              "--output", "parts.npz", "--resume"});
    EXPECT_NE(refused.errors.find("maps elements when all have been read; leave --resume out"),
              std::string::npos)
        << refused.errors;
}

/// Where elements are sorted, `index` is where one stood before.
TEST_F(FilesTest, SortedElementsKeepTheirIndex)
{
    write_npy(folder_.file("mixed.npy"), make_array<std::int32_t>(Type::i32, {9, 7, 9, 7}));
    const auto result = run({"argmax", "--input", "x.npy", "--layout", "keys=mixed.npy", "--sort-keys",
                             "--output", "y.npz", "--check"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(to_vector<std::int64_t>(read_array(folder_.file("y.npz:index"))),
              (std::vector<std::int64_t>{3, 2}));
}

TEST_F(FilesTest, TheOnlyColumnBesideScalarsTakesTheValuesOfAMatrix)
{
    (void)folder_.write("a.mtx",
                        "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 5\n1 2 2\n2 2 7\n");
    const auto result =
        run({"above.seg", "--layout", "rows=a.mtx", "--scalar", "least=3", "--output", "y.npy"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(to_vector<float>(read_array(folder_.file("y.npy"))), (std::vector<float>{5, 7}));
    (void)folder_.write("last.seg",
                        "operator last(column: i32) -> i32 {\n  state s: i32 = -1\n  lift column\n"
                        "  combine(a, b) max(a, b)\n}\n");
    const auto columns = run({"last.seg", "--layout", "rows=a.mtx", "--output", "y.npy"});
    EXPECT_EQ(columns.exit_code, 0) << columns.errors;
    EXPECT_EQ(to_vector<std::int32_t>(read_array(folder_.file("y.npy"))), (std::vector<std::int32_t>{1, 1}));
}

/// An archive has the same arrays, whether or not data are read in parts.
TEST_F(FilesTest, ArchivesAreWrittenFromPartsToo)
{
    for (const bool is_read_in_parts : {false, true})
        for (const std::string op : {"mean_variance", "keys.seg"}) {
            Words words = {op, "--input", "x.npy", "--layout", "keys=k.npy", "--output", "out.npz"};
            if (is_read_in_parts)
                words.insert(words.end(), {"--memory", "1M"});
            const auto result = run(words);
            EXPECT_EQ(result.exit_code, 0) << result.errors;
            const bool collides = op == "keys.seg";
            EXPECT_EQ(result.errors,
                      collides
                          ? "segfold: warning: --output 'out.npz': operator o has a result field 'keys'; the "
                            "keys of the layout are written as 'layout_keys_2'\n"
                          : "");
            EXPECT_EQ(to_vector<std::int32_t>(
                          read_array(folder_.file("out.npz") + ":" + (collides ? "layout_keys_2" : "keys"))),
                      (std::vector<std::int32_t>{7, 9}));
            EXPECT_EQ(
                to_vector<float>(read_array(folder_.file("out.npz") + ":" + (collides ? "keys" : "mean"))),
                collides ? (std::vector<float>{3, 7}) : (std::vector<float>{1.5, 3.5}));
            EXPECT_EQ(npz_names(folder_.file("out.npz")).size(), 3U);
        }
    const auto one = run(
        {"keys.seg", "--input", "x.npy", "--layout", "keys=k.npy", "--memory", "1M", "--output", "out.npy"});
    EXPECT_EQ(one.exit_code, 0) << one.errors;
    EXPECT_EQ(to_vector<std::int32_t>(read_array(folder_.file("out.layout_keys_2.npy"))),
              (std::vector<std::int32_t>{7, 9}));
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(".")))
        EXPECT_FALSE(entry.path().string().ends_with(".partial") ||
                     entry.path().string().ends_with(".resume"))
            << entry.path();
}

TEST_F(FilesTest, ColumnsOfTextAreReadByTheirNames)
{
    (void)folder_.write("t.csv", "day,delay,who\n1,2.5,\"A, B\"\n1,,x\n2,4,y\n");
    const auto probe = run({"sum", "--input", "t.csv:delay"});
    if (probe.errors.find("libcsv") != std::string::npos)
        GTEST_SKIP() << "this build has no libcsv";
    const auto result = run(
        {"count_missing", "--input", "x=t.csv:delay", "--layout", "keys=t.csv:day", "--output", "out.npz"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(to_vector<std::int64_t>(read_array(folder_.file("out.npz") + ":keys")),
              (std::vector<std::int64_t>{1, 2}));
    EXPECT_EQ(to_vector<std::int64_t>(read_array(folder_.file("out.npz") + ":result")),
              (std::vector<std::int64_t>{1, 0}));
    const auto operator_of = [&](const Words& words) {
        const auto done = run(words);
        const auto at = done.output.find("operator");
        return at == done.output.npos ? done.errors
                                      : done.output.substr(at + 10, done.output.find('\n') - at - 10);
    };
    EXPECT_EQ(operator_of({"sum", "--input", "t.csv:day"}), "sum(x: i64) -> i64");
    EXPECT_EQ(operator_of({"sum", "--input", "t.csv:delay"}), "sum(x: f64) -> f64");
    EXPECT_EQ(operator_of({"log_sum_exp", "--input", "t.csv:day"}), "log_sum_exp(x: f64) -> f64");
    EXPECT_EQ(operator_of({"dot", "--input", "x=t.csv:day", "--input", "y=t.csv:delay"}),
              "dot(x: f64, y: f64) -> f64");
    EXPECT_EQ(operator_of({"sum", "--type", "f32", "--input", "t.csv:day"}), "sum(x: f32) -> f32");
    EXPECT_NE(operator_of({"sum", "--input", "t.csv:who"}).find("row 1 is 'A, B', which is no number"),
              std::string::npos);
    const auto written = run({"sum", "--input", "t.csv:delay", "--output", "t.csv"});
    EXPECT_NE(written.exit_code, 0);
    const auto parts = run({"sum", "--input", "t.csv:delay", "--memory", "1M"});
    EXPECT_NE(parts.errors.find("only .npy files are read in parts"), std::string::npos) << parts.errors;
}

}  // namespace
}  // namespace segfold::test::cli_files_test
