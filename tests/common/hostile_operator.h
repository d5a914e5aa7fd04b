#pragma once
// Operators that try to break emitted text: by names that are taken, and by comments that look like code.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "codegen/print/cuda_names.h"
#include "dsl/text/parser.h"

namespace segfold {

/// True if a user may give this name to a parameter, a field or a local.
inline bool is_name_of_users(const std::string& name)
{
    try {
        parse_operator(
            "name", "operator f(" + name + ": f32) -> f32 { state s_: f32 = 0 lift 1 combine(a_, b_) a_ }");
        return true;
    } catch (const SpecError&) {
        return false;
    }
}

/// Returns every name that emitted text, compilers or headers use and a user may write, and names for each
/// rule of cuda_identifier().
inline std::vector<std::string> hostile_names()
{
    auto names = taken_identifiers();
    for (const char* more : {"_LP64",        "_Pragma",
                             "_Complex",     "_GNU_SOURCE",
                             "_x",           "_",
                             "_x_",          "N",
                             "M_PI",         "NULL",
                             "EOF",          "INT_MAX",
                             "State",        "Inputs",
                             "Results",      "Segments",
                             "Index",        "Tile",
                             "Items",        "Key",
                             "Run",          "Chunk_x",
                             "Lift",         "Combine",
                             "Finish",       "kWarpThreads",
                             "kFullMask",    "kNan",
                             "kStepItems",   "to_f32",
                             "to_i8",        "divide_i32",
                             "remainder_u8", "absolute_i64",
                             "floorf",       "fminf",
                             "fmaxf",        "fabsf",
                             "powf",         "copysignf",
                             "atomicAdd",    "cudaStreamLegacy",
                             "variant_0",    "own_x",
                             "ownState",     "own",
                             "x_",           "x__",
                             "present",      "inputs_",
                             "int_",         "reduce_",
                             "ownint"})
        names.emplace_back(more);
    std::erase_if(names, [](const std::string& name) { return !is_name_of_users(name); });
    std::ranges::sort(names);
    const auto doubled = std::ranges::unique(names);
    names.erase(doubled.begin(), doubled.end());
    return names;
}

/// Returns operators in which each of `names` is a column, a table, a field, a result, and a local of every
/// block. Operators and operands get some of the names too.
inline std::vector<std::string> operators_with(const std::vector<std::string>& names,
                                               std::size_t at_once = 64)
{
    std::vector<std::string> texts;
    for (std::size_t begin = 0; begin < names.size(); begin += at_once) {
        const auto end = std::min(begin + at_once, names.size());
        std::string columns, tables, sum = "0", gathered = "x0", fields, lifted, combined, results, finished,
                                     lets, locals = "0";
        for (std::size_t i = begin; i < end; ++i) {
            const auto& name = names[i];
            columns += (columns.empty() ? "" : ", ") + name + ": i32";
            tables += ", " + name + ": table i32";
            sum += " + " + name;
            gathered += " + " + name + "[0]";
            fields += name + ": i32 = 0; ";
            lifted += name + " = x0; ";
            combined += name + " = a0." + name + " + b0." + name + "; ";
            results += (results.empty() ? "" : ", ") + name + ": i32";
            finished += name + " = s0; ";
            lets += "let " + name + " = " + (i == begin ? "i32(1)" : names[i - 1] + " + 1") + "; ";
            locals += " + " + name;
        }
        const auto head = [&](std::size_t i) { return "operator " + names[begin + i % (end - begin)]; };
        const std::string one = " { state s0: i32 = 0 ";
        // Both operands get names from the list, different ones each time.
        const auto operands = [&](std::size_t i) {
            const auto first = names[(begin + 2 * i) % names.size()];
            const auto second = names[(begin + 2 * i + 1) % names.size()];
            return "combine(" + first + ", " + second + ") " + first + " + " + second;
        };
        texts.push_back(head(0) + "(" + columns + ") -> i32" + one + "lift " + sum + " " + operands(0) +
                        " }");
        texts.push_back(head(1) + "(x0: i32" + tables + ") -> i32" + one + "lift " + gathered + " " +
                        operands(1) + " }");
        texts.push_back(head(2) + "(x0: i32) { state { " + fields + "} lift { " + lifted +
                        "} combine(a0, b0) { " + combined + "} }");
        texts.push_back(head(3) + "(x0: i32) -> (" + results + ")" + one + "lift x0 " + operands(2) +
                        " finish { " + finished + "} }");
        texts.push_back(head(4) + "(x0: i32) -> i32" + one + "lift { " + lets + "s0 = x0 + " + locals +
                        " } combine(a0, b0) { " + lets + "s0 = a0 + b0 + " + locals + " } finish { " + lets +
                        "result = s0 + " + locals + " } empty { " + lets + "result = " + locals + " } }");
    }
    return texts;
}

/// Returns comment lines made of pieces that mean something to a compiler, to readers of emitted text, or to
/// a terminal. With `any_bytes`, also of bytes that no text may contain.
inline std::string hostile_description(std::mt19937& random, bool any_bytes)
{
    static constexpr std::array kText = {"\\",
                                         "?\?/",
                                         " ",
                                         "\t",
                                         "*/",
                                         "/*",
                                         "//",
                                         "\"",
                                         "'",
                                         "R\"(",
                                         ")\"",
                                         "#include \"/etc/passwd\"",
                                         "\n",
                                         "\n",
                                         "operator f(x: i32) -> i32 {",
                                         "}",
                                         "Emitted by segfold",
                                         "asm(\"",
                                         "asm volatile(\"cp.async.wait_all;\" : : \"r\"(x",
                                         ")); int evil;",
                                         "extern __shared__ int evil[];",
                                         "__global__ void __cluster_dims__(evil) thread_per_segment(",
                                         ";",
                                         "%:define int",
                                         "\\u000a",
                                         "_Pragma(\"once\")",
                                         "using evil = int;",
                                         "\u00fc",
                                         "\u2211",
                                         "# "};
    static constexpr std::array kBytes = {"\r",       "\f",     "\v",     "\x1b[31m", "\u0085",
                                          "\u2028",   "\u2029", "\u202e", "\u2066",   "\xff",
                                          "\xe2\x80", "\x7f",   "\r\n",   "\a"};
    std::string text;
    for (unsigned i = 0, pieces = 1 + random() % 12; i < pieces; ++i) {
        const bool is_byte = any_bytes && random() % 3 == 0;
        text += is_byte ? kBytes[random() % kBytes.size()] : kText[random() % kText.size()];
        if (any_bytes && random() % 16 == 0)
            text += '\0';
    }
    return text;
}

/// Returns the text of an operator with every part. Its names are drawn from `names`.
inline std::string hostile_operator(std::mt19937& random, std::vector<std::string> names)
{
    std::ranges::shuffle(names, random);
    const auto n = [&](std::size_t i) { return names[i % names.size()]; };
    std::string heading = hostile_description(random, false);
    for (std::size_t at = 0; (at = heading.find('\n', at)) != std::string::npos; at += 2)
        heading.insert(at + 1, "#");
    const std::string identity = random() % 2 == 0 ? " = 0" : "";
    return "#" + heading + "\noperator " + n(0) + "(" + n(1) + ": f32, " + n(2) + ": i8, " + n(3) +
           ": table f64) -> (" + n(4) + ": f64, " + n(5) + ": f16) {\n  state { " + n(6) + ": f32" +
           identity + "; " + n(7) + ": i64" + identity + " }\n  lift { let " + n(8) + " = min(" + n(1) +
           ", f32(" + n(3) + "[index % 4])); let " + n(9) + " = " + n(2) + " / 3; " + n(6) + " = exp(" +
           n(8) + ") + " + n(8) + "; " + n(7) + " = i64(" + n(9) + ") % i64(" + n(2) + ") }\n  combine(" +
           n(10) + ", " + n(11) + ") { let " + n(12) + " = max(" + n(10) + "." + n(6) + ", " + n(11) + "." +
           n(6) + "); " + n(6) + " = " + n(12) + "; " + n(7) + " = " + n(10) + "." + n(7) + " + " + n(11) +
           "." + n(7) + " }\n  finish { let " + n(13) + " = f64(" + n(6) + "); " + n(4) + " = " + n(13) +
           "; " + n(5) + " = f16(" + n(7) + ") }\n  empty { " + n(4) + " = nan; " + n(5) + " = 0 }\n}\n";
}

}  // namespace segfold
