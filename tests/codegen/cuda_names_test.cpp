// Which names of users are changed in CUDA text: all that whatever is compiled with it has taken. The lists
// come from compilers, headers and texts as they are here, so that a name that is new to one of them is
// found.
#include "codegen/print/cuda_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "codegen/emit.h"
#include "codegen/peers/peer.h"
#include "codegen/section/operator_section.h"
#include "codegen/section/tile_section.h"
#include "codegen/weave/mention.h"
#include "dsl/text/standard_operators.h"
#include "runtime/backends/cuda/compile/compile_batch.h"
#include "runtime/measure/bench/peers/peer_library.h"
#include "runtime/simt/program.h"
#include "runtime/support/processes/process.h"
#include "tests/common/files.h"
#include "tests/common/generated_text.h"
#include "tests/common/hostile_operator.h"
#include "tests/common/random_operator.h"

namespace segfold::cuda_names_test {
namespace {

namespace fs = std::filesystem;

/// Whether emitted text may hold `name` as it is because a user called something so.
bool stays(const std::string& name) { return is_name_of_users(name) && cuda_identifier(name) == name; }

std::set<std::string> staying(const auto& names)
{
    std::set<std::string> result;
    for (const auto& name : names)
        if (stays(name))
            result.insert(name);
    return result;
}

/// The macros that `#define` lines define.
Identifiers macros_of(std::string_view text)
{
    constexpr std::string_view kDefine = "#define ";
    Identifiers macros;
    for (auto at = text.find(kDefine); at != std::string_view::npos; at = text.find(kDefine, at + 1)) {
        const auto rest = text.substr(at + kDefine.size());
        macros.emplace(
            rest.substr(0, static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin())));
    }
    return macros;
}

/// What a preprocessor makes of `text`; nothing where the program is missing.
std::string preprocessed(std::vector<std::string> command, const std::string& text)
{
    const auto program = find_program(command[0]);
    if (!program)
        return "";
    command[0] = *program;
    const TemporaryFolder folder;
    command.push_back(folder.write("text.cu", text));
    const auto result = run_process(command);
    EXPECT_EQ(result.status, 0) << result.output;
    return result.output;
}

TEST(CudaNames, MostNamesStayAsTheyAre)
{
    for (const char* name : {"x", "a", "b", "sum", "value", "mean", "m2", "count", "best_place", "knee",
                             "own", "owner", "owning", "x_y", "topic", "cudnn", "half"})
        EXPECT_EQ(cuda_identifier(name), name);
}

TEST(CudaNames, TakenNamesAreChanged)
{
    const std::map<std::string, std::string> expected = {{"copy_tile", "copy_tile_"},
                                                         {"take_items", "take_items_"},
                                                         {"int", "int_"},
                                                         {"floorf", "floorf_"},
                                                         {"to_f32", "to_f32_"},
                                                         {"kNan", "kNan_"},
                                                         {"linux", "linux_"},
                                                         {"typeof", "typeof_"},
                                                         {"errno", "errno_"},
                                                         {"fold_block", "fold_block_"},
                                                         {"x_", "x__"},
                                                         {"x__", "x___"},
                                                         {"_LP64", "own_LP64"},
                                                         {"_Pragma", "own_Pragma"},
                                                         {"_Complex", "own_Complex"},
                                                         {"_GNU_SOURCE", "own_GNU_SOURCE"},
                                                         {"_", "own_"},
                                                         {"_x_", "own_x_"},
                                                         {"State", "ownState"},
                                                         {"Chunk_x", "ownChunk_x"},
                                                         {"N", "ownN"},
                                                         {"M_PI", "ownM_PI"},
                                                         {"ownState", "ownownState"},
                                                         {"own_x", "ownown_x"},
                                                         {"cudaStreamLegacy", "cudaStreamLegacy_"},
                                                         {"cuArrayCreate", "cuArrayCreate_"},
                                                         {"cut", "cut"}};
    for (const auto& [name, changed] : expected)
        EXPECT_EQ(cuda_identifier(name), changed);
}

TEST(CudaNames, DifferentNamesStayDifferent)
{
    std::set<std::string> names;
    for (const auto& name : hostile_names())
        for (const auto& stem : {name, name + "_", name + "__", "own" + name, "own_" + name, "_" + name})
            names.insert(stem);
    std::map<std::string, std::string> origins;
    for (const auto& name : names) {
        const auto [origin, is_new] = origins.emplace(cuda_identifier(name), name);
        EXPECT_TRUE(is_new) << name << " and " << origin->second << " both become " << origin->first;
    }
    for (const auto& taken : taken_identifiers())
        EXPECT_FALSE(origins.contains(taken)) << origins[taken] << " becomes what is taken";
}

TEST(CudaNames, PiecesOfAnOperatorAndTheirWordsAreTaken)
{
    // What these operators say themselves, and what the language keeps from users.
    const std::set<std::string> own = {"x", "y", "t",      "s",     "u",      "p",       "q",
                                       "a", "b", "result", "first", "second", "present", "at"};
    const std::set<std::string> around = {"identity", "lift",  "combine", "store", "Inputs",
                                          "Results",  "State", "Tile",    "Items"};
    std::set<std::string> names;
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        const Problem problem(RandomOperator(seed).make(), SegmentForm::offsets);
        auto pieces =
            operator_section(problem, {}, [&](std::string_view path) { return part_text(path, problem); });
        std::ranges::move(tile_section(problem), std::back_inserter(pieces));
        for (const auto& piece : pieces) {
            names.insert(piece.name);
            if (!around.contains(piece.name))
                continue;
            for (const auto& word : words_of(piece.text))
                if (!own.contains(word))
                    names.insert(word);
        }
    }
    ASSERT_GE(names.size(), 200u);
    EXPECT_EQ(staying(names), std::set<std::string>());
}

TEST(CudaNames, WordsAroundAMapAreTaken)
{
    // Each of the operator's own names ends in a digit.
    const auto op = parse_operator("names", R"(
        operator names(x1: f32, x2: f32) -> (each y1: f32, each y2: f32, y3: f32) {
            state { t1: f32 = 0; t2: i32 = 0 }
            lift { t1 = x1; t2 = 1 }
            combine(a1, b1) { t1 = a1.t1 + b1.t1; t2 = a1.t2 + b1.t2 }
            finish { let u1 = t1 / f32(t2); y3 = u1 }
            map {
                let v1 = y3 * f32(length);
                let v2 = v1 * x2;
                y1 = v2 * x1 + f32(position);
                y2 = y3 + f32(index) + f32(segment)
            }
        })");
    const Problem problem(op, SegmentForm::offsets);
    std::set<std::string> around = {"finish_row", "segment_values", "map_with_values", "map_element"};
    std::set<std::string> names;
    for (const auto& piece :
         operator_section(problem, {}, [&](std::string_view path) { return part_text(path, problem); }))
        if (around.erase(piece.name) != 0)
            for (const auto& word : words_of(piece.text))
                names.insert(word);
    EXPECT_EQ(around, std::set<std::string>()) << "pieces missing";
    std::erase_if(names, [](const auto& name) { return name.back() >= '0' && name.back() <= '9'; });
    EXPECT_EQ(staying(names), std::set<std::string>());
}

TEST(CudaNames, FileScopeOfStagesAndProbesIsTaken)
{
    const auto op = standard_operator("mean_variance_f32");
    const std::set<std::string> own = {"x", "a", "b"};
    Identifiers names;
    for (const auto& stage : Catalogue::standard().stages()) {
        const Problem problem(op, stage.forms.front());
        if (!Catalogue::standard().unmet(stage, problem))
            add_file_scope_words(
                emit(problem, stage, default_configuration(stage, plan_facts(problem))).source, names);
    }
    for (const auto& peer : peers()) {
        const Problem problem(standard_operator("sum_i32"), peer.forms.front());
        if (!unmet(peer, problem))
            add_file_scope_words(emit_peer(problem, peer).source, names);
    }
    ASSERT_TRUE(names.contains("fold_part"));
    EXPECT_EQ(staying(names), std::set<std::string>());
}

TEST(CudaNames, ShimOfTheFiberExecutorIsTaken)
{
    const fs::path shim = fs::path(SEGFOLD_SOURCE_DIR) / "runtime/simt/shim";
    std::string text;
    Identifiers names;
    for (const char* file : {"protocol.h", "language.h", "math.h", "warp.h", "atomics.h", "call.h"}) {
        const auto part = read_text((shim / file).string());
        text += part.substr(
            part.find("#pragma once\n") == std::string::npos ? 0 : part.find("#pragma once\n") + 13);
        names.merge(macros_of(part));
    }
    const auto expanded = preprocessed({"g++", "-std=c++20", "-E", "-P", "-x", "c++"}, text);
    if (expanded.empty())
        GTEST_SKIP() << "needs g++";
    add_file_scope_words(expanded, names);
    ASSERT_TRUE(names.contains("threadIdx"));
    EXPECT_EQ(staying(names), std::set<std::string>());
}

TEST(CudaNames, MacrosOfCompilersAreTaken)
{
    int compilers = 0;
    for (const char* compiler : {"g++", "clang++"})
        for (const char* dialect : {"-std=c++17", "-std=gnu++17", "-std=c++20", "-std=gnu++20"}) {
            const auto macros = macros_of(preprocessed({compiler, dialect, "-dM", "-E", "-x", "c++"}, ""));
            compilers += macros.empty() ? 0 : 1;
            EXPECT_EQ(staying(macros), std::set<std::string>()) << compiler << " " << dialect;
        }
    if (compilers == 0)
        GTEST_SKIP() << "needs g++ or clang++";
}

TEST(CudaNames, MacrosOfHeadersThatPeersIncludeAreTaken)
{
    const bench::PeerToolkit toolkit;
    if (!toolkit.reason().empty())
        GTEST_SKIP() << toolkit.reason();
    std::set<std::string> includes;
    for (const auto& peer : peers()) {
        const Problem problem(standard_operator("sum_i32"), peer.forms.front());
        if (unmet(peer, problem) || !toolkit.missing(peer).empty())
            continue;
        std::istringstream lines(emit_peer(problem, peer).source);
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("#include"))
                includes.insert(line);
    }
    ASSERT_GE(includes.size(), 5u);
    std::string text;
    for (const auto& line : includes)
        text += line + "\n";
    auto command = toolkit.command("sm_90");
    std::erase_if(command,
                  [](const std::string& word) { return word.empty() || word == "-o" || word == "-shared"; });
    command.insert(command.end(), {"-E", "-Xcompiler", "-dM"});
    const auto macros = macros_of(preprocessed(command, text));
    ASSERT_GE(macros.size(), 1000u);
    EXPECT_EQ(staying(macros), std::set<std::string>());
}

/// One text of all that `operators` are in a stage each can have.
std::string batch(const std::vector<Operator>& operators, std::string_view stage_name, SegmentForm form)
{
    const auto& stage = Catalogue::standard().stage(stage_name);
    std::vector<cuda::Variant> variants;
    for (const auto& op : operators) {
        const Problem problem(op, form);
        if (Catalogue::standard().unmet(stage, problem))
            continue;
        const auto emitted = emit(problem, stage, default_configuration(stage, plan_facts(problem)));
        std::vector<std::string> kernels;
        for (const auto& launch : emitted.launches)
            kernels.push_back(launch.kernel);
        variants.push_back({{emitted.source, "hostile.cu", "sm_90", {}}, std::move(kernels)});
    }
    return cuda::batch_source(variants);
}

TEST(CudaNames, OperatorsOfTakenNamesCompileForTheFiberExecutor)
{
    if (!find_program("g++") && !find_program("clang++"))
        GTEST_SKIP() << "needs g++ or clang++";
    std::vector<Operator> all, hostile;
    for (const auto& text : operators_with(hostile_names()))
        all.push_back(parse_operator("taken", text));
    std::mt19937 random(7);
    for (int i = 0; i < 12; ++i)
        hostile.push_back(parse_operator("hostile", hostile_operator(random, hostile_names())));
    const auto hostile_text = batch(hostile, "warp_stream", SegmentForm::offsets);
    for (const char* compiler : {"g++", "clang++"}) {
        if (!find_program(compiler))
            continue;
        const simt::CompileOptions options{.shadow_check = false, .optimisation = 0, .compiler = compiler};
        EXPECT_NO_THROW(simt::Program::compile(generated_text(all), {}, options));
        EXPECT_NO_THROW(simt::Program::compile(hostile_text, {}, options));
    }
}

}  // namespace
}  // namespace segfold::cuda_names_test
