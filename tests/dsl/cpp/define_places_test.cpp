// Misuses of the C++ form: values, fields and results in parts and operators to which they do not belong.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/dsl/cpp/define_refusal.h"

namespace segfold::define_places_test {
namespace {

TEST(DefinePlaces, ValuesOutsideOfTheirParts)
{
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([&](auto a, auto b, auto& s) {
                   s.n = a.n + b.n;
                   s.sum = a.sum + x;  // HERE
               });
           }),
           "HERE: 'x' is not known here; parameters are known in lift; keep what you need of them in the "
           "state");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([&](auto a, auto b, auto& s) {
                   s.n = a.n + cast<int>(index());  // HERE
                   s.sum = a.sum + b.sum;
               });
           }),
           "HERE: 'index' is not known here; index, position and segment are known in lift, segment and "
           "length in finish and empty");
    expect(of_lift([](auto x, auto) {
               return x + cast<float>(length());  // HERE
           }),
           "HERE: 'length' is not known here; index, position and segment are known in lift, segment and "
           "length in finish and empty");
    expect(of_pair([](auto& op, auto x) {
               Table<float> t(op, "t");
               kLiftPair(op, x);
               op.combine(kLeft);
               op.finish([&](auto s) {
                   return t[s.n];  // HERE
               });
           }),
           "HERE: 't' is not known here; parameters are known in lift; keep what you need of them in the "
           "state");
    expect(of_pair([](auto& op, auto x) {
               std::optional<Value<int>> kept;
               op.lift([&](auto& s) {
                   kept = let("one", cast<int>(x));
                   s.n = *kept;
                   s.sum = x;
               });
               op.combine([&](auto a, auto, auto& s) {
                   s.n = a.n + *kept;  // HERE
               });
           }),
           "HERE: a value of combine of operator 'f' meets one of lift of operator 'f'; make values where "
           "they are used");
    expect(of_pair([](auto& op, auto x) {
               std::optional<Value<float>> kept;
               kLiftPair(op, x);
               op.combine([&](auto a, auto, auto&) { kept = a.sum; });
               op.finish([&](auto) {
                   return *kept;  // HERE
               });
           }),
           "[               op.finish([&](auto) {]: a value of combine of operator 'f' is used in "
           "finish of operator 'f'; make values where they are used");
}

TEST(DefinePlaces, ValuesOfOtherOperators)
{
    expect(of_pair([](auto&, auto x) {
               define("g", Field<float>("s", 0), [&](auto& op) {
                   Column<float> y(op, "x");
                   op.lift(x + y).combine(kSum);  // HERE
               });
           }),
           "HERE: a value of operator 'f' meets one of operator 'g'; make values where they are used");
    expect(of_pair([](auto&, auto x) {
               define("g", Field<float>("s", 0), [&](auto& op) {
                   Column<float> y(op, "x");
                   op.lift(x).combine(kSum);  // HERE
               });
           }),
           "HERE: a value of operator 'f' is used in lift of operator 'g'; make values where they are "
           "used");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([&](auto a, auto, auto&) {
                   define<Pair>("g", [&](auto& other) {
                       Column<float> y(other, "x");
                       kLiftPair(other, y);
                       other.combine([&](auto, auto b, auto& s) {
                           s.n = a.n;  // HERE
                           s.sum = b.sum;
                       });
                   });
               });
           }),
           "HERE: a value of combine of operator 'f' is used in combine of operator 'g'; make values where "
           "they are used");
    expect(of_pair([](auto& op, auto x) {
               Result<float> sum(op, "sum");
               define("g", Field<float>("s", 0), [&](auto& other) {
                   Column<float> y(other, "x");
                   other.lift(y).combine(kSum).finish([&](auto s) {
                       sum = s;  // HERE
                   });
               });
               kLiftPair(op, x);
           }),
           "HERE: result 'sum' of operator 'f' is set in finish of operator 'g'; declare results where "
           "they are used");
    expect(of_pair([](auto& op, auto) {
               op.lift([&](auto& s) {
                   define<Pair>("g", [&](auto& other) {
                       Column<float> y(other, "x");
                       other.lift([&](auto&) {
                           s.n = 1;  // HERE
                       });
                   });
               });
           }),
           "HERE: field 'n' of lift of operator 'f' is set in lift of operator 'g'; set the fields of the "
           "state that this part is given");
}

TEST(DefinePlaces, FieldsReadAndSetInTheWrongPlace)
{
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([](auto a, auto b, auto& s) {
                   s.n = a.n + b.n;
                   s.sum = a.sum / cast<float>(s.n);  // HERE
               });
           }),
           "HERE: field 'n' is read where combine of operator 'f' sets it; all fields are set together; name "
           "its value first: auto value = let(\"value\", ...)");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([](auto a, auto b, auto&) {
                   a.n = a.n + b.n;  // HERE
               });
           }),
           "HERE: field 'n' of an operand is set; set the fields of the state that combine makes, its third "
           "argument");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine(kLeft).finish([](auto s) {
                   s.n = 1;  // HERE
               });
           }),
           "HERE: field 'n' of an operand is set; finish sets results: Result<float> mean(op, \"mean\")");
    expect(
        of_pair([](auto& op, auto x) {
            Result<int> n(op, "n");
            op.lift([&](auto&) {
                n = cast<int>(x);  // HERE
            });
        }),
        "HERE: result 'n' is set in lift; finish and empty set results; lift and combine set the fields of "
        "the state");
    expect(of_pair([](auto& op, auto x) {
               Pair mine;
               kLiftPair(op, x);
               op.combine([&](auto a, auto, auto& s) {
                   s.n = a.n + mine.n;  // HERE
               });
           }),
           "HERE: field 'n' is of a state that no operator has made; use the states that lift, combine and "
           "finish are given");
    expect(of_pair([](auto& op, auto) {
               op.lift([&](auto&) {
                   Pair mine;
                   mine.n = 1;  // HERE
               });
           }),
           "HERE: field 'n' is of a state that no operator has made; use the states that lift, combine and "
           "finish are given");
    expect(of_pair([](auto& op, auto) {
               op.combine([](auto, auto) { return Pair(); });  // HERE
           }),
           "HERE: combine returns a state that is none of its operands; return one of them, or set a third: "
           "op.combine([](auto a, auto b, auto& s) { ... })");
}

TEST(DefinePlaces, OutsideOfEveryPart)
{
    const std::string rule =
        " stands in no part of an operator; it belongs into lift, combine, finish or empty";
    expect(of_pair([](auto&, auto x) {
               let("y", x + 1);  // HERE
           }),
           "HERE: let(\"y\")" + rule);
    expect(define_refusal([] {
               index();  // HERE
           }),
           "HERE: index()" + rule);
    expect(define_refusal([] {
               Pair pair;
               pair.n = 1;  // HERE
           }),
           "HERE: n" + rule);
    expect(of_pair([](auto& op, auto) {
               Result<int> n(op, "n");
               n = 1;  // HERE
           }),
           "HERE: n" + rule);
}

TEST(DefinePlaces, EntriesThatAnArrayDoesNotHave)
{
    struct Bins : State {
        FieldArray<int, 4> bins{"bins", 0};
    };
    struct One : State {
        FieldArray<int, 1> bin{"bin"};
    };
    expect(define_refusal([] {
               return define<Bins>("bins", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](Bins& s) {
                       for (int k = 0; k <= 4; ++k)
                           s.bins[k] = x;  // HERE
                   });
               });
           }),
           "HERE: 'bins' has no entry 4; they run from 0 to 3");
    expect(define_refusal([] {
               return define<Bins>("bins", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](Bins& s) {
                       for (int k = 0; k < 4; ++k)
                           s.bins[k] = x;
                   });
                   op.combine([](const Bins& a, const Bins& b, Bins& s) {
                       s.bins[0] = a.bins[0] + b.bins[-1];  // HERE
                   });
               });
           }),
           "HERE: 'bins' has no entry -1; they run from 0 to 3");
    expect(define_refusal([] {
               return define<One>("one", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](One& s) {
                       s.bin[1] = x;  // HERE
                   });
               });
           }),
           "HERE: 'bin' has no entry 1; its only one is 0");
}

// NOLINTBEGIN(bugprone-use-after-move): what this test is about
TEST(DefinePlaces, WhatWasMovedFrom)
{
    struct Bins : State {
        FieldArray<int, 2> bins{"bins", 0};
    };
    expect(of_lift([](auto x, auto) {
               const auto y = std::move(x);
               return y + x;  // HERE
           }),
           "HERE: this value has been moved from; use the one that it was moved to");
    expect(of_lift([](auto x, auto) {
               Value<float> twice = x * 2;
               const auto other = std::move(twice);
               return other + sqrt(twice);  // HERE
           }),
           "HERE: this value has been moved from; use the one that it was moved to");
    expect(of_pair([](auto& op, auto x) {
               Table<float> t(op, "t");
               const auto other = std::move(t);
               op.lift([&](auto& s) {
                   s.n = 1;
                   s.sum = x + other[0] + t[1];  // HERE
               });
           }),
           "HERE: this table has been moved from; use the one that it was moved to");
    expect(define_refusal([] {
               return define<Bins>("bins", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](Bins& s) {
                       s.bins[0] = x;
                       s.bins[1] = x;
                   });
                   op.combine([](Bins a, const Bins& b, Bins& s) {
                       const auto bins = std::move(a.bins);
                       s.bins[0] = bins[0] + b.bins[0];
                       s.bins[1] = a.bins[1];  // HERE
                   });
               });
           }),
           "HERE: this array of fields has been moved from; use the one that it was moved to");
}
// NOLINTEND(bugprone-use-after-move)

TEST(DefinePlaces, AFaultLeavesNothingBehind)
{
    const auto throws = [](auto& op, auto) { op.lift([](auto&) { throw SpecError("mine"); }); };
    expect(of_pair(throws), "mine");
    expect(define_refusal([] {
               index();  // HERE
           }),
           "HERE: index() stands in no part of an operator; it belongs into lift, combine, finish or empty");
    expect(of_lift([](auto x, auto) { return x; }), "nothing was thrown");
}

}  // namespace
}  // namespace segfold::define_places_test
