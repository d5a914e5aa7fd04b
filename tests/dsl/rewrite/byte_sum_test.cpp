// Sums of bytes in 32 bits: which operators are such sums, their append, and the instruction that adds.
#include "dsl/rewrite/byte_sum.h"

#include <gtest/gtest.h>

#include "dsl/printer.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/equal_results.h"
#include "tests/common/stage_cases.h"

namespace segfold::test::byte_sum_test {
namespace {

Operator sum_of(const std::string& element, const std::string& state, const std::string& lift = "",
                const std::string& combine = "a + b", const std::string& rest = "")
{
    const auto columns = lift.find("(y)") == std::string::npos ? "x: " + element : "x: i8, y: " + element;
    return parse_operator("own.seg", "operator own(" + columns + ") -> " + state + " { state sum: " + state +
                                         " = 0 lift " + (lift.empty() ? state + "(x)" : lift) +
                                         " combine(a, b) " + combine + " " + rest + " }");
}

TEST(ByteSum, IsASumOfOneColumnOfBytes)
{
    for (const std::string element : {"i8", "u8"})
        for (const std::string state : {"i32", "u32"}) {
            const auto op = sum_of(element, state);
            const auto* column = summed_bytes(op);
            ASSERT_NE(column, nullptr) << element << " into " << state;
            EXPECT_EQ(column->name, "x");
        }
    EXPECT_NE(summed_bytes(sum_of("i8", "i32", "", "b + a")), nullptr);
    EXPECT_EQ(summed_bytes(sum_of("i8", "i32", "i32(y)"))->name, "y");
}

TEST(ByteSum, IsNothingElse)
{
    for (const auto& op :
         {sum_of("i16", "i32"), sum_of("i8", "i64"), sum_of("i8", "i16"), sum_of("bool", "i32"),
          sum_of("i8", "i32", "i32(x) * 2"), sum_of("i8", "i32", "i32(x) + i32(y)"),
          sum_of("i8", "i32", "", "a + a"), sum_of("i8", "i32", "", "a - b"),
          sum_of("i8", "i32", "", "max(a, b)"), sum_of("i8", "i32", "{ let z = i32(x); sum = z }"),
          standard_operator("sum_i8"), standard_operator("sum_f32"), standard_operator("mean_i8")})
        EXPECT_EQ(summed_bytes(op), nullptr) << print(op);
}

TEST(ByteSum, AppendsTheElement)
{
    for (const std::string element : {"i8", "u8"}) {
        const auto op = sum_of(element, "i32", "", "b + a");
        const auto appending = with_byte_append(op);
        ASSERT_TRUE(appending.append);
        EXPECT_NE(print(appending).find("append(a)"), std::string::npos) << print(appending);
        expect_equal_results(op, appending);
    }
    const auto own = sum_of("i8", "i32", "", "a + b", "append(a) a + i32(x)");
    EXPECT_EQ(print(with_byte_append(own)), print(own));
    const auto other = sum_of("i16", "i32");
    EXPECT_EQ(print(with_byte_append(other)), print(other));
}

/// One instruction adds a word of four bytes. Lanes that do not read words add a byte like any other number.
TEST(ByteSum, TakesOneInstruction)
{
    const auto text = [](const Operator& op, const char* stage, const Configuration& configuration) {
        const Problem problem(op, SegmentForm::offsets);
        const auto& found = Catalogue::standard().stage(stage);
        auto whole = smallest_configuration(found, problem);
        for (const auto& [name, value] : configuration)
            whole[name] = value;
        return emit(problem, found, whole).source;
    };
    const Configuration rows = {{"items_per_thread", 16}};
    const auto of_signed = text(sum_of("i8", "i32"), "lean_stream", rows);
    EXPECT_NE(of_signed.find("__dp4a(int(items.x[0].words[k / 4]), int(1) << k % 4 * 8, int(run))"),
              std::string::npos)
        << of_signed;
    const auto of_unsigned = text(sum_of("u8", "u32"), "lean_stream", rows);
    EXPECT_NE(of_unsigned.find("unsigned(1) << k % 4 * 8, unsigned(run))"), std::string::npos) << of_unsigned;
    EXPECT_NE(
        text(sum_of("u8", "i32"), "group_per_segment", {{"vector_items", 16}}).find("add_bytes(run, items,"),
        std::string::npos);
    EXPECT_EQ(text(sum_of("u8", "i32"), "group_per_segment", {{"vector_items", 4}}).find("__dp4a"),
              std::string::npos);
    EXPECT_EQ(text(sum_of("i16", "i32"), "lean_stream", rows).find("__dp4a"), std::string::npos);
}

}  // namespace
}  // namespace segfold::test::byte_sum_test
