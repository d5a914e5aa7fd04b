#pragma once
// The message for a misuse of the C++ form, for tests that compare the whole message.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "dsl/cpp/define.h"
#include "tests/common/message_of.h"

namespace segfold {

/// Line `number` of a test in this folder. `path` is the compiler's name for the test, which may be relative
/// to the folder of the build.
inline std::string line_of(const std::string& path, int number)
{
    std::ifstream file(SEGFOLD_SOURCE_DIR "/tests/dsl/cpp/" + path.substr(path.rfind('/') + 1));
    std::string line;
    while (number-- > 0 && std::getline(file, line)) {}
    return line;
}

/// The message of the error that `define` throws. "HERE" replaces the place of a line of C++ that ends with
/// this word. For any other line, the line itself replaces its place.
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

/// This is a function, because all code inside of a macro counts as the macro's first line.
inline void expect(const std::string& found, const std::string& wanted) { EXPECT_EQ(found, wanted); }

/// The message for an operator of one f32 field with columns x and n. It is a sum except for its lift.
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

/// The message for an operator with a Pair as its state and a column x. `body` defines the rest.
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
