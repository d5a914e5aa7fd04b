// Which configuration a stage has, grown from measured rows: the text, and what it names.
#include "codegen/order/grown_configurations.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/catalogue.h"
#include "dsl/error.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/message_of.h"

namespace segfold::grown_configurations_test {
namespace {

// c asks the cost of a combine, in sixteenths of an octave; d whether it is commutative.
constexpr const char* kText =
    "# a comment\n"
    "stage s c32d0+0+1+0 block_threads items_per_thread\n"
    "64 8\n"
    "128 4\n"
    "stage t +0 rows\n"
    "1\n";

FormulaNames facts(std::int64_t cost, bool commutative)
{
    return {{"combine_cost", cost}, {"commutative", commutative}};
}

TEST(GrownConfigurations, NamesTheLeafThatTheFactsLeadTo)
{
    const GrownConfigurations grown(kText);
    const std::map<std::string, int> first = {{"block_threads", 64}, {"items_per_thread", 8}},
                                     second = {{"block_threads", 128}, {"items_per_thread", 4}};
    EXPECT_EQ(grown.of("s", facts(4, false)), first);
    EXPECT_EQ(grown.of("s", facts(4, true)), second);
    EXPECT_EQ(grown.of("s", facts(5, true)), first) << "more than two octaves";
    EXPECT_EQ(grown.of("t", facts(4, true)), (std::map<std::string, int>{{"rows", 1}}));
    EXPECT_TRUE(grown.of("u", facts(4, true)).empty()) << "no row has it";
    EXPECT_TRUE(grown.of("s", {}).empty()) << "nothing is known";
}

TEST(GrownConfigurations, RefuseADamagedText)
{
    const auto failure = [](const std::string& text) {
        return test::message_of([&] { (void)GrownConfigurations(text); });
    };
    const std::string place = "kernels/ranks/configurations.txt:";
    EXPECT_EQ(failure("1\n"), place + "1: a configuration stands before the first stage");
    EXPECT_EQ(failure("stage s a3+0 a\n"), place + "1: the tree does not end with its word");
    EXPECT_EQ(failure("stage s +0+0 a\n1\n"), place + "1: the tree ends before its word does");
    EXPECT_EQ(failure("stage s ? a\n"), place + "1: '?' is neither a fact nor the sign of a leaf");
    EXPECT_EQ(failure("stage s +x a\n"), place + "1: 'x' begins with no number of 16 bits");
    EXPECT_EQ(failure("stage s +1 a\n1\n"),
              place + "2: a leaf of the stage above names a configuration that is not there");
    EXPECT_EQ(failure("stage s +0 a\nb\n"), place + "2: 'b' begins with no number of 32 bits");
}

/// What rows want is a value of a tunable that the stage has, and every tunable has one.
TEST(GrownConfigurations, OfTheProgramAreThoseOfItsStages)
{
    int known = 0;
    for (const auto* catalogue : {&Catalogue::standard(), &Catalogue::native()})
        for (const auto& stage : catalogue->stages()) {
            const auto& wanted = GrownConfigurations::standard().of(stage.name, facts(4, true));
            known += wanted.empty() ? 0 : 1;
            for (const auto& [name, value] : wanted) {
                const auto tunable = std::ranges::find(stage.tunables, name, &Tunable::name);
                ASSERT_NE(tunable, stage.tunables.end()) << stage.name << " has no " << name;
                EXPECT_NE(std::ranges::find(tunable->values, value), tunable->values.end())
                    << stage.name << ": " << name << "=" << value;
            }
        }
    EXPECT_GE(known, 20);
}

}  // namespace
}  // namespace segfold::grown_configurations_test
