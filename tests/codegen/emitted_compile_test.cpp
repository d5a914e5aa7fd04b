// Emitted texts are accepted by NVRTC and by nvcc without a word, for every architecture that the project
// promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>

#include "codegen/emit.h"
#include "codegen/in_namespace.h"
#include "codegen/section/operator_section.h"
#include "dsl/check/check.h"
#include "dsl/text/parser.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/compile/compile.h"
#include "runtime/backends/cuda/library.h"
#include "runtime/support/processes/process.h"
#include "tests/common/brief_tests.h"
#include "tests/common/files.h"
#include "tests/common/generated_text.h"
#include "tests/common/hostile_operator.h"
#include "tests/common/needs_nvrtc.h"
#include "tests/common/random_operator.h"
#include "tests/common/stage_cases.h"
#include "tests/common/taken_names.h"

namespace segfold::emitted_compile_test {
namespace {

const std::vector<std::string> kGolden = {"sum_i32", "mean_variance_f32", "affine_u32", "keep_first_i32"};
const std::vector<std::string> kMore = {"trace_u64", "max_subarray_i32",   "sum_f16",         "argmax_f32",
                                        "dot_bf16",  "mean_variance_bf16", "log_sum_exp_f64", "all_i8"};

class EmittedNarrow : public test::NeedsNvrtc {};

struct Text {
    std::string what;  ///< for messages
    Emitted emitted;
};

std::string describe(const Stage& stage, const std::string& op, SegmentForm form, int bits)
{
    return stage.name + "." + op + "." + std::string(name(form)) + "." + std::to_string(bits) + ".cu";
}

/// What is looked at: every form and width, or one form with 32-bit indices; with the rungs or without.
struct Extent {
    bool all_forms = false;
    bool rungs = true;
    /// Every second of the operators that a stage serves in a form and width, from the first or the second on
    /// by turns; the number that turns begin with. Nothing: all operators.
    std::optional<std::size_t> turn = {};
};

/// Every stage with the operators it can serve.
std::vector<Text> texts(const std::vector<std::string>& operators, Extent extent, const Target& target = {})
{
    std::vector<Text> result;
    const auto& catalogue = Catalogue::standard();
    const auto add = [&](const Stage& stage, SegmentForm form, int bits, std::size_t turn) {
        std::vector<std::pair<std::string, Problem>> served;
        for (const auto& op : operators) {
            Problem problem(standard_operator(op), form, bits);
            problem.target = target;
            if (!catalogue.unmet(stage, problem))
                served.emplace_back(op, std::move(problem));
        }
        const bool takes_turns = extent.turn && served.size() > 1;
        for (std::size_t i = takes_turns ? turn % 2 : 0; i < served.size(); i += takes_turns ? 2 : 1) {
            const auto& [op, problem] = served[i];
            result.push_back({describe(stage, op, form, bits),
                              emit(problem, stage, default_configuration(stage, plan_facts(problem)))});
        }
    };
    auto turn = extent.turn.value_or(0);
    for (const auto& stage : catalogue.stages()) {
        ++turn;
        if (stage.is_rung && !extent.rungs)
            continue;
        for (std::size_t i = 0; i < stage.forms.size(); ++i)
            for (const int bits : {32, 64}) {
                const auto form = stage.forms[i];
                const bool usual = bits == 32 && (form == SegmentForm::offsets || i == 0);
                if ((extent.all_forms && !stage.is_rung) || usual)
                    add(stage, form, bits, turn + i + (bits == 64 ? 1 : 0));
            }
    }
    return result;
}

class EmittedCompile : public test::NeedsNvrtc {
protected:
    static void SetUpTestSuite() { cuda::keep_memory_for_compilations(); }

    /// Compiles all that are drawn; expects silence and every launched kernel. Records the times and how many
    /// kernels spill.
    void compile_silently(std::vector<Text> list, const std::string& architecture,
                          const std::vector<std::string>& options = {})
    {
        const auto known = cuda::supported_architectures();
        if (std::ranges::find(known, architecture) == known.end())
            GTEST_SKIP() << "NVRTC " << cuda::nvrtc().version() << " does not know " << architecture;
        test::Draw draw;
        std::erase_if(list, [&](const Text& text) { return !draw.takes(text.what); });
        if (list.empty())
            return;
        std::vector<cuda::CompileRequest> requests;
        for (const auto& text : list)
            requests.push_back({text.emitted.source, text.what, architecture, options});
        const auto compiled = cuda::compile_many(requests, 2);
        std::vector<std::pair<double, std::string>> seconds;
        int spilling = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            EXPECT_EQ(compiled[i].log, "") << list[i].what;
            for (const auto& launch : list[i].emitted.launches)
                EXPECT_TRUE(std::ranges::find(compiled[i].resources, launch.kernel,
                                              &cuda::KernelResources::kernel) != compiled[i].resources.end())
                    << list[i].what << " has no kernel " << launch.kernel;
            spilling += static_cast<int>(std::ranges::count_if(
                compiled[i].resources, [](const auto& kernel) { return kernel.spill_store_bytes > 0; }));
            seconds.emplace_back(compiled[i].seconds, list[i].what);
        }
        std::ranges::sort(seconds);
        RecordProperty("programs", static_cast<int>(list.size()));
        RecordProperty("spilling_kernels", spilling);
        RecordProperty("median_milliseconds", std::to_string(seconds[seconds.size() / 2].first * 1e3));
        RecordProperty("worst_milliseconds", std::to_string(seconds.back().first * 1e3));
        RecordProperty("worst", seconds.back().second);
    }
};

/// An operator whose state has so many bytes, and that reads lengths where asked.
Operator of_state_bytes(int bytes, bool uses_length)
{
    std::string state, lift, combine;
    for (int i = 0; i < bytes; ++i) {
        state += fmt::format("part{}: i8 = 0; ", i);
        lift += fmt::format("part{} = x; ", i);
        combine += fmt::format("part{0} = a.part{0} + b.part{0}; ", i);
    }
    return parse_operator(
        "wide.seg",
        fmt::format("operator wide(x: i8) -> i32 {{\n  state {{ {}}}\n  lift {{ {}}}\n  combine(a, b) {{ "
                    "{}}}\n  finish {{ result = i32(part0){} }}\n}}\n",
                    state, lift, combine, uses_length ? " + i32(length)" : ""));
}

/// What a run takes by flags and keys fits into static shared memory, whatever the size of the state.
TEST_F(EmittedCompile, TilesOfStatesOfAnySizeFit)
{
    const auto& stage = Catalogue::standard().stage("run_tiles");
    std::vector<Text> list;
    for (int bytes = 1; bytes <= 48; ++bytes)
        for (const bool uses_length : {false, true})
            for (const auto form : {SegmentForm::flags, SegmentForm::keys}) {
                const Problem problem(of_state_bytes(bytes, uses_length), form);
                std::set<std::string> known;
                for (const std::int64_t elements :
                     {0, 1 << 17, 1 << 19, 800000, 1 << 20, 1600000, 1900000, 1 << 21}) {
                    const auto configuration =
                        default_configuration(stage, plan_facts(problem, {elements, elements / 8}));
                    // Each is allowed; of some sizes the largest are compiled.
                    const bool is_tried = bytes <= 5 || bytes == 8 || bytes == 9 || bytes % 12 == 0;
                    const bool is_worst = uses_length && form == SegmentForm::keys;
                    if (known.insert(print(configuration)).second && is_tried && is_worst)
                        list.push_back({fmt::format("{} bytes, {} elements", bytes, elements),
                                        emit(problem, stage, configuration)});
                }
            }
    const Problem copied(standard_operator("sum_f32"), SegmentForm::keys);  // by three slices a warp
    const auto slices = default_configuration(stage, plan_facts(copied, {4300000, 537500}));
    list.push_back({"copied items", emit(copied, stage, slices)});
    compile_silently(list, "sm_90");
}

/// Most of what sm_90 shows of a text needs no second look: other architectures say whether they accept it,
/// which takes two thirds of the time where NVRTC optimises little. Older NVRTCs do not know how.
std::vector<std::string> quick_options()
{
    const std::vector<std::string> options = {"--Ofast-compile=max"};
    const bool knows =
        cuda::try_compile({"__global__ void nothing() {}", "quick.cu", "compute_90", options}).has_value();
    return knows ? options : std::vector<std::string>();
}

/// The bytes of shared memory that the kernels of a PTX text declare.
std::int64_t shared_bytes(const std::string& ptx)
{
    static const std::regex declaration(
        R"(\.shared \.align \d+ \.b8 \w+\[(\d+)\];|\.shared \.align \d+ \.[bus](\d+) \w+;)");
    std::int64_t total = 0;
    for (std::sregex_iterator found(ptx.begin(), ptx.end(), declaration), end; found != end; ++found)
        total += (*found)[1].matched ? std::stoll((*found)[1]) : std::stoll((*found)[2]) / 8;
    return total;
}

/// The keys that warps hold take what the rest leaves: states of 5 and 6 bytes once left less than was taken.
TEST_F(EmittedCompile, HeldKeysFitBesideStatesOfAnySize)
{
    const auto& stage = Catalogue::standard().stage("run_stream");
    std::vector<cuda::CompileRequest> requests;
    for (test::Draw draw;
         const int bytes : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 20, 24, 32, 48, 64})
        for (const bool uses_length : {false, true})
            for (const int key_bytes : {4, 8}) {
                const auto what = fmt::format("{} bytes, keys of {}, {}", bytes, key_bytes, uses_length);
                if (!draw.takes(what))
                    continue;
                Problem problem(of_state_bytes(bytes, uses_length), SegmentForm::keys);
                problem.key_bytes = key_bytes;
                const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
                requests.push_back({emitted.source, what, "compute_90", quick_options()});
            }
    const auto compiled = cuda::compile_many(requests, 2);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const std::string ptx(compiled[i].cubin.begin(), compiled[i].cubin.end());
        EXPECT_GT(shared_bytes(ptx), 20000) << requests[i].name << ": what is declared was not found";
        EXPECT_LE(shared_bytes(ptx), 48 * 1024) << requests[i].name;
    }
}

TEST_F(EmittedCompile, EveryFormAndWidthCompilesInSilence)
{
    compile_silently(
        texts({"sum_i32", "keep_first_i32", "affine_u32", "argmax_f32"}, {.all_forms = true, .turn = 0}),
        "sm_90");
}

TEST_F(EmittedCompile, MoreOperatorsCompileInSilence)
{
    compile_silently(texts(kGolden, {}), "sm_90");
    compile_silently(texts(kMore, {.rungs = false, .turn = 0}), "sm_90");
}

constexpr const char* kArchitectures[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120"};

class EmittedArchitecture : public EmittedCompile, public testing::WithParamInterface<const char*> {};

TEST_P(EmittedArchitecture, CompilesInSilence)
{
    const std::string architecture = GetParam();
    Target target = architecture == "sm_75" ? Target{false, false, 64 * 1024} : Target{};
    target.compute_capability = std::stoi(architecture.substr(3));
    // Of the two that are next of kin to others, what ladders are built of is not compiled again. All meet
    // all operators on sm_90, and on the oldest architecture, which has other texts.
    const bool is_kin = architecture == "sm_86" || architecture == "sm_89";
    const std::size_t number = std::ranges::find(kArchitectures, architecture) - std::begin(kArchitectures);
    compile_silently(
        texts(kGolden, {.rungs = !is_kin, .turn = number == 0 ? std::nullopt : std::optional(number)},
              target),
        architecture, quick_options());
}

INSTANTIATE_TEST_SUITE_P(EmittedCompile, EmittedArchitecture, testing::ValuesIn(kArchitectures),
                         [](const auto& info) { return std::string(info.param); });

TEST_F(EmittedCompile, ConfigurationsCompileInSilence)
{
    std::vector<Text> list;
    for (const auto& stage : Catalogue::standard().stages()) {
        const Problem problem(standard_operator("affine_u32"), stage.forms.back());
        if (!Catalogue::standard().unmet(stage, problem))
            for (const auto& configuration : test::some_configurations(stage, problem, stage.is_rung ? 2 : 8))
                list.push_back(
                    {stage.name + "." + print(configuration), emit(problem, stage, configuration)});
    }
    compile_silently(list, "sm_90");
}

TEST_F(EmittedCompile, TextsWithNumbersAtLaunchCompileInSilence)
{
    std::vector<Text> list;
    for (const auto& stage : Catalogue::standard().stages())
        for (const std::string op :
             {"sum_f16", "argmax_f32", "affine_u32", "mean_variance_f32", "trace_u64"}) {
            const int bits = op == "trace_u64" ? 64 : 32;
            const Problem problem(standard_operator(op), stage.forms.back(), bits);
            if (!stage.is_rung && !Catalogue::standard().unmet(stage, problem))
                list.push_back({stage.name + "." + op + ".at_launch.cu",
                                emit(problem, stage, default_configuration(stage, plan_facts(problem)),
                                     Catalogue::standard(), Numbers::at_launch)});
        }
    compile_silently(list, "sm_90");
}

TEST_F(EmittedCompile, NamesThatOthersHaveTakenStayUsable)
{
    std::vector<Text> list;
    const auto op = parse_operator("names.seg", kTakenNames);
    for (const auto& stage : Catalogue::standard().stages()) {
        const Problem problem(op, stage.forms.back());
        if (!Catalogue::standard().unmet(stage, problem))
            list.push_back(
                {stage.name, emit(problem, stage, default_configuration(stage, plan_facts(problem)))});
    }
    compile_silently(list, "sm_90");
}

TEST_F(EmittedCompile, EveryTakenNameStaysUsable)
{
    std::vector<Operator> operators;
    for (const auto& text : operators_with(hostile_names()))
        operators.push_back(parse_operator("taken", text));
    std::vector<cuda::CompileRequest> requests = {
        {generated_text(operators), "taken.cu", "compute_90", {"--std=c++17"}},
        {generated_text(operators), "taken.cu", "compute_90", {"--std=c++20"}}};
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    std::mt19937 random(11);
    for (int i = 0; i < 4; ++i) {
        const Problem problem(parse_operator("hostile", hostile_operator(random, hostile_names())),
                              SegmentForm::offsets);
        requests.push_back({emit(problem, stage, default_configuration(stage, plan_facts(problem))).source,
                            "hostile.cu",
                            "compute_90",
                            {}});
    }
    EXPECT_EQ(cuda::compile_many(requests, 2).size(), requests.size());
}

TEST_F(EmittedCompile, CheckedReadsOfTablesCompileInSilence)
{
    std::vector<Text> list;
    const auto op = parse_operator("names.seg", kTakenNames);
    for (const auto& stage : Catalogue::standard().stages()) {
        Problem problem(op, stage.forms.back());
        problem.checked_tables = {"fmin"};
        if (!stage.is_rung && !Catalogue::standard().unmet(stage, problem))
            list.push_back(
                {stage.name, emit(problem, stage, default_configuration(stage, plan_facts(problem)))});
    }
    compile_silently(list, "sm_90");
}

// What a random operator says may well deserve a warning (x >= 0 of an unsigned x); an error it never
// deserves.
TEST_F(EmittedCompile, RandomOperatorsCompile)
{
    const auto& stage = Catalogue::standard().stage("warp_per_segment");
    std::vector<cuda::CompileRequest> requests;
    for (unsigned seed = 1; seed <= 24; ++seed) {
        const Problem problem(RandomOperator(seed).make(), SegmentForm::offsets, seed % 2 == 0 ? 64 : 32);
        requests.push_back({emit(problem, stage, default_configuration(stage, plan_facts(problem))).source,
                            "random.cu",
                            "sm_90",
                            {}});
    }
    EXPECT_EQ(cuda::compile_many(requests, 2).size(), requests.size());
}

/// An operator with a state of random fields, a semigroup or a monoid.
Operator with_random_state(std::mt19937& random)
{
    Operator op;
    op.name = "random_state";
    op.parameters = {{"x", Type::u8, false, {}}};
    const bool identity = random() % 2 == 0;
    for (unsigned i = 0, fields = 1 + random() % 6; i < fields; ++i) {
        const Type type = kTypes[random() % kTypes.size()];
        const auto field = "f" + std::to_string(i) + "_";
        const auto zero = convert(type, convert(Type::u8, Expression(0)));
        op.state.push_back({field, type, identity ? std::optional(zero) : std::nullopt, {}});
        op.lift.assignments.push_back({field, convert(type, make_name("x")), {}});
        op.combine.assignments.push_back({field, make_field(Operand::earlier, field), {}});
    }
    return check(std::move(op));
}

TEST_F(EmittedCompile, StatesHaveTheSizeThatIsAllocatedForThem)
{
    std::mt19937 random(3);
    std::string aliases, states;
    for (int i = 0; i < 200; ++i) {
        const Problem problem(with_random_state(random), SegmentForm::whole);
        const auto bytes = state_bytes(problem.op);
        aliases.clear();
        for (const auto& piece :
             operator_section(problem, {}, [&](std::string_view path) { return part_text(path, problem); })) {
            if (piece.kind == Piece::Kind::alias || piece.name == "f16" || piece.name == "bf16")
                aliases += piece.text;
            if (piece.name == "State")
                states += "namespace n" + std::to_string(i) + " {\n" + piece.text +
                          "static_assert(sizeof(State) == " + std::to_string(bytes) + ");\n}\n";
        }
    }
    const auto compiled = cuda::compile(
        {aliases + states + "extern \"C\" __global__ void none()\n{\n}\n", "states.cu", "sm_90", {}});
    EXPECT_EQ(compiled.log, "");
}

/// The first that is there and runs; a script that starts a toolkit which is gone does not.
std::optional<std::string> find_nvcc()
{
    std::vector<std::string> candidates = {"nvcc"};
    for (const char* variable : {"SEGFOLD_TOOLKIT", "CUDA_HOME"})
        if (const char* folder = std::getenv(variable))
            candidates.push_back(std::string(folder) + "/bin/nvcc");
    candidates.insert(candidates.end(),
                      {"/usr/local/cuda/bin/nvcc", SEGFOLD_SOURCE_DIR "/.toolkit/bin/nvcc"});
    for (const auto& candidate : candidates)
        if (const auto path = find_program(candidate); path && run_process({*path, "--version"}).status == 0)
            return path;
    return std::nullopt;
}

/// Arithmetic in which NVRTC finds negations and absolute values of 16 bits where nothing hides them.
constexpr const char* kNarrowArithmetic = R"(operator narrow(x: i16, y: i8, z: u16, n: i32) {
  state {
    a: i32; b: i32; c: i16; d: i16; e: bool; f: i64; g: i16; h: i32; j: i32; k: i32; l: i16; m: i32; o: i16;
    p: f32; q: i32
  }
  lift {
    a = i32(-x); b = i32(abs(x)); c = max(x, -x); d = -x >> 3; e = ~x + 1 < 5; f = i64(x * -4);
    g = i16(i8(-x)); h = i32(i16(-n)); j = -i32(x) << 16 >> 16; k = i32(x / -1); l = i16(-y); m = i32(i16(-z));
    o = i16(i8(x) * i8(x) - y); p = f32(i8(-(y * 3))); q = i32(x - i16(z) - x)
  }
  combine(r, s) {
    a = s.a; b = s.b; c = s.c; d = s.d; e = s.e; f = s.f; g = s.g; h = s.h; j = s.j; k = s.k; l = s.l; m = s.m;
    o = s.o; p = s.p; q = s.q
  }
})";

/// Sums that are tested for zero, which is a comparison with a negation.
constexpr const char* kNarrowSums = R"(operator sums(x: i16, y: u16, z: u8) {
  state { a: bool; b: bool; c: i16; d: bool; e: u16; f: bool; g: bool; h: i32; j: bool; k: bool }
  lift {
    a = bool(x + x); b = y + 7 > 0; c = x + i16(y); d = z + u8(y) == 0; e = y + u16(z); f = bool(f32(x + i16(y)));
    g = f16(y + u16(x)) != 0; h = popcount(x + i16(y)) == 0 ? 3 : 4; j = bool(u8(y + u16(x))); k = x + i16(z) != 0
  }
  combine(s, t) {
    let sum = s.c + t.c;
    let other = s.e + t.e;
    a = sum == 0; b = other > 0; c = sum; d = bool(other); e = other; f = s.f; g = s.g; h = s.h; j = t.j;
    k = s.c + t.c == 0
  }
})";

// ptxas widens what these instructions give as if it had not wrapped.
TEST_F(EmittedNarrow, HasNoSixteenBitNegationOnAnyArchitecture)
{
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    for (const auto* op : {kNarrowArithmetic, kNarrowSums}) {
        const Problem problem(parse_operator("narrow.seg", op), SegmentForm::offsets);
        const auto emitted = emit(problem, stage, default_configuration(stage));
        for (const auto& architecture : cuda::supported_architectures()) {
            const auto text = cuda::ptx({emitted.source, "narrow.cu", architecture, {}});
            EXPECT_NE(text.find(".entry"), std::string::npos) << architecture;
            for (const auto* instruction : {"neg.s16", "abs.s16", "sub.s16"})
                EXPECT_EQ(text.find(instruction), std::string::npos)
                    << instruction << " for " << architecture;
        }
    }
}

// Uses of -x and ~x, enough for NVRTC to make one of the other; then it takes widened -x for widened ~x
// plus 1.
TEST_F(EmittedNarrow, WidensNegationsOfIntsThemselves)
{
    const auto op = parse_operator("wide.seg", R"(operator wide(x: i32) {
  state { a: u64; b: bf16; c: f32; d: f64; e: i8; f: u64; g: f16; h: bf16; j: f32; k: i64; l: u8 }
  lift {
    a = u64(~x); b = bf16(~x); c = f32(~x); d = f64(~x); e = i8(-x); f = u64(-x); g = f16(-x); h = bf16(-x);
    j = f32(-x); k = i64(i32(-bf16(x))); l = u8(i32(-bf16(x)))
  }
  combine(s, t) {
    a = s.a; b = s.b; c = s.c; d = s.d; e = s.e; f = s.f; g = s.g; h = s.h; j = s.j; k = s.k; l = s.l
  }
})");
    const auto& stage = Catalogue::standard().stage("thread_per_segment");
    const auto emitted = emit(Problem(op, SegmentForm::offsets), stage, default_configuration(stage));
    const std::regex plus_one(R"(cvt\.s64\.s32\s+(%rd\d+), %r\d+;\s+add\.s64\s+%rd\d+, \1, 1;)");
    for (const auto& architecture : cuda::supported_architectures()) {
        const auto text = cuda::ptx({emitted.source, "wide.cu", architecture, {}});
        EXPECT_NE(text.find(".entry"), std::string::npos) << architecture;
        EXPECT_FALSE(std::regex_search(text, plus_one)) << architecture;
    }
}

// One file of all goldens, each in a namespace of its own: nvcc takes seconds to start. NVRTC's compilations
// have had the machine code of all.
TEST(EmittedNvcc, AcceptsEveryGoldenWithoutAWarning)
{
    const auto nvcc = find_nvcc();
    if (!nvcc)
        GTEST_SKIP() << "no nvcc on PATH, in SEGFOLD_TOOLKIT, CUDA_HOME, /usr/local/cuda or .toolkit";
    std::string all;
    for (test::Draw draw; const auto& text : texts(kGolden, {}))
        if (draw.takes(text.what))
            all += in_namespace(text.emitted.source, std::regex_replace(text.what, std::regex("\\."), "_"));
    const TemporaryFolder folder;
    const auto file = folder.write("goldens.cu", all);
    const auto result = run_process({*nvcc, "-ptx", "-arch=compute_90", "-Werror", "all-warnings", "-o",
                                     folder.file("goldens.ptx"), file});
    EXPECT_EQ(result.status, 0) << result.output;
    EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace segfold::emitted_compile_test
