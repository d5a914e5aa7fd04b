// Emitted texts: pure, tidy, with nothing that is not used, and with what a launch needs.
#include "codegen/emit.h"

#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <sstream>

#include "codegen/weave/line_break.h"
#include "codegen/weave/line_map.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "tests/common/brief_tests.h"
#include "tests/common/cpu_time.h"
#include "tests/common/files.h"
#include "tests/common/golden.h"
#include "tests/common/random_operator.h"

namespace segfold::emit_test {
namespace {

constexpr const char* kOperators[] = {"sum_i32",
                                      "mean_variance_f32",
                                      "affine_u32",
                                      "keep_first_i32",
                                      "trace_u64",
                                      "sum_f16",
                                      "max_subarray_i32",
                                      "argmax_f32",
                                      "mean_variance_bf16",
                                      "log_sum_exp_f64",
                                      "all_u8",
                                      "count_i64",
                                      "mean_i16",
                                      "dot_f32"};

/// Every stage with every operator it can serve, over every form and width; a run that draws looks at some
/// of them, all tests at the same ones.
std::vector<std::pair<std::string, Emitted>> everything()
{
    std::vector<std::pair<std::string, Emitted>> all;
    const auto& catalogue = Catalogue::standard();
    for (const auto& stage : catalogue.stages())
        for (const auto form : stage.forms)
            for (const int bits : {32, 64})
                for (const std::string op : kOperators) {
                    const Problem problem(standard_operator(op), form, bits);
                    if (catalogue.unmet(stage, problem))
                        continue;
                    const auto what =
                        stage.name + " " + op + " " + std::string(name(form)) + " " + std::to_string(bits);
                    if (test::is_left_out(what))
                        continue;
                    const auto configuration = default_configuration(stage, plan_facts(problem));
                    all.emplace_back(what, emit(problem, stage, configuration));
                    if (!stage.is_rung)
                        all.emplace_back(what + " at launch",
                                         emit(problem, stage, configuration, catalogue, Numbers::at_launch));
                }
    EXPECT_GE(all.size(), 20u);
    return all;
}

/// A line of a text is that line of the stage or part which it is said to come from.
TEST(Emit, LinesKnowWhereTheyComeFrom)
{
    std::map<std::string, std::vector<std::string>> files;
    const auto line_of = [&](const std::string& origin) {
        const auto colon = origin.rfind(':');
        auto& lines = files[origin.substr(0, colon)];
        if (lines.empty()) {
            std::istringstream text(read_text(SEGFOLD_SOURCE_DIR "/" + origin.substr(0, colon)));
            for (std::string line; std::getline(text, line);)
                lines.push_back(line);
        }
        return lines.at(std::stoul(origin.substr(colon + 1)) - 1);
    };
    for (const auto& [what, emitted] : everything()) {
        std::istringstream text(emitted.source);
        int number = 0, known = 0, kernels = 0;
        for (std::string line; std::getline(text, line);) {
            const auto origin = emitted.lines->origin(++number);
            if (origin.empty())
                continue;
            ++known;
            kernels += line.find("__global__") == std::string::npos ? 0 : 1;
            const auto written = line_of(origin);
            const bool is_number = written.find("//% number") != std::string::npos;
            ASSERT_TRUE(is_number || line == written) << what << " " << number << " " << origin;
        }
        EXPECT_GE(kernels, 1) << what;
        EXPECT_LT(known, number) << what;
        EXPECT_EQ(emitted.lines->origin(number + 2), "") << what;
    }
}

std::string failure(const std::string& stage_text, const std::string& op = "sum_i32")
{
    const TemporaryFolder folder;
    std::filesystem::create_directories(folder.file("stages"));
    std::filesystem::create_directories(folder.file("parts"));
    for (const char* half : {"f16", "bf16"})
        (void)folder.write(std::string("parts/") + half + ".cuh", "struct f {};\n");
    (void)folder.write("stages/x.cu", "//% stage x\n//% title T\n//% layout whole\n" + stage_text);
    try {
        const auto catalogue = Catalogue::from_directory(folder.file(""));
        const auto emitted =
            emit(Problem(standard_operator(op), SegmentForm::whole), catalogue.stage("x"), {}, catalogue);
        std::string parameters;
        for (const auto& launch : emitted.launches)
            for (const auto& parameter : launch.parameters)
                parameters += (parameters.empty() ? "" : " ") + parameter;
        return parameters;
    } catch (const SpecError& error) {
        return error.what();
    }
}

TEST(Emit, SameArgumentsGiveTheSameBytes)
{
    const auto first = everything();
    const auto second = everything();
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i)
        EXPECT_EQ(first[i].second.source, second[i].second.source) << first[i].first;
}

TEST(Emit, TextIsTidy)
{
    for (const auto& [what, emitted] : everything()) {
        const auto& source = emitted.source;
        EXPECT_TRUE(source.ends_with("}\n")) << what;
        EXPECT_EQ(source.find("\n\n\n"), std::string::npos) << what;
        EXPECT_EQ(source.find("{\n\n"), std::string::npos) << what;
        EXPECT_EQ(source.find("\n\n}"), std::string::npos) << what;
        EXPECT_EQ(source.find_first_of("\t\r"), std::string::npos) << what;
        EXPECT_EQ(source.find("//%"), std::string::npos) << what;
        EXPECT_EQ(source.find("#if"), std::string::npos) << what;
        EXPECT_EQ(source.find("#include"), std::string::npos) << what;
        EXPECT_EQ(source.find("template"), std::string::npos) << what;
        for (const auto& line : lines_of(source)) {
            EXPECT_LE(line.size(), 110u) << what << "\n" << line;
            EXPECT_FALSE(line.ends_with(' ')) << what << "\n" << line;
        }
    }
}

/// Identifiers of a text without its comments, and how often each occurs.
std::map<std::string, int> words_of(const std::string& source)
{
    std::map<std::string, int> words;
    for (const auto& line : lines_of(source)) {
        const auto code = line.substr(0, line.find("//"));
        for (std::size_t at = 0; at < code.size(); ++at) {
            const auto begin = at;
            while (at < code.size() &&
                   (std::isalnum(static_cast<unsigned char>(code[at])) || code[at] == '_'))
                ++at;
            if (at > begin)
                ++words[code.substr(begin, at - begin)];
        }
    }
    return words;
}

TEST(Emit, NothingIsDeclaredThatNothingUses)
{
    static const std::regex declared(
        "(?:^|\n)(?:using (\\w+) =|constexpr \\w+ (\\w+) =|struct (\\w+) \\{|__device__ __forceinline__ \\w+ "
        "(\\w+)\\()");
    for (const auto& [what, emitted] : everything()) {
        const auto words = words_of(emitted.source);
        const auto& source = emitted.source;
        for (auto at = std::sregex_iterator(source.begin(), source.end(), declared);
             at != std::sregex_iterator(); ++at)
            for (std::size_t group = 1; group < at->size(); ++group)
                if ((*at)[group].matched) {
                    EXPECT_GE(words.at((*at)[group].str()), 2) << what << ": " << (*at)[group].str();
                }
    }
}

TEST(Emit, HeadingSaysWhatAndHow)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto heading = [&](SegmentForm form, int bits) {
        const auto emitted =
            emit(Problem(standard_operator("sum_i64"), form, bits), stage, configure(stage, {}));
        return emitted.source.substr(0, emitted.source.find("\n//\n"));
    };
    const std::string title = "// thread_per_segment: One thread reduces one segment\n";
    EXPECT_EQ(heading(SegmentForm::whole, 32),
              title + "// One segment, 32-bit indices.\n// block_threads = 256\n// segments_per_thread = 1");
    EXPECT_EQ(
        heading(SegmentForm::uniform, 64),
        title +
            "// Segments of one length, 64-bit indices.\n// block_threads = 256\n// segments_per_thread = 1");
    EXPECT_EQ(heading(SegmentForm::offsets, 32), title +
                                                     "// Segments given as offsets, 32-bit indices.\n// "
                                                     "block_threads = 256\n// segments_per_thread = 1");
    EXPECT_EQ(heading(SegmentForm::keys, 32), title +
                                                  "// Segments given as offsets, 32-bit indices.\n// "
                                                  "block_threads = 256\n// segments_per_thread = 1")
        << "what the host makes of keys for a stage that does not take them";
    Problem problem(standard_operator("sum_i64"), SegmentForm::keys);
    problem.key_bytes = 2;
    const auto& run_stream = Catalogue::standard().stage("run_stream");
    const auto by_keys = emit(problem, run_stream, default_configuration(run_stream));
    EXPECT_EQ(by_keys.form, SegmentForm::keys);
    EXPECT_NE(by_keys.source.find("\n// Segments given as keys of 2 bytes, 32-bit indices.\n"),
              std::string::npos);
    EXPECT_NE(by_keys.source.find("\nusing Key = unsigned short;\n"), std::string::npos);
    const auto source =
        emit(Problem(standard_operator("sum_i64"), SegmentForm::ranges), stage, configure(stage, {})).source;
    EXPECT_NE(
        source.find(
            "//\n// Sum of the values.\n// operator sum(x: i64) -> i64 {\n//   state sum: i64 = 0\n//   lift "
            "x\n"
            "//   combine(a, b) a + b\n//   laws commutative\n// }\n//\n"
            "// Emitted by segfold from kernels/stages/thread_per_segment.cu; edit that file instead.\n\n"),
        std::string::npos);
}

TEST(Emit, TheOperatorInTheHeadingReadsBack)
{
    for (unsigned seed = 1; seed <= 40; ++seed) {
        const auto op = RandomOperator(seed).make();
        const auto& stage = Catalogue::standard().stage("thread_per_segment");
        const auto source = emit(Problem(op, SegmentForm::offsets), stage, configure(stage, {})).source;
        const auto begin = source.find("// operator ");
        std::string text;
        for (const auto& line :
             lines_of(std::string_view(source).substr(begin, source.find("\n// }\n", begin) + 5 - begin)))
            text += line.substr(3) + "\n";
        EXPECT_TRUE(same(parse_operator("heading", text), op)) << text;
    }
}

TEST(Emit, ParametersAreReadByName)
{
    const std::string launch = "//% launch fold grid = 1 block = 32\n";
    const std::string empty = "{\n    store(results, 0, 0, identity());\n}\n";
    EXPECT_EQ(failure(launch + "extern \"C\" __global__ void fold(Inputs inputs, Results results)\n" + empty),
              "inputs results");
    EXPECT_EQ(failure("//% scratch totals : State[4]\n//% scratch ticket : unsigned[1] zero\n" + launch +
                      "// fold(x) is not it, nor is __device__ void fold(int y);\n"
                      "__device__ void warp_fold(int z)\n{\n}\n"
                      "__device__ void other()\n{\n    warp_fold(1);\n}\n"
                      "extern \"C\" __global__ void __launch_bounds__(32)\nfold(Results results,\n     const "
                      "State* __restrict__ "
                      "totals,\n     unsigned* ticket)\n" +
                      empty),
              "results totals ticket");
    EXPECT_EQ(failure(launch + "extern \"C\" __global__ void fold()\n{\n}\n"), "");
}

TEST(Emit, FaultsOfAStageAreNamed)
{
    const std::string launch = "//% launch fold grid = 1 block = 32\n";
    EXPECT_EQ(failure(launch + "extern \"C\" __global__ void folds(Inputs inputs)\n{\n}\n"),
              "stages/x.cu: launches 'fold', but has no such kernel");
    EXPECT_EQ(failure(launch + "__device__ void fold(Inputs inputs)\n{\n}\n"),
              "stages/x.cu: launches 'fold', but has no such kernel");
    EXPECT_EQ(failure(launch + "extern \"C\" __global__ void fold(Inputs inputs, int n)\n{\n}\n"),
              "stages/x.cu: kernel 'fold' has the parameter 'n'; parameters are inputs, segments, results, "
              "the names of scratch buffers, and numbers");
    EXPECT_EQ(failure(launch + "//% use parts/none.cuh\n"), "stages/x.cu:5: unknown part 'parts/none.cuh'");
    EXPECT_EQ(failure(launch + "//% if comutative\n//% end\n"),
              "stages/x.cu:5: in 'comutative': unknown name 'comutative'; did you mean 'commutative'?");
}

TEST(Emit, TextsKnowTheTunablesAndTheSharedMemoryOfTheirLaunch)
{
    const auto stage =
        read_stage("stages/x.cu",
                   "//% stage x\n//% title X\n//% layout offsets\n"
                   "//% tune rows = 0, 2\n"
                   "//% let row_bytes = 3 * state_bytes + element_bytes\n"
                   "//% where rows * row_bytes <= block_shared_bytes\n"
                   "//% launch fold grid = num_elements block = 32 shared = rows * row_bytes\n"
                   "//% if rows > 0\nconstexpr int kBytes = kDynamicSharedBytes + kRows;\n//% end\n"
                   "extern \"C\" __global__ void fold(Inputs inputs)\n{\n}\n");
    const Problem problem(standard_operator("affine_u32"), SegmentForm::offsets);
    const auto with = emit(problem, stage, {{"rows", 2}});
    EXPECT_EQ(with.launches[0].shared_bytes, 2 * (3 * 8 + 8));
    EXPECT_NE(with.source.find("constexpr int kDynamicSharedBytes = 64;\n"), std::string::npos)
        << with.source;
    EXPECT_NE(with.source.find("constexpr int kBytes"), std::string::npos);
    const auto without = emit(problem, stage, {{"rows", 0}});
    EXPECT_EQ(without.launches[0].shared_bytes, 0);
    EXPECT_EQ(without.source.find("kDynamicSharedBytes"), std::string::npos) << without.source;
    EXPECT_EQ(without.sizes.size(), 0u)
        << "the sizes that chose the configuration do not speak of a workload";
}

TEST(Emit, SixteenBitFloatsAreConvertedByWhatTheGpuHas)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    Problem problem(standard_operator("sum", Type::bf16), SegmentForm::offsets);
    EXPECT_NE(emit(problem, stage, default_configuration(stage)).source.find("cvt.rn.bf16.f32"),
              std::string::npos);
    problem.target.has_bf16_conversions = false;
    const auto source = emit(problem, stage, default_configuration(stage)).source;
    EXPECT_EQ(source.find("cvt"), std::string::npos) << source;
    EXPECT_EQ(source.find("//%"), std::string::npos) << source;
}

TEST(Emit, AVeryLongCombineIsCalled)
{
    const auto& catalogue = Catalogue::standard();
    const auto text = [&](const std::string& op, const std::string& stage_name, SegmentForm form) {
        const auto& stage = catalogue.stage(stage_name);
        const Problem problem(standard_operator(op), form);
        return emit(problem, stage, default_configuration(stage, plan_facts(problem))).source;
    };
    const auto count = [](const std::string& source, const std::string& what) {
        std::size_t times = 0;
        for (auto at = source.find(what); at != std::string::npos; at = source.find(what, at + 1))
            ++times;
        return times;
    };
    const std::string called = "__device__ __noinline__ State combine(";
    const std::string copied = "__device__ __forceinline__ State combine(";
    for (const std::string stage : {"thread_per_segment", "block_per_segment", "warp_stream"}) {
        const auto gcd = text("gcd", stage, SegmentForm::offsets);
        EXPECT_EQ(count(gcd, called), 1u) << gcd;
        EXPECT_EQ(count(gcd, copied), 0u) << gcd;
        for (const std::string op : {"sum_f32", "mean_variance_f32", "matrix_3x3"}) {
            const auto other = text(op, stage, SegmentForm::offsets);
            EXPECT_EQ(count(other, called), 0u) << other;
            EXPECT_EQ(count(other, copied), 1u) << other;
        }
    }
}

TEST(Emit, ScratchHasTheSizeOfItsElements)
{
    const auto& stage = Catalogue::standard().stage("tile_scan");
    for (const int bits : {32, 64}) {
        const Problem problem(standard_operator("max_subarray_i32"), SegmentForm::offsets, bits);
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        for (const auto& scratch : emitted.scratch) {
            if (scratch.name == "tile_totals") {
                EXPECT_EQ(scratch.element_bytes, 32);
            } else if (scratch.name == "head_segments") {
                EXPECT_EQ(scratch.element_bytes, bits / 8);
            } else if (scratch.name == "tile_ends") {
                EXPECT_EQ(scratch.element_bytes, 1);
            }
        }
    }
}

TEST(StateBytes, FollowTheLayoutOfAStruct)
{
    const auto bytes = [](const std::string& state) {
        return state_bytes(
            parse_operator("test", "operator t(x: i8) -> i8 { state { " + state +
                                       " } lift { q = x } combine(a, b) { q = a.q } finish q }"));
    };
    EXPECT_EQ(bytes("q: i8 = 0"), 1);
    EXPECT_EQ(bytes("q: i8"), 2) << "the flag of a semigroup counts";
    const auto fields = [](const std::vector<Type>& types, bool identity) {
        Operator op;
        for (const Type type : types)
            op.state.push_back({"f", type, identity ? std::optional(Expression(0)) : std::nullopt, {}});
        return state_bytes(op);
    };
    EXPECT_EQ(fields({Type::i8, Type::i64}, true), 16);
    EXPECT_EQ(fields({Type::i64, Type::i8}, true), 16);
    EXPECT_EQ(fields({Type::i64, Type::i8}, false), 16);
    EXPECT_EQ(fields({Type::i64}, false), 16);
    EXPECT_EQ(fields({Type::f16, Type::i8, Type::i8, Type::bf16}, true), 6);
    EXPECT_EQ(fields({Type::boolean, Type::u16, Type::boolean}, true), 6);
}

TEST(LineBreak, HappensWhereTheFewestParenthesesAreOpen)
{
    EXPECT_EQ(break_lines("short\n", 10), "short\n");
    EXPECT_EQ(break_lines("    return f(a, b) + g(c + d, e);\n", 24),
              "    return f(a, b)\n        + g(c + d, e);\n");
    EXPECT_EQ(break_lines("f(aaaa, bbbb, cccc)\n", 14), "f(aaaa, bbbb,\n    cccc)\n");
    EXPECT_EQ(break_lines("aaaaaaaaaaaaaaaaaaaa\n", 10), "aaaaaaaaaaaaaaaaaaaa\n") << "no place to break";
    EXPECT_EQ(break_lines("// a comment, which is not touched\n", 10),
              "// a comment, which is not touched\n");
    EXPECT_EQ(break_lines("c ? aaaaaa : bbbbbb\n", 12), "c ? aaaaaa\n    : bbbbbb\n");
}

TEST(Emit, DropsLetsThatNothingUsesAndKeepsTheirOrder)
{
    const auto op =
        parse_operator("lets.seg",
                       "operator lets(x: f32) -> f32 { state s: f32 lift { let a = x + 1; let b = a * a; "
                       "let c = a - 1; let d = c * x; s = b } combine(a, b) a }");
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto source = emit(Problem(op, SegmentForm::offsets), stage, configure(stage, {})).source;
    EXPECT_NE(
        source.find("{\n    const float a = x + 1.0f;\n    const float b = a * a;\n    return {b, true};\n}"),
        std::string::npos)
        << source;
}

// The largest operators that check() lets through: one of many lets, one of many fields.
TEST(Emit, LargeOperatorsTakeNoTime)
{
    Operator lets;
    lets.name = "lets";
    lets.parameters = {{"x", Type::f32, false, {}}};
    lets.state = {{"s", Type::f32, std::nullopt, {}}};
    Expression last = make_name("x");
    for (int i = 0; i < 3500; ++i) {
        const auto name = "step_" + std::to_string(i);
        lets.lift.lets.push_back({name, last * 2 + make_name("x"), {}});
        last = make_name(name);
    }
    lets.lift.assignments = {{"s", last, {}}};
    lets.combine.assignments = {{"s", make_field(Operand::earlier, "s"), {}}};
    Operator fields;
    fields.name = "fields";
    fields.parameters = lets.parameters;
    for (std::size_t i = 0; i < kMostFields; ++i) {
        const auto name = "field_" + std::to_string(i);
        fields.state.push_back({name, Type::f32, Expression(0), {}});
        fields.lift.assignments.push_back({name, make_name("x"), {}});
        fields.combine.assignments.push_back(
            {name, make_field(Operand::earlier, name) + make_field(Operand::later, name), {}});
    }
    const auto& stage = Catalogue::standard().stage("warp_per_segment");
    for (const auto& op : {check(lets), check(fields)}) {
        const double seconds = test::cpu_seconds_of([&] {
            EXPECT_FALSE(emit(Problem(op, SegmentForm::offsets), stage, configure(stage, {})).source.empty());
        });
        EXPECT_LT(seconds, 0.5) << op.name;
    }
}

// Emitting is done at every start of the program and thousands of times by a tuner.
TEST(Emit, TakesLessThanFiveMilliseconds)
{
    const auto& stage = Catalogue::standard().stage("tile_scan");
    const Problem problem(standard_operator("mean_variance_f32"), SegmentForm::offsets);
    const auto configuration = default_configuration(stage, plan_facts(problem));
    double best = 1;
    for (int i = 0; i < 20; ++i)
        best = std::min(best, test::cpu_seconds_of(
                                  [&] { EXPECT_FALSE(emit(problem, stage, configuration).source.empty()); }));
    RecordProperty("milliseconds", std::to_string(best * 1e3));
    EXPECT_LT(best, 5e-3);
}

}  // namespace
}  // namespace segfold::emit_test
