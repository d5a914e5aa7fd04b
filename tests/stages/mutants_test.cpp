// Tests the rules that make mutants, and the list of mutants that tests are known not to find.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/common/files.h"
#include "tests/common/message_of.h"
#include "tests/mutants/known.h"
#include "tests/mutants/trial.h"

namespace segfold::test::mutants_test {
namespace {

/// "rule: after" of every mutant of a text of one line.
std::vector<std::string> changes_of(const std::string& text)
{
    std::vector<std::string> changes;
    for (const auto& mutant : mutants_of("parts/x.cuh", text)) {
        EXPECT_EQ(mutant.before, text);
        changes.push_back(mutant.rule + ": " + mutant.after);
    }
    std::ranges::sort(changes);
    return changes;
}

using Changes = std::vector<std::string>;

TEST(MutantRules, ChangeOnePlaceAtATime)
{
    EXPECT_EQ(changes_of("__syncthreads();"), (Changes{"barrier: ;", "weaker: __syncwarp();"}));
    EXPECT_EQ(changes_of("total = combine(total, items[k]);"),
              (Changes{"lost: total = State(items[k]);", "statement: ;",
                       "swap: total = combine(items[k], total);"}));
    EXPECT_EQ(changes_of("if (lane < count) ++at;"),
              (Changes{"border: if (lane < -1 + count) ++at;", "forced: if (false) ++at;",
                       "forced: if (true) ++at;", "relation: if (lane <= count) ++at;",
                       "statement: if (lane < count) ;"}));
    EXPECT_EQ(changes_of("const Index last = end - 1;"), (Changes{"offset: const Index last = end;"}));
    EXPECT_EQ(changes_of("return __any_sync(kFullMask, open);"),
              (Changes{"mask: return __any_sync(0x7fffffffu, open);", "vote: return (open);",
                       "vote: return __all_sync(kFullMask, open);"}));
    EXPECT_EQ(changes_of("const State other = shuffle_down(state, delta);"),
              (Changes{"shuffle: const State other = shuffle_down(state, (delta) * 2);"}));
    EXPECT_EQ(changes_of("const bool a = b && !c;"),
              (Changes{"logic: const bool a = b && c;", "logic: const bool a = b || !c;"}));
    EXPECT_EQ(changes_of("const int n = min(a, b << 2);"),
              (Changes{"bound: const int n = max(a, b << 2);", "constant: const int n = min(a, b << 3);"}));
}

TEST(MutantRules, LeaveAloneWhatIsNoCode)
{
    EXPECT_EQ(changes_of("//% tune block_threads = 256, 64"), Changes{});
    EXPECT_EQ(changes_of("// a < b"), Changes{});
    EXPECT_EQ(changes_of("#pragma unroll 4"), Changes{});
    EXPECT_EQ(changes_of("__device__ State combine(State earlier, State later);"), Changes{});
    EXPECT_EQ(changes_of("const auto* at = reinterpret_cast<const uint4*>(flags);"), Changes{});
}

TEST(MutantRules, EqualLinesAreNumbered)
{
    const std::string text = "a();\nif (x)\n    b();\na();\n";
    const auto mutants = mutants_of("parts/x.cuh", text);
    ASSERT_EQ(mutants.size(), 5u);
    EXPECT_EQ(mutants.back().line, 4);
    EXPECT_EQ(mutants.back().number, 2);
    EXPECT_EQ(mutated(text, mutants.back()), "a();\nif (x)\n    b();\n;\n");
}

std::vector<KnownMutant> known_mutants(const std::string& file)
{
    return read_known(file, read_text(SEGFOLD_SOURCE_DIR "/tests/mutants/" + file));
}

/// Every listed mutant can still be made.
TEST(KnownMutants, AreMadeByTheRules)
{
    std::vector<Mutant> all;
    for (const auto& file : mutated_files())
        std::ranges::move(mutants_of(file, text_of(file)), std::back_inserter(all));
    for (const auto* file : {"known.txt", "unchecked.txt"})
        for (const auto& entry : known_mutants(file))
            EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& mutant) { return entry.matches(mutant); }))
                << file << ":" << entry.line << ": no rule makes this of " << entry.file
                << " any more: " << entry.before << "  =>  " << entry.after;
}

TEST(KnownMutants, EntriesThatAreCutOffAreRefused)
{
    const auto refused = [](const std::string& text) {
        return message_of<InputError>([&] { (void)read_known("known.txt", text); });
    };
    EXPECT_EQ(refused("equivalent parts/x.cuh swap\n- a\n+ b\n= reason\n"), "nothing was thrown");
    EXPECT_EQ(refused("equivalent parts/x.cuh swap\n- a\n= reason\n"),
              "known.txt:1: an entry has a line '-', a line '+' and a line '='");
    EXPECT_EQ(refused("# text\nequal parts/x.cuh swap\n"),
              "known.txt:2: 'equal parts/x.cuh swap' is not 'equivalent FILE RULE [NUMBER]' nor 'survives "
              "FILE RULE "
              "[NUMBER]'");
    EXPECT_EQ(refused("- a\n"), "known.txt:1: an entry begins with 'equivalent' or 'survives'");
}

}  // namespace
}  // namespace segfold::test::mutants_test
