// Wrong input of users: each fault has its own message, on standard error only, and exit code 2.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "runtime/backends/thrust/reduce_by_key.h"
#include "runtime/data/formats/npy.h"
#include "tests/cli/cli_program.h"
#include "tests/common/brief_tests.h"
#include "tests/common/cpu_time.h"
#include "tests/common/needs_nvrtc.h"

namespace segfold::test::cli_bad_input_test {
namespace {

/// A command, the whole text that the program writes to standard error, and commands that follow its advice.
struct Case {
    std::string command;
    std::string errors;
    std::vector<std::string> followed;
};

/// Removes blanks at the ends of lines.
std::string without_trailing_blanks(const std::string& text)
{
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        result += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
    return result;
}

/// Reads the cases of a transcript: a line "$ segfold ...", the messages up to an empty line, then lines ">
/// segfold ..." that follow advice. Lines with # are comments.
std::vector<Case> read_cases(const std::string& path)
{
    std::vector<Case> cases;
    std::istringstream lines(read_text(path));
    const std::string prompt = "$ segfold ";
    bool is_open = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(prompt))
            cases.push_back({line.substr(prompt.size()), "", {}});
        else if (is_open && line.starts_with("> segfold "))
            cases.back().followed.push_back(line.substr(prompt.size()));
        else if (is_open && !line.empty())
            cases.back().errors += line + '\n';
        is_open = line.starts_with(prompt) || (is_open && !line.empty());
    }
    return cases;
}

/// Splits a command into words like a shell, with single quotes.
std::vector<std::string> split(const std::string& command)
{
    std::vector<std::string> words(1);
    bool is_quoted = false;
    for (const char c : command)
        if (c == '\'')
            is_quoted = !is_quoted;
        else if (c == ' ' && !is_quoted)
            words.emplace_back();
        else
            words.back() += c;
    return words;
}

/// True if the message contains the word, or an end of it of at least three characters whose begin the
/// refused command has.
bool advises(const Case& refused, const std::string& word)
{
    for (std::size_t cut = 0; cut == 0 || cut + 3 <= word.size(); ++cut)
        if (refused.command.find(word.substr(0, cut)) != std::string::npos &&
            refused.errors.find(word.substr(cut)) != std::string::npos)
            return true;
    return false;
}

/// Returns the words of a command that follows advice. Words that the refused command lacks must be in the
/// message. "where FILE=x.npy, N=3" at the end gives values for placeholders of the message.
std::vector<std::string> words_of_advice(const Case& refused, std::string command)
{
    std::vector<std::pair<std::string, std::string>> filled;
    const auto where = std::min(command.find(" where "), command.size());
    for (auto at = where + 7; at < command.size();) {
        const auto end = std::min(command.find(", ", at), command.size());
        const auto fill = command.substr(at, end - at);
        filled.emplace_back(fill.substr(0, fill.find('=')), fill.substr(fill.find('=') + 1));
        at = end + 2;
    }
    command.resize(where);
    const auto known = split(refused.command);
    auto words = split(command);
    EXPECT_NE(words, known);
    for (auto& word : words) {
        if (std::ranges::find(known, word) != known.end())
            continue;
        EXPECT_TRUE(advises(refused, word)) << "the message does not advise " << word;
        for (const auto& [open, value] : filled)
            for (auto at = word.find(open); at != word.npos; at = word.find(open, at + value.size()))
                word.replace(at, open.size(), value);
    }
    return words;
}

std::string npy(const std::string& dtype, bool fortran, const std::string& shape, const std::string& data)
{
    std::string header = "{'descr': '" + dtype + "', 'fortran_order': " + (fortran ? "True" : "False") +
                         ", 'shape': " + shape + ", }";
    header.append(64 - (10 + header.size() + 1) % 64, ' ').append("\n");
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

constexpr const char* kUnknownField =
    "operator o(x: f32) -> f32 {\n  state { count: i32 = 0; sum: f32 = 0 }\n"
    "  lift { count = 1; sum = x }\n  combine(a, b) { count = a.coutn + b.count; "
    "sum = a.sum + b.sum }\n  finish sum / f32(count)\n}\n";
constexpr const char* kSeveralFaults =
    "operator o(x: f32) -> f32 {\n  state { count: i32 = 0; sum: f32 = 0 }\n  lift { sum = y; count = 1 }\n"
    "  combine(a, b) { count = a.count + b.count; sum += b.sum }\n  finish sum\n}\n";
constexpr const char* kWrongType =
    "operator o(x: f32) -> f32 {\n  state sum: f32 = 0\n  lift i32(x)\n"
    "  combine(a, b) a + b\n}\n";
constexpr const char* kMissingPart = "operator o(x: f32) -> f32 {\n  state sum: f32 = 0\n  lift x\n}\n";
constexpr const char* kUnterminated =
    "operator o(x: f32) -> f32 {\n  state sum: f32 = 0\n  lift x\n  combine(a, b) a + ";
constexpr const char* kGeneric =
    "operator o(x: T) -> T {\n  state sum: T = 0\n  lift x\n  combine(a, b) a + b\n}\n";
constexpr const char* kKeys =
    "operator o(x: i32) -> (keys: i32, sum: i32) {\n  state s: i32 = 0\n  lift x\n  combine(a, b) a + b\n"
    "  finish { keys = s; sum = s }\n}\n";
constexpr const char* kComputedIndex =
    "operator o(x: f32, t: table f32) -> f32 {\n  state sum: f32 = 0\n"
    "  lift t[i32(x) + 1]\n  combine(a, b) a + b\n}\n";
constexpr const char* kGather =
    "operator o(x: i32, t: table f32) -> f32 {\n  state sum: f32 = 0\n"
    "  lift t[x]\n  combine(a, b) a + b\n}\n";
constexpr const char* kRows =
    "operator o(x: row f32) -> f32 {\n  state sum: f32 = 0\n  lift x\n  combine(a, b) a + b\n}\n";
constexpr const char* kTwoColumns =
    "operator o(x: f32, y: f32, most: scalar f32) -> f32 {\n  state sum: f32 = 0\n  lift min(x * y, most)\n"
    "  combine(a, b) a + b\n}\n";
constexpr const char* kStage =
    "//% stage   exchanging\n//% title   Exchanges operands\n//% layout  whole, uniform\n"
    "//% needs   commutative\n//% tune    block_threads = 64, 128\n"
    "//% launch  reduce  grid = 1  block = block_threads\n\nextern \"C\" __global__ void\n"
    "reduce(Inputs inputs, Segments segments, Results results)\n{\n}\n";

class BadInputTest : public testing::Test {
protected:
    void SetUp() override
    {
        write_operators();
        write_arrays();
        write_stage();
    }

    template <class T = std::int32_t>
    void array(const std::string& name, Type type, std::initializer_list<T> values)
    {
        write_npy(folder_.file(name), make_array<T>(type, values));
    }

    void write_operators()
    {
        const auto write = [&](const std::string& name, const std::string& text) {
            (void)folder_.write(name, text);
        };
        write("empty.json", "{}");
        write("unknown_field.seg", kUnknownField);
        write("several_faults.seg", kSeveralFaults);
        write("wrong_type.seg", kWrongType);
        write("missing_part.seg", kMissingPart);
        write("unterminated.seg", kUnterminated);
        write("generic.seg", kGeneric);
        write("keys.seg", kKeys);
        write("computed_index.seg", kComputedIndex);
        write("gather.seg", kGather);
        write("rows.seg", kRows);
        write("two_columns.seg", kTwoColumns);
        write("binary.seg", std::string("\0\xff\xfe", 3));
        std::string fields, lifts, combines;
        for (char c = 'p'; c <= 'x'; ++c) {
            fields += std::string(" ") + c + "_: f64 = 0;";
            lifts += std::string(" ") + c + "_ = x;";
            combines += std::string(" ") + c + "_ = a." + c + "_ + b." + c + "_;";
        }
        write("wide.seg", "operator wide(x: f64) -> f64 {\n  state {" + fields + " }\n  lift {" + lifts +
                              " }\n  combine(a, b) {" + combines + " }\n  finish p_\n}\n");
    }

    void write_arrays()
    {
        const std::string eight(32, '\0');
        array<float>("x.npy", Type::f32, {0, 0, 0, 0, 0, 0, 0, 0});
        array("places.npy", Type::i32, {0, 1, 5, 0, 0, 0, 0, 0});
        array<float>("table.npy", Type::f32, {0, 0, 0, 0});
        array("integers.npy", Type::i32, {0, 1, 2, 3, 4, 5, 6, 7});
        array("decreasing.npy", Type::i32, {0, 5, 3, 8});
        array("beyond.npy", Type::i32, {0, 5, 7, 9});
        array("late.npy", Type::i32, {1, 5, 7, 8});
        array("with_empty.npy", Type::i32, {0, 3, 3, 8});
        array("short_lengths.npy", Type::i32, {1, 2, 3});
        array("negative_lengths.npy", Type::i32, {1, -2, 9});
        array("four_keys.npy", Type::i32, {1, 1, 2, 2});
        array<std::uint8_t>("flags.npy", Type::u8, {0, 0, 0, 0});
        (void)folder_.write("truncated.npy", npy("<f4", false, "(8,)", eight.substr(0, 20)));
        (void)folder_.write("header.npy", npy("<f4", false, "(8,)", eight).substr(0, 30));
        (void)folder_.write("fortran.npy", npy("<f4", true, "(2, 4)", eight));
        (void)folder_.write("rows.npy", npy("<f4", false, "(4, 2)", eight));
        (void)folder_.write("big.npy", npy(">f4", false, "(8,)", eight));
        (void)folder_.write("text.npy", "1 2 3\n");
        (void)folder_.write("labels.txt", "one\ntwo\n");
        (void)folder_.write("real.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0.5\n");
    }

    /// Writes a stage that needs more than the stages of the program.
    void write_stage()
    {
        std::filesystem::create_directories(folder_.file("commuting/stages"));
        (void)folder_.write("commuting/stages/exchanging.cu", kStage);
    }

    ProgramFolder folder_;
};

/// True, and said, for a command that compiles CUDA where there is no compiler.
bool lacks_compiler(const std::string& command)
{
    if ((command.find("--arch") == std::string::npos && command.find(" --for ") == std::string::npos) ||
        has_nvrtc())
        return false;
    std::cout << "left out, as there is no NVRTC: " << command << "\n";
    return true;
}

TEST_F(BadInputTest, EveryCaseHasItsMessageAndEndsWithTwo)
{
    const auto cases = read_cases(SEGFOLD_SOURCE_DIR "/tests/cli/bad_input.txt");
    ASSERT_GE(cases.size(), 100u);
    for (const auto& [command, errors, followed] : cases) {
        if (lacks_compiler(command))
            continue;
        SCOPED_TRACE(command);
        const auto result = folder_.run(split(command));
        EXPECT_EQ(without_trailing_blanks(result.errors), errors);
        EXPECT_EQ(result.output.empty(), command.find("--json") == std::string::npos);
        EXPECT_EQ(result.exit_code, 2);
    }
}

TEST_F(BadInputTest, AdviceCanBeFollowed)
{
    test::compile_briefly();
    test::Draw draw;
    for (const auto& refused : read_cases(SEGFOLD_SOURCE_DIR "/tests/cli/bad_input.txt"))
        for (const auto& command : refused.followed) {
            if (!draw.takes(command) || lacks_compiler(command))
                continue;
            SCOPED_TRACE(command);
            const auto result = folder_.run(words_of_advice(refused, command));
            EXPECT_EQ(result.exit_code, 0) << result.errors;
        }
}

TEST_F(BadInputTest, MoreElementsThanMemoryAreRefused)
{
    const auto result = folder_.run({"run", "sum", "--elements", "2^40"});
    EXPECT_TRUE(result.errors.starts_with(
        "segfold: 1099511627776 elements of 4 bytes each need 4398 GB of memory, and "))
        << result.errors;
    EXPECT_EQ(result.exit_code, 2);
}

/// The layout alone gives the number of elements. The bytes of 2^62 numbers exceed 64 bits.
TEST_F(BadInputTest, MoreElementsInALayoutThanMemoryAreRefused)
{
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"offsets=[0,4611686018427387904]",
         "4611686018427387904 elements of 4 bytes each need 18446744074 GB"},
        {"lengths=[2^62]", "4611686018427387904 elements of 4 bytes each need 18446744074 GB"},
        {"lengths=[2^40,2^40]", "2199023255552 elements of 4 bytes each need 8796 GB"},
        {"ranges=[0,5],[2^62,7]", "4611686018427387904 elements of 4 bytes each need 18446744074 GB"}};
    for (const auto& [layout, needs] : cases)
        for (const auto* verb : {"run", "check"}) {
            SCOPED_TRACE(layout);
            const auto result = folder_.run({verb, "sum", "--backend", "simt", "--layout", layout});
            EXPECT_TRUE(result.errors.starts_with(
                fmt::format("segfold: layout '{}': {} of memory, and ", layout, needs)))
                << result.errors;
            EXPECT_TRUE(result.errors.ends_with(" are at hand; take fewer elements\n")) << result.errors;
            EXPECT_EQ(result.exit_code, 2);
        }
}

TEST_F(BadInputTest, LongUniformSegmentsAreNoFault)
{
    for (const auto* verb : {"stages", "emit"}) {
        const auto result = folder_.run({verb, "sum", "--layout", "uniform=9223372036854775807"});
        EXPECT_EQ(result.errors, "");
        EXPECT_EQ(result.exit_code, 0);
    }
}

/// simt keeps a cell of 32 bytes for each word: the columns fit into memory, and the cells do not.
TEST_F(BadInputTest, MoreThanTheBackEndsMemoryIsRefused)
{
    const auto script = folder_.write(
        "limited.sh", "ulimit -v 12000000; exec '" SEGFOLD_PROGRAM
                      "' run sum --elements 2^29 --backend simt --layout whole 2> limited.errors\n");
    const auto status = std::system(("cd '" + folder_.file("") + "' && sh '" + script + "'").c_str());
    EXPECT_EQ(WEXITSTATUS(status), 2);
    const auto errors = read_text(folder_.file("limited.errors"));
    EXPECT_TRUE(errors.starts_with("segfold: ")) << errors;
    EXPECT_NE(errors.find("; take fewer elements"), errors.npos) << errors;
}

/// The columns and the results fit; the keys and states that Thrust makes of them on the host do not.
TEST_F(BadInputTest, MoreThanTheCheckCopiesIsRefused)
{
    if (!thrust_available(ThrustSystem::cpu))
        GTEST_SKIP() << thrust_unavailable_reason(ThrustSystem::cpu);
    const auto run = [&](const std::string& flag) {
        const auto script = folder_.write(
            "limited.sh", "export CUDA_VISIBLE_DEVICES=; ulimit -v 500000; exec '" SEGFOLD_PROGRAM
                          "' run sum --elements 2^24 --backend reference --layout uniform=16 --show 1 " +
                              flag + " > limited.output 2> limited.errors\n");
        return WEXITSTATUS(std::system(("cd '" + folder_.file("") + "' && sh '" + script + "'").c_str()));
    };
    EXPECT_EQ(run(""), 0) << read_text(folder_.file("limited.errors"));
    EXPECT_EQ(run("--check"), 2);
    const auto errors = read_text(folder_.file("limited.errors"));
    EXPECT_TRUE(
        errors.starts_with("segfold: results of 16777216 elements in 1048576 segments and their "
                           "check need 679 MB of memory, and "))
        << errors;
    EXPECT_TRUE(errors.ends_with(" are at hand; take fewer elements\n")) << errors;
}

/// Texts that make careless parsers recurse, allocate or print without limit.
TEST_F(BadInputTest, HugeTextsAreRefusedAtOnce)
{
    const auto in_operator = [](const std::string& expression) {
        return "operator o(x: i32) -> i32 {\n  state s: i32 = 0\n  lift x\n  combine(a, b) " + expression +
               "\n}\n";
    };
    const auto repeat = [](const std::string& text, std::size_t count) {
        std::string all;
        for (std::size_t i = 0; i < count; ++i)
            all += text;
        return all;
    };
    const std::size_t many = 300000;
    const std::vector<std::string> texts = {
        in_operator(repeat("(", many) + "a" + repeat(")", many)),
        in_operator(repeat("-", many) + "a"),
        in_operator(repeat("!", many) + "a"),
        in_operator("a" + repeat(" + b", many / 2)),
        in_operator(repeat("min(a, ", many / 3) + "b" + repeat(")", many / 3)),
        in_operator(repeat("a > b ? a : ", many / 5) + "b"),
        repeat("#", 2 * 1024 * 1024),
        "operator " + repeat("o", 1024 * 1024 - 100),
        repeat("{", many),
    };
    for (const auto& text : texts) {
        SCOPED_TRACE(text.substr(0, 120));
        (void)folder_.write("huge.seg", text);
        ProgramResult result;
        EXPECT_LT(cpu_seconds_of([&] { result = folder_.run({"run", "huge.seg"}); }), 2);
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_TRUE(result.errors.starts_with("segfold: huge.seg:")) << result.errors.substr(0, 200);
        EXPECT_LT(result.errors.size(), 1000u);
    }
}

/// Huge arguments; the system allows 128 KiB each.
TEST_F(BadInputTest, HugeArgumentsAreRefusedAtOnce)
{
    const std::string long_word(100000, 'z');
    const std::vector<std::vector<std::string>> commands = {
        {"run", "--op", std::string(50000, '(') + "a" + std::string(50000, ')')},
        {"run", "--op", "a" + std::string(100000, '-')},
        {"run", long_word},
        {long_word},
        {"run", "sum", "--" + long_word},
        {"run", "sum", "--layout", long_word},
        {"run", "sum", "--stage", long_word},
        {"run", "sum", "--elements", long_word},
        {"run", "sum", "--type", long_word},
        {"run", "sum", "--set", long_word},
        {"run", "sum", "--input", long_word + "=x"},
        {"run", "sum", "--sort", long_word},
        {"help", long_word},
    };
    for (const auto& command : commands) {
        const auto result = folder_.run(command);
        SCOPED_TRACE(command[0].substr(0, 20) + " " + command.back().substr(0, 20));
        EXPECT_EQ(result.exit_code, 2);
        EXPECT_TRUE(result.errors.starts_with("segfold: ")) << result.errors.substr(0, 200);
        EXPECT_LT(result.errors.size(), 2000u) << result.errors.substr(0, 200);
    }
}

}  // namespace
}  // namespace segfold::test::cli_bad_input_test
