// Misuses of the C++ form that a compiler cannot see, each with its whole message: parts, names, numbers,
// results. define_places_test.cpp has values and fields in wrong places, define_compile_test.cpp misuses that
// a compiler sees.
#include <gtest/gtest.h>

#include <string>

#include "tests/dsl/cpp/define_refusal.h"

namespace segfold::define_errors_test {
namespace {

TEST(DefineErrors, FieldsAreSetOnceEach)
{
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine([](auto a, auto b, auto& s) { s.n = a.n + b.n; });  // HERE
           }),
           "HERE: combine does not set 'sum'; every state field needs a value");
    expect(of_pair([](auto& op, auto x) {
               op.combine(kLeft);
               op.lift([&](auto& s) {
                   s.n = 1;
                   s.sum = x;
                   s.n = 2;  // HERE
               });
           }),
           "HERE: lift sets 'n' twice");
    expect(of_pair([](auto& op, auto) {
               op.combine(kLeft);
               op.lift([&](auto& s) {  // HERE
                   (void)s;
               });
           }),
           "HERE: lift of operator f sets nothing; set every field of the state that it is given, as in s.n "
           "= ...");
}

TEST(DefineErrors, NamesAreTaken)
{
    expect(define_refusal([] {
               define("f", Field<float>("s", 0), [](auto& op) {
                   Column<float> x(op, "x");
                   Column<int> other(op, "x");  // HERE
                   op.lift(x).combine(kSum);
               });
           }),
           "HERE: parameter 'x' is declared twice");
    struct Twice : State {  // HERE
        Field<int> n{"n", 0};
        Field<int> m{"n", 0};
    };
    expect(define_refusal([] {
               define<Twice>("f", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](auto& s) { s.n = x; }).combine(kLeft);
               });
           }),
           "HERE: state field 'n' is declared twice\n"
           "[                   op.lift([&](auto& s) { s.n = x; }).combine(kLeft);]: combine sets 'n' "
           "twice");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine(kLeft);
               Result<int> n(op, "n");
               Result<int> m(op, "n");  // HERE
               op.finish([&](auto s) { n = s.n; });
           }),
           "HERE: result 'n' is declared twice");
    expect(of_lift([](auto x, auto) {
               return let("x", x + 1);  // HERE
           }),
           "HERE: 'x' is already a name here; choose another");
    expect(of_lift([](auto x, auto) {
               auto y = let("y", x + 1);
               return let("y", y + 1);  // HERE
           }),
           "HERE: 'y' is already a name here; choose another");
}

/// The message for a column of this name.
std::string of_column(const std::string& name)
{
    return define_refusal([&] {
        define("f", Field<float>("s", 0), [&](auto& op) {
            Column<float> x(op, name);  // HERE
            op.lift(x).combine(kSum);
        });
    });
}

TEST(DefineErrors, NamesThatNoOperatorMayHave)
{
    const std::string rule = "; a name is a letter or '_' and then letters, digits and '_', 64 at most";
    for (const char* name : {"index", "sqrt", "f32", "state", "nan"})
        expect(of_column(name), "HERE: '" + std::string(name) +
                                    "' has a meaning in the language and cannot be a name of your own");
    expect(of_column("__x"), "HERE: '__x' begins with two underscores; such names are kept for compilers");
    expect(of_column("let"),
           "HERE: 'let' cannot be a name; in the text of an operator it begins a local name");
    for (const char* name : {"", "1st", "a-b", "a\n"})
        expect(of_column(name), "HERE: '" + std::string(name) + "' is not a name" + rule);
    expect(of_column(std::string(65, 'x')), "HERE: '" + std::string(64, 'x') + "' is not a name" + rule);
    expect(define_refusal([] {
               define("my sum", Field<float>("s", 0), [](auto& op) {  // HERE
                   Column<float> x(op, "x");
                   op.lift(x).combine(kSum);
               });
           }),
           "HERE: 'my sum' is not a name" + rule);
}

TEST(DefineErrors, NumbersFitTheirTypes)
{
    expect(of_lift([](auto x, auto n) {
               return x + cast<float>(n * 3000000000);  // HERE
           }),
           "HERE: 3000000000 does not fit in i32; i32 holds -2147483648 to 2147483647");
    expect(of_lift([](auto x, auto n) {
               return x + cast<float>(cast<std::uint8_t>(n) + -1);  // HERE
           }),
           "HERE: -1 does not fit in u8; u8 holds 0 to 255");
    expect(of_lift([](auto x, auto) {
               return x * 1e300;  // HERE
           }),
           "HERE: this number does not fit in f32; use inf, or f64");
    expect(of_lift([](auto x, auto n) {
               return x + cast<float>(n / 0);  // HERE
           }),
           "HERE: division by zero; the divisor is the number 0");
    struct Byte : State {  // HERE
        Field<std::int8_t> n{"n", 128};
    };
    expect(define_refusal([] {
               define<Byte>("f", [](auto& op) {
                   Column<std::int8_t> x(op, "x");
                   op.lift([&](auto& s) { s.n = x; }).combine(kLeft);
               });
           }),
           "HERE: 128 does not fit in i8; i8 holds -128 to 127");
}

TEST(DefineErrors, Identities)
{
    struct Some : State {  // HERE
        Field<int> n{"n", 0};
        Field<int> m{"m"};
    };
    expect(define_refusal([] {
               define<Some>("f", [](auto& op) {
                   Column<int> x(op, "x");
                   op.lift([&](auto& s) {
                         s.n = x;
                         s.m = x;
                     }).combine(kLeft);
               });
           }),
           "HERE: field 'm' has no identity, but 'n' has one; give all fields an identity, or none");
    expect(of_pair([](auto&, auto x) {
               Field<float> s("s", x);  // HERE
           }),
           "HERE: the identity of 's' is made of a value of operator 'f'; an identity is made of numbers");
}

TEST(DefineErrors, PartsAndParametersAreMissing)
{
    expect(of_pair([](auto& op, auto) { op.combine(kLeft); }),
           "[        return define<Pair>(\"f\", [&](auto& op) {]: operator f has no lift; say what state an "
           "element is: op.lift([&](auto& s) { ... })");
    expect(
        of_pair([](auto& op, auto x) { kLiftPair(op, x); }),
        "[        return define<Pair>(\"f\", [&](auto& op) {]: operator f has no combine; say what state two "
        "neighbouring ones are: op.combine([](auto a, auto b, auto& s) { ... })");
    expect(of_pair([](auto& op, auto x) {
               kLiftPair(op, x);
               op.combine(kLeft);
               op.combine(kLeft);  // HERE
           }),
           "HERE: operator f has a second combine; say it once");
    expect(define_refusal([] {
               define("f", Field<int>("n", 0), [](auto& op) {  // HERE
                   op.lift(1).combine(kSum);
               });
           }),
           "HERE: operator f has no column; declare one, whose length is the number of elements: "
           "Column<float> x(op, \"x\")");
    expect(define_refusal([] {
               define("f", Field<int>("n", 0), [](auto& op) {  // HERE
                   Table<int> t(op, "t");
                   op.lift(t[index()]).combine(kSum);
               });
           }),
           "HERE: operator f has no column; declare one, whose length is the number of elements: "
           "Column<float> x(op, \"x\")");
    struct Nothing : State {};
    expect(define_refusal([] {
               define<Nothing>("f", [](auto& op) {  // HERE
                   Column<float> x(op, "x");
                   op.lift([](auto&) {}).combine(kLeft);
               });
           }),
           "HERE: operator f has no state; give its state a field: Field<float> sum{\"sum\", 0}");
    expect(of_pair([](auto& op, auto x) {
               Table<float> t(op, "t");  // HERE
               kLiftPair(op, x);
               op.combine(kLeft);
           }),
           "HERE: table 't' is never read; read it in lift, map or scan, as in t[index()], or leave it out");
}

/// The message for a Pair that lacks only its results.
template <class Body>
std::string of_results(const Body& body)
{
    return of_pair([&](auto& op, auto x) {
        kLiftPair(op, x);
        op.combine(kLeft);
        body(op);
    });
}

TEST(DefineErrors, Results)
{
    expect(of_results([](auto& op) {
               op.finish([](auto) {});  // HERE
           }),
           "HERE: finish of operator f gives no result; return one value, or declare results and set them: "
           "Result<float> mean(op, \"mean\")");
    expect(of_results([](auto& op) {
               op.empty([] {});  // HERE
           }),
           "HERE: empty of operator f gives no result; return one value, or declare results and set them: "
           "Result<float> mean(op, \"mean\")");
    expect(of_results([](auto& op) {
               Result<int> p(op, "p"), q(op, "q");
               op.finish([&](auto s) { p = s.n; });  // HERE
           }),
           "HERE: finish does not set 'q'; every result needs a value");
    expect(of_results([](auto& op) {
               Result<int> p(op, "p"), q(op, "q");
               op.finish([&](auto s) { return s.n; });  // HERE
           }),
           "HERE: finish gives one value, but operator f has 2 results; set each of them");
    expect(of_results([](auto& op) {
               Result<int> p(op, "p");
               op.finish([&](auto s) { return s.sum; });  // HERE
           }),
           "HERE: result 'p' is i32, but finish gives f32; convert it with cast<T>(x)");
    expect(of_results([](auto& op) {
               op.finish([&](auto s) { return s.sum; });
               op.empty(nan<double>());  // HERE
           }),
           "HERE: result 'result' is f32, but empty gives f64; convert it with cast<T>(x)");
    expect(of_results([](auto& op) {
               op.empty(0);  // HERE
           }),
           "HERE: empty of operator f gives a number without a type; write 0.0f or cast<double>(0), say, or "
           "declare the result: Result<float> mean(op, \"mean\")");
    expect(of_results([](auto& op) {
               Result<int> p(op, "p");
               Result<int> q(op, "q");  // HERE
           }),
           "HERE: result 'q' is i32, but state field 'sum' is f32; say in 'finish' how the results come from "
           "the state");
    expect(
        of_results([](auto& op) { Result<int> p(op, "p"); }),
        "[        return define<Pair>(\"f\", [&](auto& op) {]: operator f has 2 state fields and 1 result; "
        "say in 'finish' how the results come from the state");
}

TEST(DefineErrors, TooLarge)
{
    expect(of_lift([](auto x, auto) {
               Value<float> sum = x;
               for (int i = 0; i < 300; ++i)
                   sum = sum + 1;
               return let("y", sum);  // HERE
           }),
           "HERE: the expression nests deeper than 256 levels; name parts of it with 'let'");
    expect(
        of_lift([](auto x, auto) {
            Value<float> sum = x;
            for (int i = 0; i < 200; ++i)
                sum = sum + sum;
            return let("y", sum);  // HERE
        }),
        "HERE: the operator has more than 20000 numbers, names and operations; this is the most that one may "
        "have");
    expect(define_refusal([] {
               define("f", Field<float>("s", 0), [](auto& op) {
                   for (int i = 0; i < 300; ++i)
                       Column<float>(op, "x" + std::to_string(i));  // HERE
                   op.lift(1).combine(kSum);
               });
           }),
           "HERE: operator f has 300 parameters; at most 256 are allowed");
}

TEST(DefineErrors, SeveralFaultsAreToldTogether)
{
    expect(of_pair([](auto& op, auto x) {
               op.lift([&](auto& s) {
                   s.n = 3000000000;   // HERE
                   s.sum = x * 1e300;  // HERE
               });
               op.combine([](auto a, auto, auto& s) {  // HERE
                   s.n = a.n;
               });
           }),
           "HERE: 3000000000 does not fit in i32; i32 holds -2147483648 to 2147483647\n"
           "HERE: this number does not fit in f32; use inf, or f64\n"
           "HERE: combine does not set 'sum'; every state field needs a value");
}

}  // namespace
}  // namespace segfold::define_errors_test
