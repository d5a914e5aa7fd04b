// The advice in messages about the C++ form is right: an operator that follows it is accepted.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "tests/dsl/cpp/define_refusal.h"

namespace segfold::define_advice_test {
namespace {

/// Expects that the message for `wrong` has this advice, and that the operator of `right`, which follows it,
/// is accepted.
template <class Wrong, class Right>
void follows(const std::string& advice, const Wrong& wrong, const Right& right)
{
    EXPECT_NE(of_pair(wrong).find(advice), std::string::npos) << of_pair(wrong);
    EXPECT_EQ(of_pair(right), "nothing was thrown") << advice;
}

/// Adds a combine, so that `body` needs to define only the other parts.
template <class Body>
auto with_combine(const Body& body)
{
    return [=](auto& op, auto x) {
        op.combine(kLeft);
        body(op, x);
    };
}

template <class Body>
auto with_both(const Body& body)
{
    return [=](auto& op, auto x) {
        kLiftPair(op, x);
        op.combine(kLeft);
        body(op, x);
    };
}

const auto kNone = [](auto&, auto) {};

TEST(DefineAdvice, OnParts)
{
    follows("set every field of the state that it is given, as in s.n = ...",
            with_combine([](auto& op, auto) { op.lift([](auto&) {}); }), with_combine(kLiftPair));
    follows("say what state an element is: op.lift([&](auto& s) { ... })", with_combine(kNone),
            with_combine(kLiftPair));
    follows("say what state two neighbouring ones are: op.combine([](auto a, auto b, auto& s) { ... })",
            kLiftPair, [](auto& op, auto x) {
                kLiftPair(op, x);
                op.combine([](auto a, auto b, auto& s) {
                    s.n = a.n + b.n;
                    s.sum = a.sum + b.sum;
                });
            });
    follows("operator f has a second combine; say it once",
            with_both([](auto& op, auto) { op.combine(kLeft); }), with_both(kNone));
    follows(
        "return one of them, or set a third: op.combine([](auto a, auto b, auto& s) { ... })",
        [](auto& op, auto x) {
            kLiftPair(op, x);
            op.combine([](auto, auto) { return Pair(); });
        },
        with_both(kNone));
    follows(
        "field 'n' of an operand is set; set the fields of the state that combine makes, its third argument",
        [](auto& op, auto x) {
            kLiftPair(op, x);
            op.combine([](auto a, auto b, auto& s) {
                a.n = b.n;
                s.n = b.n;
                s.sum = b.sum;
            });
        },
        [](auto& op, auto x) {
            kLiftPair(op, x);
            op.combine([](auto, auto b, auto& s) {
                s.n = b.n;
                s.sum = b.sum;
            });
        });
    follows("name its value first: auto value = let(\"value\", ...)", with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    s.sum = x;
                    s.n = cast<int>(s.sum);
                });
            }),
            with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    auto value = let("value", x * 2);
                    s.sum = value;
                    s.n = cast<int>(value);
                });
            }));
}

TEST(DefineAdvice, OnParameters)
{
    follows("read it in lift, map or scan, as in t[index()], or leave it out",
            with_both([](auto& op, auto) { Table<float> t(op, "t"); }), with_combine([](auto& op, auto) {
                Table<float> t(op, "t");
                op.lift([&](auto& s) {
                    s.n = 1;
                    s.sum = t[index()];
                });
            }));
    follows("'x' is already a name here; choose another", with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    s.sum = let("x", x + 1);
                    s.n = 1;
                });
            }),
            with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    s.sum = let("another", x + 1);
                    s.n = 1;
                });
            }));
    const auto of_one = [](const auto& body) {
        return [=](auto&, auto) { define("g", Field<float>("sum", 0), [&](auto& op) { body(op); }); };
    };
    follows("declare one, whose length is the number of elements: Column<float> x(op, \"x\")",
            of_one([](auto& op) { op.lift(1).combine(kSum); }), [=](auto& op, auto y) {
                of_one([](auto& inner) {
                    Column<float> x(inner, "x");
                    inner.lift(x).combine(kSum);
                })(op, y);
                with_both(kNone)(op, y);
            });
}

TEST(DefineAdvice, OnStates)
{
    struct Nothing : State {};
    struct Sum : State {
        Field<float> sum{"sum", 0};
    };
    follows(
        "give its state a field: Field<float> sum{\"sum\", 0}",
        [](auto&, auto) {
            define<Nothing>("g", [](auto& op) {
                Column<float> x(op, "x");
                op.lift([](auto&) {}).combine(kLeft);
            });
        },
        with_both([](auto&, auto) {
            define<Sum>("g", [](auto& op) {
                Column<float> x(op, "x");
                op.lift([&](auto& s) { s.sum = x; }).combine(kLeft);
            });
        }));
}

TEST(DefineAdvice, OnResults)
{
    const auto finish = [](const auto& body) { return with_both([=](auto& op, auto) { op.finish(body); }); };
    follows("return one value, or declare results and set them: Result<float> mean(op, \"mean\")",
            finish([](auto) {}), finish([](auto s) { return s.sum; }));
    follows("or declare results and set them: Result<float> mean(op, \"mean\")", finish([](auto) {}),
            with_both([](auto& op, auto) {
                Result<float> mean(op, "mean");
                op.finish([&](auto s) { mean = s.sum; });
            }));
    follows("write 0.0f or cast<double>(0), say, or declare the result: Result<float> mean(op, \"mean\")",
            with_both([](auto& op, auto) { op.empty(0); }), with_both([](auto& op, auto) {
                op.finish([](auto s) { return s.sum; });
                op.empty(0.0f);
            }));
    follows("or declare the result: Result<float> mean(op, \"mean\")",
            with_both([](auto& op, auto) { op.empty(0); }), with_both([](auto& op, auto) {
                Result<float> mean(op, "mean");
                op.finish([&](auto s) { mean = s.sum; });
                op.empty(0);
            }));
    follows("finish gives one value, but operator f has 2 results; set each of them",
            with_both([](auto& op, auto) {
                Result<int> p(op, "p"), q(op, "q");
                op.finish([&](auto s) { return s.n; });
            }),
            with_both([](auto& op, auto) {
                Result<int> p(op, "p"), q(op, "q");
                op.finish([&](auto s) {
                    p = s.n;
                    q = s.n;
                });
            }));
    follows("result 'p' is i32, but finish gives f32; convert it with cast<T>(x)",
            with_both([](auto& op, auto) {
                Result<int> p(op, "p");
                op.finish([&](auto s) { return s.sum; });
            }),
            with_both([](auto& op, auto) {
                Result<int> p(op, "p");
                op.finish([&](auto s) { return cast<int>(s.sum); });
            }));
}

TEST(DefineAdvice, OnOutputs)
{
    const auto map = [](const auto& body) {
        return with_both([=](auto& op, auto x) {
            op.finish([](auto s) { return s.sum; });
            body(op, x);
        });
    };
    follows("write 0.0f or cast<double>(0), say, or declare the output: Each<float> y(op, \"y\")",
            map([](auto& op, auto) { op.map([](auto) { return 0; }); }), map([](auto& op, auto) {
                Each<float> y(op, "y");
                op.map([](auto) { return 0; });
            }));
    follows("map gives one value, but operator f has 2 outputs; set each of them", map([](auto& op, auto x) {
                Each<float> y(op, "y"), z(op, "z");
                op.map([&](auto) { return x; });
            }),
            map([](auto& op, auto x) {
                Each<float> y(op, "y"), z(op, "z");
                op.map([&](auto) {
                    y = x;
                    z = x;
                });
            }));
    follows("output 'y' is i32, but map gives f32; convert it with cast<T>(x)", map([](auto& op, auto x) {
                Each<int> y(op, "y");
                op.map([&](auto) { return x; });
            }),
            map([](auto& op, auto x) {
                Each<int> y(op, "y");
                op.map([&](auto) { return cast<int>(x); });
            }));
}

TEST(DefineAdvice, OnValuesOfOtherPlaces)
{
    follows("make values where they are used", with_both([](auto& op, auto) {
                std::optional<Value<float>> kept;
                op.finish([&](auto s) {
                    kept = s.sum;
                    return s.sum;
                });
                op.empty([&] { return *kept; });
            }),
            with_both([](auto& op, auto) {
                op.finish([&](auto s) { return s.sum; });
                op.empty([&] { return 0.0f; });
            }));
    follows(
        "set the fields of the state that this part is given",
        [](auto& op, auto x) {
            op.combine(kLeft);
            op.lift([&](auto& s) {
                define<Pair>("g", [&](auto& inner) {
                    Column<float> y(inner, "y");
                    inner.combine(kLeft);
                    inner.lift([&](auto& t) {
                        s.n = 1;
                        t.sum = y;
                    });
                });
                s.n = 1;
                s.sum = x;
            });
        },
        with_both(kNone));
    follows("declare results where they are used", with_both([](auto& op, auto) {
                Result<float> mean(op, "mean");
                op.finish([&](auto s) { mean = s.sum; });
                define<Pair>("g", [&](auto& inner) {
                    Column<float> y(inner, "y");
                    inner.combine(kLeft);
                    kLiftPair(inner, y);
                    inner.finish([&](auto s) { mean = s.sum; });
                });
            }),
            with_both([](auto& op, auto) {
                Result<float> mean(op, "mean");
                op.finish([&](auto s) { mean = s.sum; });
                define<Pair>("g", [&](auto& inner) {
                    Column<float> y(inner, "y");
                    Result<float> own(inner, "mean");
                    inner.combine(kLeft);
                    kLiftPair(inner, y);
                    inner.finish([&](auto s) { own = s.sum; });
                });
            }));
    follows("use the states that lift, combine and finish are given", with_combine([](auto& op, auto x) {
                op.lift([&](auto&) {
                    Pair own;
                    own.n = 1;
                    own.sum = x;
                });
            }),
            with_combine(kLiftPair));
    follows("this value has been moved from; use the one that it was moved to",
            with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    Value<float> first = x + 1, second = std::move(first);
                    s.sum = first;
                    s.n = 1;
                });
            }),
            with_combine([](auto& op, auto x) {
                op.lift([&](auto& s) {
                    Value<float> first = x + 1, second = std::move(first);
                    s.sum = second;
                    s.n = 1;
                });
            }));
}

}  // namespace
}  // namespace segfold::define_advice_test
