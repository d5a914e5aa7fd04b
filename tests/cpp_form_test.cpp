// An operator built in C++ equals the one that its text says.
#include <gtest/gtest.h>

#include "dsl/operator.h"
#include "dsl/parser.h"
#include "dsl/printer.h"
#include "dsl/standard_operators.h"

namespace segfold {
namespace {

void expect_same(const Operator& built, const Operator& read)
{
    EXPECT_TRUE(same(built, read)) << "built\n" << print(built) << "read\n" << print(read);
    EXPECT_TRUE(same(built, parse_operator("printed", print(built))));
}

TEST(CppForm, Sum)
{
    OperatorBuilder op("sum");
    const auto x = op.column("x", Type::f32);
    op.result(Type::f32).field("sum", Type::f32, 0);
    op.lift([&](BlockBuilder& out) { out.set("sum", x); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) { out.set("sum", a["sum"] + b["sum"]); });
    expect_same(op.commutative().build(), standard_operator("sum", Type::f32));
}

TEST(CppForm, MeanVariance)
{
    constexpr Type T = Type::f32;
    OperatorBuilder op("mean_variance");
    const auto x = op.column("x", T);
    op.result("mean", T).result("variance", T);
    op.field("n", Type::i32, 0).field("mean", T, 0).field("m2", T, 0);
    op.lift([&](BlockBuilder& out) { out.set("n", 1).set("mean", x).set("m2", 0); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) {
        const auto total = out.let("total", a["n"] + b["n"]);
        const auto delta = out.let("delta", b["mean"] - a["mean"]);
        const auto share = out.let("share", convert(T, b["n"]) / convert(T, total));
        const auto merged = a["m2"] + b["m2"] + delta * delta * convert(T, a["n"]) * share;
        out.set("n", total);
        out.set("mean",
                select(a["n"] == 0, b["mean"], select(b["n"] == 0, a["mean"], a["mean"] + delta * share)));
        out.set("m2", select(a["n"] == 0, b["m2"], select(b["n"] == 0, a["m2"], merged)));
    });
    op.finish([&](StateHandle s, BlockBuilder& out) {
        out.set("mean", s["mean"]).set("variance", s["m2"] / convert(T, s["n"]));
    });
    op.empty([&](BlockBuilder& out) { out.set("mean", not_a_number()).set("variance", not_a_number()); });
    expect_same(op.commutative().build(), standard_operator("mean_variance", T));
}

TEST(CppForm, LetOfUntypedNumbers)
{
    OperatorBuilder op("positive");
    const auto x = op.column("x", Type::f32);
    op.field("n", Type::i32, 0);
    op.lift([&](BlockBuilder& out) { out.set("n", out.let("p", select(x > 0, 1, 0))); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) { out.set("n", a["n"] + b["n"]); });
    expect_same(op.build(), parse_operator("test",
                                           "operator positive(x: f32) { state n: i32 = 0 "
                                           "lift { let p = x > 0 ? 1 : 0; n = p } combine(a, b) a + b }"));
}

TEST(CppForm, Affine)
{
    OperatorBuilder op("affine");
    const auto scale = op.column("scale", Type::u32);
    const auto shift = op.column("shift", Type::u32);
    op.result("scale", Type::u32).result("shift", Type::u32);
    op.field("scale", Type::u32, 1).field("shift", Type::u32, 0);
    op.lift([&](BlockBuilder& out) { out.set("scale", scale).set("shift", shift); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) {
        out.set("shift", a["shift"] * b["scale"] + b["shift"]).set("scale", a["scale"] * b["scale"]);
    });
    expect_same(op.build(), standard_operator("affine_u32"));
}

TEST(CppForm, KeepFirstIsASemigroup)
{
    OperatorBuilder op("keep_first");
    const auto x = op.column("x", Type::i64);
    op.result(Type::i64).field("first", Type::i64).idempotent();
    op.lift([&](BlockBuilder& out) { out.set("first", x); });
    op.combine([&](StateHandle a, StateHandle, BlockBuilder& out) { out.set("first", a["first"]); });
    const auto built = op.build();
    EXPECT_FALSE(built.has_identity());
    expect_same(built, standard_operator("keep_first", Type::i64));
}

TEST(CppForm, MaxSubarray)
{
    constexpr Type T = Type::f64;
    OperatorBuilder op("max_subarray");
    const auto x = op.column("x", T);
    const auto max = [](const Expression& a, const Expression& b) { return call("max", {a, b}); };
    op.result(T);
    for (const char* field : {"total", "best", "prefix", "suffix"})
        op.field(field, T, 0);
    op.lift([&](BlockBuilder& out) {
        out.set("total", x).set("best", max(x, 0)).set("prefix", max(x, 0)).set("suffix", max(x, 0));
    });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) {
        out.set("total", a["total"] + b["total"]);
        out.set("best", max(max(a["best"], b["best"]), a["suffix"] + b["prefix"]));
        out.set("prefix", max(a["prefix"], a["total"] + b["prefix"]));
        out.set("suffix", max(b["suffix"], a["suffix"] + b["total"]));
    });
    op.finish([&](StateHandle s, BlockBuilder& out) { out.set("result", s["best"]); });
    expect_same(op.build(), standard_operator("max_subarray", T));
}

TEST(CppForm, SparseMatrixTimesVector)
{
    OperatorBuilder op("spmv");
    const auto value = op.column("value", Type::f32);
    const auto column = op.column("column", Type::i32);
    op.table("x", Type::f32);
    op.result(Type::f32).field("sum", Type::f32, 0);
    op.lift([&](BlockBuilder& out) { out.set("sum", value * make_gather("x", column)); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) { out.set("sum", a["sum"] + b["sum"]); });
    expect_same(op.commutative().build(), parse_operator("test", R"(
operator spmv(value: f32, column: i32, x: table f32) -> f32 {
  state sum: f32 = 0
  lift value * x[column]
  combine(a, b) a + b
  laws commutative
})"));
}

TEST(CppForm, BuildingTwiceGivesTheSame)
{
    OperatorBuilder op("twice");
    const auto x = op.column("x", Type::f32);
    op.result(Type::f32).field("s", Type::f32, infinity());
    op.lift([&](BlockBuilder& out) { out.set("s", select(x > 0, x, -x)); });
    op.combine([&](StateHandle a, StateHandle b, BlockBuilder& out) {
        out.set("s", call("min", {a["s"], b["s"]}));
    });
    const auto first = op.build();
    expect_same(first, op.build());
    EXPECT_TRUE(op.idempotent().build().laws.idempotent);
    EXPECT_FALSE(first.laws.idempotent);
}

}  // namespace
}  // namespace segfold
