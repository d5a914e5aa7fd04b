#pragma once
// The message of a misuse of the C++ form, for tests that compare it whole.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "dsl/cpp/define.h"
#include "tests/common/message_of.h"

namespace segfold {

/// Line `number` of the test of this folder that the compiler calls `path`, which may be relative to the
/// folder of the build.
inline std::string line_of(const std::string& path, int number)
{
    std::ifstream file(SEGFOLD_SOURCE_DIR "/tests/dsl/cpp/" + path.substr(path.rfind('/') + 1));
    std::string line;
    while (number-- > 0 && std::getline(file, line)) {}
    return line;
}

/// The message of what `define` throws. "HERE" stands for the place of a line of C++ that ends with that
/// word, and the line itself for another one.
template <class Define>
std::string define_refusal(const Define& define)
{
    auto message = test::message_of<SpecError>(define);
    // Each message begins with the path of a source, which has a slash, and its line.
    for (std::size_t at = 0; message.find('/', at) < message.find(':', at);) {
        const auto colon = message.find(':', at);
        const auto end = message.find(':', colon + 1);
        const auto line = line_of(message.substr(at, colon - at), std::stoi(message.substr(colon + 1, end)));
        message.replace(at, end - at, line.ends_with("// HERE") ? "HERE" : "[" + line + "]");
        at = message.find('\n', at) + 1;
        if (at == 0)
            break;
    }
    return message;
}

/// A function, because everything inside of a macro stands in the macro's first line.
inline void expect(const std::string& found, const std::string& wanted) { EXPECT_EQ(found, wanted); }

/// The message for an operator of one f32 field with the columns x and n, otherwise a sum.
template <class Lift>
std::string of_lift(const Lift& lift)
{
    return define_refusal([&] {
        return define("f", Field<float>("sum", 0), [&](auto& op) {
            Column<float> x(op, "x");
            Column<int> n(op, "n");
            op.lift([&] { return lift(x, n); });
            op.combine([](auto a, auto b) { return a + b; });
        });
    });
}

struct Pair : State {
    Field<int> n{"n", 0};
    Field<float> sum{"sum", 0};
};

inline const auto kSum = [](auto a, auto b) { return a + b; };
inline const auto kLeft = [](auto a, auto) { return a; };

/// The message for an operator whose state is a Pair, with a column x; `body` says the rest.
template <class Body>
std::string of_pair(const Body& body)
{
    return define_refusal([&] {
        return define<Pair>("f", [&](auto& op) {
            Column<float> x(op, "x");
            body(op, x);
        });
    });
}

inline const auto kLiftPair = [](auto& op, auto x) {
    op.lift([&](auto& s) {
        s.n = 1;
        s.sum = x;
    });
};

}  // namespace segfold
