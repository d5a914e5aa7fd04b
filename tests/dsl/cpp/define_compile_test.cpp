// The compiler refuses misuses of the C++ form, each with a sentence about it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/support/processes/process.h"

namespace segfold::define_compile_test {
namespace {

/// The compiler that simt uses too. Its library must have what GCC 12's has.
std::optional<std::string> find_compiler()
{
    const char* environment = std::getenv("CXX");
    return find_program(environment != nullptr ? environment : "g++");
}

constexpr const char* kBefore = R"(#include "define.h"
#include "runtime/data/array_view.h"
using namespace segfold;
struct Pair : State {
    Field<int> n{"n", 0};
    Field<float> sum{"sum", 0};
};
struct Stranger {};
void body(Definition<Pair>& op, Definition<float>& one)
{
    Column<float> x(op, "x"), y(op, "y");
    Column<int> n(op, "n");
    Column<bool> c(op, "c");
    Table<float> t(op, "t");
    Result<float> mean(op, "mean");
    Pair a, s;
    const Pair b;
    auto good = select(x > 0 && c, x + 1, t[n]);
    (void)good, (void)one, (void)y, (void)mean, (void)a, (void)s, (void)b;
)";

/// A wrong statement, the compiler's message for it, and a statement that follows the advice and compiles.
struct Misuse {
    const char* statement;
    const char* message;
    const char* followed = nullptr;
};

constexpr Misuse follows(const char* statement, const char* message, const char* followed)
{
    return {statement, message, followed};
}

const Misuse kMisuses[] = {
    follows("ArrayView{std::vector<bool>(3)};",
            "segfold: a std::vector<bool> has no array of bool; of a std::vector<char> of 0 and 1, "
            "ArrayView(Type::boolean, values.data(), n) lends one",
            "std::vector<char> values(3); (void)ArrayView(Type::boolean, values.data(), 3);"),
    follows("x + n;", "segfold: the operands are of different types; convert one of them with cast<T>(x)",
            "x + cast<float>(n);"),
    follows("n << x;", "segfold: the operands are of different types; convert one of them with cast<T>(x)",
            "n << cast<int>(x);"),
    {"0 < x < y;", "segfold: the operands are of different types; convert one of them with cast<T>(x)"},
    {"n + 0.5;", "segfold: a number with a fraction stands where an integer or a bool belongs"},
    follows("n == true;", "segfold: true and false are no numbers; write 1 or 0", "n == 1;"),
    follows("c == 1;", "segfold: a number is no bool; write true or false", "c == true;"),
    follows("s.n = x;", "segfold: the value is of another type than its place; convert it with cast<T>(x)",
            "s.n = cast<int>(x);"),
    follows("mean = n;", "segfold: the value is of another type than its place; convert it with cast<T>(x)",
            "mean = cast<float>(n);"),
    follows("max(x, n);", "segfold: the value is of another type than its place; convert it with cast<T>(x)",
            "max(x, cast<float>(n));"),
    follows("select(c, n, x);",
            "segfold: the value is of another type than its place; convert it with cast<T>(x)",
            "select(c, cast<float>(n), x);"),
    {"c + c;", "segfold: '+ - * /' take numbers, not bools"},
    {"x % 2;", "segfold: '% << >>' take integers"},
    {"x ^ 2;", "segfold: '& | ^' take integers or bools"},
    follows("c < c;", "segfold: '< <= > >=' take numbers; comparisons do not chain, write a < b && b < c",
            "x < y && y < 1;"),
    follows("n && n;", "segfold: '&& ||' take bools; compare with something to get one", "n > 0 && n > 0;"),
    follows("!n;", "segfold: '!' takes a bool; compare with something to get one", "!(n > 0);"),
    {"~x;", "segfold: '~' takes an integer"},
    {"-c;", "segfold: '-' takes a number"},
    follows("sqrt(n);", "segfold: this function takes floating-point values; convert with cast<float>(x)",
            "sqrt(cast<float>(n));"),
    follows("isnan(n);", "segfold: this function takes floating-point values; convert with cast<float>(x)",
            "isnan(cast<float>(n));"),
    {"min(c, c);", "segfold: min takes numbers, not bools"},
    {"max(c, true);", "segfold: max takes numbers, not bools"},
    {"abs(c);", "segfold: abs takes a number, not a bool"},
    {"popcount(x);", "segfold: popcount takes an integer"},
    {"clz(x);", "segfold: clz takes an integer"},
    follows("select(n, x, y);", "segfold: select takes a bool first; compare with something to get one",
            "select(n > 0, x, y);"),
    {"lowest<bool>();", "segfold: lowest is of a number's type"},
    {"highest<bool>();", "segfold: highest is of a number's type"},
    {"epsilon<int>();", "segfold: epsilon is of a floating-point type"},
    {"infinity<int>();", "segfold: only floating-point types have infinity"},
    {"nan<int>();", "segfold: only floating-point types have nan"},
    follows("t[x];", "segfold: a table's index is an integer; convert it with cast<int>(i)",
            "t[cast<int>(x)];"),
    follows("s.n += 1;", "segfold: a field is set once, not changed: s.n = a.n + b.n", "s.n = a.n + b.n;"),
    follows("define<Stranger>(\"f\", [](auto&) {});",
            "segfold: define<S> takes a state: struct S : segfold::State { ... }",
            "struct Stranger2 : segfold::State { Field<int> n{\"n\", 0}; }; define<Stranger2>(\"f\", "
            "[](auto&) {});"),
    follows("op.lift(x);", "segfold: lift of a state sets its fields: op.lift([&](auto& s) { ... })",
            "op.lift([&](auto& s) { s.n = 1; s.sum = x; });"),
    follows("op.lift([&] { return x; });",
            "segfold: lift takes the state that it sets: op.lift([&](auto& s) { ... })",
            "op.lift([&](auto& s) { s.n = 1; s.sum = x; });"),
    follows("one.lift([&](auto& s) { s = x; });",
            "segfold: lift of one field takes no argument: op.lift([&] { return x; })",
            "one.lift([&] { return x; });"),
    {"one.lift([&] {});", "segfold: this part of one field returns its value"},
    {"one.combine([](auto, auto) {});", "segfold: this part of one field returns its value"},
    follows(
        "one.combine([](auto a, auto b, auto& s) { s = a + b; });",
        "segfold: combine of one field takes two values: op.combine([](auto a, auto b) { return a + b; })",
        "one.combine([](auto a, auto b) { return a + b; });"),
    follows("op.combine([](auto& s) { s.n = 1; });",
            "segfold: combine takes the earlier state, the later one and the one that it sets: "
            "op.combine([](auto "
            "a, "
            "auto b, auto& s) { ... })",
            "op.combine([](auto a, auto b, auto& s) { s.n = a.n; s.sum = b.sum; });"),
    follows(
        "op.combine([](auto a, auto b) { return a.n + b.n; });",
        "segfold: combine of two states returns one of them, or sets a third: op.combine([](auto a, auto b, "
        "auto& s) "
        "{ ... })",
        "op.combine([](auto a, auto) { return a; });"),
    follows("s = a;", "segfold: set each field, s.n = a.n; in combine, return a", "s.n = a.n;"),
    {"op.combine([](Pair a, Pair, Pair& s) { s = a; });",
     "segfold: set each field, s.n = a.n; in combine, return a"},
    {"op.combine([](auto a, auto, auto& s) { s = a; });",
     "segfold: set each field, s.n = a.n; in combine, return a"},
    follows("op.finish([&] { mean = x; });",
            "segfold: finish takes the last state: op.finish([&](auto s) { ... })",
            "op.finish([&](auto s) { mean = s.sum; });"),
    follows("op.finish([](auto s) { return s; });",
            "segfold: finish and empty return one value, or set results",
            "op.finish([](auto s) { return s.sum; });"),
    follows("op.empty([&](auto s) { mean = s.sum; });",
            "segfold: an empty segment has no state: op.empty([&] { ... })", "op.empty([&] { mean = 0; });"),
    // Misuses that no template sees get the compiler's own words.
    {"if (x > 0) {}", "from 'segfold::Value<bool>' to 'bool'"},
    {"mean + 1;", "no match for 'operator+' (operand types are 'segfold::Result<float>' and 'int')"},
    {"b.n = 1;", "as 'this' argument discards qualifiers"},
    {"Column<long double> l(op, \"l\");",
     "template constraint failure for 'template<class T>  requires  ValueType<T> class segfold::Column'"},
    {"x + \"1\";",
     "no match for 'operator+' (operand types are 'segfold::Column<float>' and 'const char [2]')"},
};

class DefineCompile : public testing::Test {
protected:
    void SetUp() override
    {
        const auto found = find_compiler();
        if (!found)
            GTEST_SKIP() << "no C++ compiler is here: neither what CXX names nor g++";
        compiler_ = *found;
        setenv("LC_ALL", "C", 1);  // plain quotes in messages
        auto pattern = (std::filesystem::temp_directory_path() / "segfold-define-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
        // Compiled once for all statements.
        const auto header = (folder_ / "define.h").string();
        std::ofstream(header) << "#include \"dsl/cpp/define.h\"\n";
        const auto result = run({"-x", "c++-header", header, "-o", header + ".gch"});
        ASSERT_EQ(result.status, 0) << result.output;
    }
    void TearDown() override
    {
        if (!folder_.empty())
            std::filesystem::remove_all(folder_);
    }

    [[nodiscard]] ProcessResult run(const std::vector<std::string>& options) const
    {
        std::vector<std::string> arguments = {compiler_, "-std=c++20", "-I", SEGFOLD_SOURCE_DIR,
                                              "-fdiagnostics-color=never"};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return run_process(arguments);
    }

    /// The compiler's message for the statement; "accepted" if there is none.
    [[nodiscard]] std::string compile(const std::string& name, const std::string& statement) const
    {
        const auto path = (folder_ / (name + ".cpp")).string();
        std::ofstream(path) << kBefore << "    " << statement << "\n}\n";
        const auto result = run({"-fsyntax-only", path});
        return result.status == 0 ? "accepted" : result.output;
    }

    /// The compiler's messages for the statements.
    [[nodiscard]] std::vector<std::string> compile_all(const std::string& name,
                                                       const std::vector<std::string>& statements) const
    {
        std::vector<std::string> said(statements.size());
        std::atomic<std::size_t> next = 0;
        const auto work = [&] {
            for (auto i = next++; i < said.size(); i = next++)
                said[i] = compile(name + std::to_string(i), statements[i]);
        };
        std::vector<std::jthread> threads;
        for (unsigned i = 0; i < std::max(std::thread::hardware_concurrency(), 1u); ++i)
            threads.emplace_back(work);
        threads.clear();
        return said;
    }

    std::string compiler_;
    std::filesystem::path folder_;
};

TEST_F(DefineCompile, EveryMisuseIsRefusedInWords)
{
    EXPECT_EQ(compile("good", ""), "accepted");
    std::vector<std::string> statements;
    for (const auto& misuse : kMisuses)
        statements.emplace_back(misuse.statement);
    const auto said = compile_all("misuse", statements);
    for (std::size_t i = 0; i < said.size(); ++i) {
        const auto& [statement, message, followed] = kMisuses[i];
        EXPECT_NE(said[i].find(message), std::string::npos) << statement << "\n" << said[i];
        EXPECT_NE(said[i].find("misuse" + std::to_string(i) + ".cpp:20:"), std::string::npos)
            << "the line is not named: " << statement << "\n"
            << said[i];
    }
}

TEST_F(DefineCompile, AdviceCanBeFollowed)
{
    std::vector<std::string> statements;
    for (const auto& misuse : kMisuses)
        if (misuse.followed != nullptr)
            statements.emplace_back(misuse.followed);
    const auto said = compile_all("followed", statements);
    for (std::size_t i = 0; i < said.size(); ++i)
        EXPECT_EQ(said[i], "accepted") << statements[i];
}

/// The standard library's functions of the same names do not get in the way, with GCC or clang.
TEST_F(DefineCompile, UsingNamespaceStdDoesNoHarm)
{
    const auto path = (folder_ / "beside_std.cpp").string();
    std::ofstream(path) << R"(#include <algorithm>
#include <cstdlib>
#include <valarray>
#include "dsl/cpp/define.h"
struct Range : segfold::State { Field<float> low{"low", 0}, high{"high", 0}; };
auto range()
{
    using namespace std;
    using namespace segfold;
    return define<Range>("range", [](auto& op) {
        Column<float> x(op, "x"), y(op, "y");
        Column<int> n(op, "n");
        op.lift([&](Range& s) {
            s.low = min(x, y) + min(x, 1) + pow(x, y) + pow(x, 2) + sqrt(x) + cast<float>(max(n, n) + abs(n));
            s.high = max(max(x, y), abs(x + y)) + max(0.5f, x) + exp(x) + floor(y) + fma(x, y, 1);
        });
        op.combine([](Range a, Range b, Range& s) { s.low = min(a.low, b.low); s.high = max(a.high, b.high); });
    });
}
)";
    EXPECT_EQ(run({"-fsyntax-only", path}).output, "");
    const auto clang = find_program("clang++");
    if (!clang)
        GTEST_SKIP() << "clang++ is not here: one compiler alone was asked";
    EXPECT_EQ(run_process({*clang, "-std=c++20", "-I", SEGFOLD_SOURCE_DIR, "-fsyntax-only", path}).output,
              "");
}

}  // namespace
}  // namespace segfold::define_compile_test
