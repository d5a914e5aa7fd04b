#include "dsl/layout.h"

#include <gtest/gtest.h>

#include <array>

#include "dsl/error.h"
#include "dsl/integer_text.h"
#include "dsl/message/suggest.h"
#include "tests/common/message_of.h"

namespace segfold::layout_test {
namespace {

std::string refusal(const std::string& text)
{
    return test::message_of<InputError>([&] { parse_layout(text); });
}

constexpr std::string_view kLayouts =
    "the layouts are whole, uniform=LENGTH, offsets=FILE, ranges=BEGINS,ENDS, lengths=FILE, flags=FILE, "
    "keys=FILE, groups=FILE, rows=FILE.mtx and generated ones such as geometric:mean=32";

TEST(IntegerText, ReadsDecimalsPowersAndExponents)
{
    struct Case {
        const char* text;
        std::int64_t value;
    };
    for (const auto& [text, value] : {Case{"0", 0},
                                      {"-5", -5},
                                      {"4096", 4096},
                                      {"9223372036854775807", INT64_MAX},
                                      {"2^0", 1},
                                      {"2^20", 1 << 20},
                                      {"2^62", std::int64_t{1} << 62},
                                      {"10^6", 1000000},
                                      {"1^99999999999", 1},
                                      {"1e6", 1000000},
                                      {"1E6", 1000000},
                                      {"1e+6", 1000000},
                                      {"-2e3", -2000},
                                      {"2.5e3", 2500},
                                      {"1.50e1", 15},
                                      {"1.e2", 100},
                                      {"0e99999999999", 0},
                                      {"9e18", 9000000000000000000}})
        EXPECT_EQ(parse_integer(text), value) << text;
    for (const auto* text : {"",
                             " 1",
                             "1 ",
                             "+1",
                             "1.5",
                             "1.0",
                             "x",
                             "1k",
                             "1_000",
                             "0x10",
                             "2^",
                             "^2",
                             "2^63",
                             "2^-1",
                             "0^2",
                             "-2^3",
                             "2^2^2",
                             "1e",
                             "e6",
                             ".5e1",
                             "1e-6",
                             "1.5e0",
                             "1.55e1",
                             "1e19",
                             "1e99999999999",
                             "1.-5e3",
                             "1e++6",
                             "1e6e6",
                             "9223372036854775808"})
        EXPECT_EQ(parse_integer(text), std::nullopt) << text;
}

TEST(Layout, ParsesTheStatedOnes)
{
    EXPECT_EQ(parse_layout("whole"), Layout{});
    EXPECT_EQ(parse_layout("uniform=4"), (Layout{.kind = LayoutKind::uniform, .uniform_length = 4}));
    EXPECT_EQ(parse_layout("uniform=2^20").uniform_length, 1 << 20);
    EXPECT_EQ(parse_layout("uniform=1e6").uniform_length, 1000000);
    EXPECT_EQ(parameter(parse_layout("geometric:mean=2^5"), "mean"), 32);
    EXPECT_EQ(parse_layout("offsets=a=b:c.npy"),
              (Layout{.kind = LayoutKind::offsets, .files = {"a=b:c.npy"}}));
    EXPECT_EQ(parse_layout("ranges=b.npy,e.npy"),
              (Layout{.kind = LayoutKind::ranges, .files = {"b.npy", "e.npy"}}));
    EXPECT_EQ(parse_layout("rows=A.mtx"), (Layout{.kind = LayoutKind::rows, .files = {"A.mtx"}}));
    EXPECT_EQ(parse_layout("keys=k,1.npy"), (Layout{.kind = LayoutKind::keys, .files = {"k,1.npy"}}));
}

TEST(Layout, ParsesGeneratedOnes)
{
    const Layout layout = parse_layout("lognormal:sigma=1.2,mean=3,seed=11");
    EXPECT_EQ(layout.kind, LayoutKind::generated);
    EXPECT_EQ(layout.distribution, "lognormal");
    EXPECT_EQ(layout.parameters, (std::map<std::string, double>{{"mean", 3}, {"sigma", 1.2}, {"seed", 11}}));
    EXPECT_EQ(parameter(layout, "seed"), 11);
    EXPECT_EQ(parameter(parse_layout("geometric:mean=32"), "seed"), 7);
    EXPECT_EQ(parse_layout("giant:half").variant, "half");
    EXPECT_EQ(parameter(parse_layout("giant:half"), "rest"), 4);
    EXPECT_EQ(parse_layout("bimodal").distribution, "bimodal");
}

TEST(Layout, ParsesWhatItPrints)
{
    for (const char* text :
         {"whole", "uniform=9223372036854775807", "offsets=o.npy", "ranges=b.npy,e.npz:ends", "lengths=l",
          "flags=f", "keys=k", "rows=A.mtx", "geometric:mean=0.3,seed=9007199254740992", "giant:half",
          "giant:half,place=0.125,rest=1", "zipf:exponent=1.9", "bimodal", "lognormal:mean=3,sigma=1.2",
          "half_empty:mean=1000000"}) {
        const Layout layout = parse_layout(text);
        EXPECT_EQ(print(layout), text);
        EXPECT_EQ(parse_layout(print(layout)), layout);
    }
    for (const Distribution& distribution : distributions())
        EXPECT_EQ(print(parse_layout(distribution.example)).substr(0, distribution.name.size()),
                  distribution.name);
}

TEST(Layout, RefusesUnknownNames)
{
    EXPECT_EQ(refusal("offset=a.npy"), "layout 'offset=a.npy': unknown layout 'offset'; " +
                                           std::string(kLayouts) + "; did you mean 'offsets'?");
    EXPECT_EQ(refusal("quux"), "layout 'quux': unknown layout 'quux'; " + std::string(kLayouts));
    EXPECT_EQ(refusal("offsets=0,2, 6"),
              "layout 'offsets=0,2, 6': offsets are read from a file, or written in brackets; write "
              "offsets=FILE.npy or 'offsets=[0,2, 6]'");
    EXPECT_EQ(refusal("generated"),
              "layout 'generated': unknown layout 'generated'; " + std::string(kLayouts));
    EXPECT_EQ(refusal(""), "layout '': nothing is stated; " + std::string(kLayouts));
    EXPECT_EQ(refusal("geometric:maen=32"),
              "layout 'geometric:maen=32': geometric has no parameter 'maen'; its parameters are mean, seed; "
              "did you "
              "mean 'mean'?");
    EXPECT_EQ(
        refusal("giant:hafl"),
        "layout 'giant:hafl': giant has no parameter 'hafl'; its parameters are rest, place; did you mean "
        "'half'?");
}

TEST(Layout, RangesMayBeWrittenOut)
{
    const std::vector<std::string> both = {"[0, 0, 3]", "[2, 2, 3]"};
    EXPECT_EQ(parse_layout("ranges=[0, 0, 3],[2, 2, 3]").files, both);
    EXPECT_EQ(parse_layout("ranges=[0, 0, 3], [2, 2, 3]").files, both);
    EXPECT_EQ(print(parse_layout("ranges=[0, 0, 3],[2, 2, 3]")), "ranges=[0, 0, 3],[2, 2, 3]");
    EXPECT_EQ(parse_layout("ranges=[0,3],ends.npy").files, (std::vector<std::string>{"[0,3]", "ends.npy"}));
    EXPECT_EQ(parse_layout("ranges=a[0].npy,[3,4]").files, (std::vector<std::string>{"a[0].npy", "[3,4]"}));
    EXPECT_EQ(parse_layout("ranges=a, b").files, (std::vector<std::string>{"a", " b"}));
}

TEST(Layout, RefusesMissingValues)
{
    EXPECT_EQ(refusal("uniform"),
              "layout 'uniform': the length is missing; write uniform=LENGTH, such as uniform=4");
    EXPECT_EQ(refusal("uniform="),
              "layout 'uniform=': the length is missing; write uniform=LENGTH, such as uniform=4");
    EXPECT_EQ(refusal("offsets"), "layout 'offsets': a file is needed; write offsets=FILE");
    for (const auto& [layout, given] : {std::pair("ranges=a.npy", "one is"),
                                        {"ranges=a,", "one is"},
                                        {"ranges=", "none is"},
                                        {"ranges=[0, 3]", "one is"},
                                        {"ranges=[0],[1],[2]", "3 are"}})
        EXPECT_EQ(refusal(layout), "layout '" + std::string(layout) +
                                       "': two files are needed, or two arrays such as [0, 3],[3, 7], and " +
                                       given + " given; write ranges=BEGINS,ENDS");
    EXPECT_EQ(refusal("geometric"), "layout 'geometric': mean is missing; write geometric:mean=32");
    EXPECT_EQ(refusal("geometric:mean"), "layout 'geometric:mean': 'mean' has no value; write mean=NUMBER");
    EXPECT_EQ(refusal("giant:rest=8"), "layout 'giant:rest=8': 'half' is missing; write giant:half");
}

TEST(Layout, RefusesWrongValues)
{
    EXPECT_EQ(
        refusal("uniform=4x"),
        "layout 'uniform=4x': '4x' is not an integer of 64 bits; write uniform=LENGTH, such as uniform=4 or "
        "uniform=2^10");
    EXPECT_EQ(refusal("uniform=0"), "layout 'uniform=0': the length is 0; it must be at least 1");
    EXPECT_EQ(refusal("uniform=-3"), "layout 'uniform=-3': the length is -3; it must be at least 1");
    EXPECT_EQ(refusal("uniform=9223372036854775808"),
              "layout 'uniform=9223372036854775808': the length 9223372036854775808 does not fit 64 bits");
    EXPECT_EQ(refusal("whole=3"), "layout 'whole=3': 'whole' takes no value");
    EXPECT_EQ(refusal("uniform:4"), "layout 'uniform:4': uniform takes its value after '=', not after ':'");
    EXPECT_EQ(refusal("geometric=32"),
              "layout 'geometric=32': geometric takes its parameters after a colon; write geometric:mean=32");
    EXPECT_EQ(refusal("geometric:mean=many"),
              "layout 'geometric:mean=many': 'many' is not a number; mean must be one");
    EXPECT_EQ(refusal("geometric:mean=0"),
              "layout 'geometric:mean=0': mean is 0; it must be from 0.25 to 1099511627776");
    EXPECT_EQ(refusal("geometric:mean=nan"),
              "layout 'geometric:mean=nan': mean is nan; it must be from 0.25 to 1099511627776");
    EXPECT_EQ(refusal("bimodal:share=1e999"),
              "layout 'bimodal:share=1e999': share is 1e999; it must be from 0.001 to 1");
    EXPECT_EQ(refusal("poisson:mean=3,seed=1.5"),
              "layout 'poisson:mean=3,seed=1.5': seed is 1.5; it must be an integer");
    EXPECT_EQ(refusal("poisson:mean=3,mean=4"), "layout 'poisson:mean=3,mean=4': mean is given twice");
    EXPECT_EQ(refusal("giant:half,half"), "layout 'giant:half,half': 'half' follows 'half'; one is enough");
}

TEST(Layout, KnowsItsFormBeforeReading)
{
    EXPECT_EQ(form_of(LayoutKind::whole), SegmentForm::whole);
    EXPECT_EQ(form_of(LayoutKind::uniform), SegmentForm::uniform);
    EXPECT_EQ(form_of(LayoutKind::ranges), SegmentForm::ranges);
    for (const LayoutKind kind :
         {LayoutKind::offsets, LayoutKind::lengths, LayoutKind::rows, LayoutKind::generated})
        EXPECT_EQ(name(form_of(kind)), "offsets") << name(kind);
    for (const LayoutKind kind : {LayoutKind::flags, LayoutKind::keys}) {
        EXPECT_EQ(name(form_of(kind)), name(kind));
        EXPECT_TRUE(is_found(form_of(kind)));
        EXPECT_EQ(converted_form(form_of(kind)), SegmentForm::offsets);
    }
    EXPECT_EQ(converted_form(SegmentForm::ranges), SegmentForm::ranges);
    EXPECT_FALSE(is_found(SegmentForm::ranges));
}

TEST(Layout, ANumberOfNoLayoutIsRefused)
{
    EXPECT_EQ(test::message_of<InputError>([] { (void)name(static_cast<LayoutKind>(77)); }),
              "a layout has the number 77, which is none; the layouts are 0 to 9: whole, uniform, offsets, "
              "ranges, lengths, flags, keys, groups, rows, generated");
    EXPECT_EQ(test::message_of<InputError>([] { (void)name(static_cast<SegmentForm>(7)); }),
              "a layout has the number 7, which is none; the layouts are 0 to 6: whole, uniform, offsets, "
              "ranges, flags, keys, groups");
}

TEST(Suggest, FindsTheClosestWord)
{
    constexpr std::array<std::string_view, 4> known = {"offsets", "ranges", "rows", "keys"};
    EXPECT_EQ(did_you_mean("ofsfets", known), "; did you mean 'offsets'?");
    EXPECT_EQ(did_you_mean("OFFSETS", known), "; did you mean 'offsets'?");
    EXPECT_EQ(did_you_mean("row", known), "; did you mean 'rows'?");
    EXPECT_EQ(did_you_mean("kyes", known), "; did you mean 'keys'?");
    EXPECT_EQ(did_you_mean("banana", known), "");
    EXPECT_EQ(did_you_mean("x", known), "");
    EXPECT_EQ(did_you_mean("", known), "");
    EXPECT_EQ(did_you_mean(std::string(1000, 'a'), known), "");
    EXPECT_EQ(did_you_mean("keys", {}), "");
    const std::string_view tunables[] = {"block_threads", "blocks_per_multiprocessor", "ring_offsets",
                                         "ring_items"};
    EXPECT_EQ(did_you_mean("blok", tunables), "; did you mean 'block_threads'?");
    EXPECT_EQ(did_you_mean("blocks_per", tunables), "; did you mean 'blocks_per_multiprocessor'?");
    EXPECT_EQ(did_you_mean("ring", tunables), "") << "several begin so";
    EXPECT_EQ(did_you_mean("rin", tunables), "") << "too short";
}

}  // namespace
}  // namespace segfold::layout_test
