// Replays the fuzzer's starting texts and the texts with which it found faults, and random operators. Each
// passes the fuzzers' checks.
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/common/hostile_operator.h"
#include "tests/common/random_operator.h"
#include "tests/fuzz/find_escape.cpp"
#include "tests/fuzz/find_fault.cpp"

namespace segfold::fuzz_corpus_test {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Replays a folder. Returns the number of its files.
int replay(const fs::path& folder)
{
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (!entry.is_regular_file())
            continue;
        const auto start = std::clock();
        EXPECT_EQ(find_fault(read(entry.path())), "") << entry.path();
        EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC) << entry.path();
        ++count;
    }
    return count;
}

const fs::path kRoot = SEGFOLD_SOURCE_DIR;

TEST(FuzzCorpus, NothingLeavesItsCommentInEmittedText)
{
    for (const char* folder : {"tests/fuzz/corpus", "dsl/standard", "tests/errors"})
        for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
            const auto text = entry.is_regular_file() ? read(entry.path()) : "";
            EXPECT_EQ(find_escape(text), "") << entry.path();
        }
}

TEST(FuzzCorpus, HostileOperatorsStayInTheirPlace)
{
    const auto names = hostile_names();
    ASSERT_GE(names.size(), 300u);
    std::mt19937 random(1);
    for (int i = 0; i < 60; ++i) {
        const auto text = hostile_operator(random, names);
        auto op = parse_operator("hostile", text);
        ASSERT_EQ(find_escape(op), "") << text;
        op.description = hostile_description(random, true);
        ASSERT_EQ(find_escape(op), "") << text << op.description;
    }
}

TEST(FuzzCorpus, HoldsWhatMustHoldOfEveryText) { EXPECT_GE(replay(kRoot / "tests/fuzz/corpus"), 10); }

TEST(FuzzCorpus, StandardOperatorsHoldIt) { EXPECT_GE(replay(kRoot / "dsl/standard"), 20); }

TEST(FuzzCorpus, RefusedTextsHoldIt) { EXPECT_GE(replay(kRoot / "tests/errors"), 100); }

TEST(FuzzCorpus, RandomOperatorsHoldIt)
{
    for (std::uint32_t seed = 5000; seed < 6000; ++seed)
        ASSERT_EQ(find_fault(print(RandomOperator(seed).make())), "") << "seed " << seed;
}

TEST(FuzzCorpus, SomeOfItIsAccepted)
{
    for (const char* file : {"spmv.seg", "every_part.seg"})
        EXPECT_NO_THROW(parse_operator(file, read(kRoot / "tests/fuzz/corpus" / file), Type::f32)) << file;
    for (const char* file : {"expression.seg", "deep_minus.seg", "deep_right.seg", "deep_calls.seg"})
        EXPECT_NO_THROW(parse_expression(file, read(kRoot / "tests/fuzz/corpus" / file))) << file;
}

}  // namespace
}  // namespace segfold::fuzz_corpus_test
