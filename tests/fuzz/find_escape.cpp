#include "tests/fuzz/find_escape.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "codegen/emit.h"
#include "codegen/peers/peer.h"
#include "dsl/printer.h"
#include "dsl/text/parser.h"

namespace segfold {
namespace {

/// Where a line ends. Compilers agree on the first reading; the second is the worst that one may do.
enum class Reading { plain, hostile };

constexpr std::string_view kLineEnds[] = {"\n", "\r", "\f", "\v", "\u0085", "\u2028", "\u2029"};

bool ends_line(std::string_view rest, Reading reading)
{
    return reading == Reading::plain
               ? rest[0] == '\n'
               : std::ranges::any_of(kLineEnds, [&](auto end) { return rest.starts_with(end); });
}

/// Bytes of a line end that the backslash at the beginning of `rest` takes away, with the backslash.
std::size_t continuation(std::string_view rest, Reading reading)
{
    const std::size_t mark = rest.starts_with("\\") ? 1 : rest.starts_with("?\?/") ? 3 : 0;
    if (mark == 0)
        return 0;
    std::size_t end = mark;
    while (reading == Reading::hostile && end < rest.size() && (rest[end] == ' ' || rest[end] == '\t'))
        ++end;
    return end < rest.size() && ends_line(rest.substr(end), reading) ? end + 1 : 0;
}

bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The tokens of a C++ text: words, strings, single symbols. Comments are none.
std::vector<std::string> tokens_of(std::string_view text, Reading reading)
{
    std::vector<std::string> tokens;
    while (!text.empty()) {
        std::size_t length = 1;
        if (const auto joined = continuation(text, reading); joined > 0) {
            length = joined;
        } else if (text.starts_with("//")) {
            while (length < text.size() && !ends_line(text.substr(length), reading)) {
                const auto joins = continuation(text.substr(length), reading);
                length += std::max<std::size_t>(joins, 1);
            }
        } else if (text.starts_with("/*")) {
            length = std::min(text.find("*/", 2), text.size() - 2) + 2;
        } else if (text[0] == '"') {
            while (length < text.size() && text[length] != '"')
                length += text[length] == '\\' ? 2 : 1;
            length = std::min(length + 1, text.size());
            tokens.emplace_back(text.substr(0, length));
        } else if (text[0] != ' ' && text[0] != '\n') {
            while (is_letter(text[0]) && length < text.size() && is_letter(text[length]))
                ++length;
            tokens.emplace_back(text.substr(0, length));
        }
        text.remove_prefix(std::min(length, text.size()));
    }
    return tokens;
}

/// The operator in the heading: from the last line that begins one to its closing brace.
std::string heading_operator(std::string_view source)
{
    const auto code = source.find("\n\n");
    const auto begin = source.substr(0, code).rfind("\n// operator ");
    if (begin == std::string_view::npos)
        return "";
    const auto end = source.find("\n// }\n", begin);
    std::string text;
    for (auto rest = source.substr(begin + 1, end + 6 - begin - 1); !rest.empty();) {
        const auto line = rest.substr(0, rest.find('\n') + 1);
        text += line.substr(std::min<std::size_t>(3, line.size()));
        rest.remove_prefix(line.size());
    }
    return text;
}

std::string fault_of_source(const Operator& op, const std::string& source, const std::string& bare)
{
    for (const char c : source)
        if (c != '\n' && (static_cast<unsigned char>(c) < 0x20 || c == 0x7f))
            return "byte " + std::to_string(static_cast<int>(c)) + " in\n" + source;
    const auto heading = heading_operator(source);
    if (!same(parse_printed(heading), op))
        return "the heading reads back as another operator:\n" + source;
    for (const auto reading : {Reading::plain, Reading::hostile})
        if (tokens_of(source, reading) != tokens_of(bare, Reading::plain))
            return "the description changes the code:\n" + source;
    return "";
}

struct Text {
    const char* stage;
    SegmentForm form;
    Numbers numbers;
};

constexpr Text kTexts[] = {{"thread_per_segment", SegmentForm::ranges, Numbers::constant},
                           {"warp_stream", SegmentForm::offsets, Numbers::at_launch},
                           {"tree_async", SegmentForm::whole, Numbers::constant},
                           {"tree_cluster", SegmentForm::whole, Numbers::constant}};

std::string emitted(const Operator& op, const Text& text)
{
    const auto& stage = Catalogue::standard().stage(text.stage);
    const Problem problem(op, text.form);
    if (Catalogue::standard().unmet(stage, problem))
        return "";
    return emit(problem, stage, default_configuration(stage, plan_facts(problem)), Catalogue::standard(),
                text.numbers)
        .source;
}

std::string emitted_peer(const Operator& op)
{
    const Problem problem(op, SegmentForm::offsets);
    const auto& thrust = peer("thrust_reduce_by_key");
    return unmet(thrust, problem) ? "" : emit_peer(problem, thrust).source;
}

}  // namespace

std::string find_escape(const Operator& op)
{
    auto bare = op;
    bare.description.clear();
    std::string fault;
    for (const auto& text : kTexts)
        if (const auto source = emitted(op, text); fault.empty() && !source.empty())
            fault = fault_of_source(op, source, emitted(bare, text));
    if (const auto source = emitted_peer(op); fault.empty() && !source.empty())
        fault = fault_of_source(op, source, emitted_peer(bare));
    return fault;
}

std::string find_escape(const std::string& text)
{
    // Built in C++, a description holds any bytes; as a text, only what the lexer lets pass.
    static const auto plain =
        parse_operator("plain", "operator f(x: f32) -> f32 { state s: f32 = 0 lift x combine(a, b) a + b }");
    auto described = plain;
    described.description = text;
    if (auto fault = find_escape(described); !fault.empty())
        return fault;
    try {
        return find_escape(parse_operator("text", text, Type::f32));
    } catch (const SpecError&) {
        return "";
    }
}

}  // namespace segfold
