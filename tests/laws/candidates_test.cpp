// Candidates for invariants are found for every operator, without an error.
#include "dsl/smt/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "dsl/text/parser.h"

namespace segfold::candidates_test {
namespace {

std::vector<std::string> claims_of(const char* text)
{
    std::vector<std::string> claims;
    for (const auto& one : smt::surviving_candidates(parse_operator("claims.seg", text), false))
        claims.push_back(one.text);
    return claims;
}

bool has(const std::vector<std::string>& claims, const std::string& claim)
{
    return std::ranges::find(claims, claim) != claims.end();
}

TEST(CandidatesTest, ConstantsOfWideFieldsBoundNoNarrowField)
{
    const auto claims = claims_of(R"(operator narrow_and_wide(x: i64) {
      state { signed: i8 = 0; plain: u8 = 0; half: i16 = 0; low: u64 = 0; rest: i64 = 0 }
      lift {
        signed = i8(x & 127); plain = u8(x & 255); half = i16(x & 255); low = u64(x) & 255; rest = x & 70000
      }
      combine(a, b) {
        signed = a.signed | b.signed; plain = a.plain | b.plain; half = a.half | b.half;
        low = a.low | b.low; rest = a.rest | b.rest
      }
    })");
    EXPECT_TRUE(has(claims, "signed <= 127"));
    EXPECT_TRUE(has(claims, "plain <= 255"));
    EXPECT_TRUE(has(claims, "half <= 255"));
    EXPECT_TRUE(has(claims, "low <= 255"));
    EXPECT_FALSE(has(claims, "signed <= 255"));
    EXPECT_FALSE(has(claims, "plain <= 70000"));
}

TEST(CandidatesTest, FieldsThatDependOnNoRowAreLookedAtBesideRows)
{
    const auto claims = claims_of(R"(operator rows_and_counts(word: u8, x: row i32, t: table row i32) -> i32 {
      state { sum: i32 = 0; any: bool = false; count: i32 = 0 }
      lift { sum = x + t[word & 3]; any = true; count = 1 }
      combine(a, b) { sum = a.sum + b.sum; any = a.any || b.any; count = max(a.count, b.count) }
      finish sum
    })");
    EXPECT_TRUE(has(claims, "0 <= count"));
    EXPECT_TRUE(has(claims, "not any => (count = 0)"));
}

}  // namespace
}  // namespace segfold::candidates_test
