#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "codegen/line_break.h"
#include "codegen/operator_section.h"
#include "codegen/weave.h"
#include "dsl/printer.h"

namespace segfold {
namespace {

bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Adds every identifier of `text` to `words`; comments do not count.
void add_words(std::string_view text, std::set<std::string, std::less<>>& words)
{
    for (std::size_t at = 0; at < text.size();) {
        if (text.substr(at).starts_with("//")) {
            at = std::min(text.find('\n', at), text.size());
        } else if (is_word(text[at])) {
            auto end = at;
            while (end < text.size() && is_word(text[end]))
                ++end;
            words.emplace(text.substr(at, end - at));
            at = end;
        } else {
            ++at;
        }
    }
}

/// The pieces that `below` mentions, directly or through each other, as text in groups.
std::string keep_mentioned(const std::vector<Piece>& pieces, std::string_view below)
{
    std::set<std::string, std::less<>> words;
    add_words(below, words);
    std::vector<const Piece*> kept;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
        if (!words.contains(piece->name) && !words.contains(piece->second_name))
            continue;
        kept.push_back(&*piece);
        add_words(piece->text, words);
    }
    std::ranges::reverse(kept);
    std::string text;
    const Piece* before = nullptr;
    for (const auto* piece : kept) {
        // Aliases and constants stand in groups; every declaration stands alone.
        if (before && (before->kind != piece->kind || piece->kind == Piece::Kind::declaration))
            text += '\n';
        text += piece->text;
        before = piece;
    }
    return text;
}

/// `text` is what stands below: tunables that it does not mention are not named.
std::string heading(const Problem& problem, const Stage& stage, const Configuration& configuration,
                    std::string_view text_below)
{
    std::set<std::string, std::less<>> words;
    add_words(text_below, words);
    const auto segments = problem.form == SegmentForm::whole ? std::string("One segment")
                          : problem.form == SegmentForm::uniform
                              ? "Segments of one length"
                              : fmt::format("Segments given as {}", name(problem.form));
    const auto keys = problem.form == SegmentForm::keys ? fmt::format(" of {} bytes", problem.key_bytes) : "";
    std::string text = fmt::format("// {}: {}\n// {}{}, {}-bit indices.\n", stage.name, stage.title, segments,
                                   keys, problem.index_bits);
    for (const auto& [name, value] : configuration)
        if (words.contains(constant_name(name)))
            text += fmt::format("// {} = {}\n", name, value);
    text += "//\n";
    const auto source = break_lines(print(problem.op), kWidestLine - 3);
    for (std::string_view rest = source; !rest.empty();) {
        const auto end = rest.find('\n');
        const auto line = rest.substr(0, end);
        text += fmt::format("// {}\n", line.starts_with("# ") ? line.substr(2) : line);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    return text +
           fmt::format("//\n// Emitted by segfold from kernels/{}; edit that file instead.\n\n", stage.file);
}

/// True if what stands at `at` is named by a `__global__` before it.
bool is_kernel(std::string_view body, std::size_t at)
{
    const auto global = body.rfind("__global__", at);
    return global != std::string_view::npos && !is_word(body[at - 1]) &&
           body.substr(global, at - global).find_first_of(";{}") == std::string_view::npos;
}

/// The names of a kernel's parameters, read from its signature.
std::vector<std::string> parameters_of(const std::string& kernel, std::string_view body,
                                       const std::string& file)
{
    auto at = body.find(kernel + "(");
    while (at != std::string_view::npos && !is_kernel(body, at))
        at = body.find(kernel + "(", at + 1);
    if (at == std::string_view::npos)
        throw SpecError(file + ": launches '" + kernel + "', but has no such kernel");
    const auto open = at + kernel.size();
    const auto close = std::min(body.find(')', open), body.size());
    std::vector<std::string> names;
    std::string_view list = body.substr(open + 1, close - open - 1);
    while (!list.empty()) {
        const auto comma = list.find(',');
        auto item = list.substr(0, comma);
        while (!item.empty() && !is_word(item.back()))
            item.remove_suffix(1);
        auto first = item.size();
        while (first > 0 && is_word(item[first - 1]))
            --first;
        names.emplace_back(item.substr(first));
        list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    }
    return names;
}

Facts facts_of(const Problem& problem)
{
    const auto& op = problem.op;
    return {{"commutative", problem.laws.commutative},
            {"idempotent", problem.laws.idempotent},
            {"identity", op.has_identity()},
            {"allows_empty", op.allows_empty()},
            {"uses_position", uses_name(op.lift, "position")},
            {"uses_length", op.finish && uses_name(*op.finish, "length")},
            {"wide_index", problem.index_bits == 64},
            {"whole", problem.form == SegmentForm::whole},
            {"uniform", problem.form == SegmentForm::uniform},
            {"offsets", problem.form == SegmentForm::offsets},
            {"ranges", problem.form == SegmentForm::ranges},
            {"flags", problem.form == SegmentForm::flags},
            {"keys", problem.form == SegmentForm::keys}};
}

std::int64_t element_bytes(const std::string& element, const Problem& problem)
{
    if (element == "State")
        return state_bytes(problem.op);
    return element == "Index" ? problem.index_bits / 8 : element == "bool" ? 1 : element == "u64" ? 8 : 4;
}

void check_parameters(const Emitted& emitted, const std::string& file)
{
    for (const auto& launch : emitted.launches)
        for (const auto& parameter : launch.parameters) {
            const bool known =
                parameter == "inputs" || parameter == "segments" || parameter == "results" ||
                std::ranges::find(emitted.scratch, parameter, &EmittedScratch::name) != emitted.scratch.end();
            if (!known)
                throw SpecError(
                    file + ": kernel '" + launch.kernel + "' has the parameter '" + parameter +
                    "'; parameters are inputs, segments, results and the names of scratch buffers");
        }
}

}  // namespace

Emitted emit(const Problem& asked, const Stage& stage, const Configuration& configuration,
             const Catalogue& catalogue)
{
    catalogue.require(stage, asked);
    Problem problem = asked;
    problem.form = *served_form(stage, asked.form);
    const auto read_part = [&](std::string_view path) { return catalogue.part(path); };
    const auto woven = weave(stage.file, stage.text, facts_of(problem), read_part);
    auto plumbing = read_plumbing(stage.file, woven.directives);

    Emitted emitted;
    emitted.form = problem.form;
    emitted.state_bytes = state_bytes(problem.op);
    emitted.configuration = configuration;
    emitted.sizes = std::move(plumbing.sizes);
    for (auto& scratch : plumbing.scratch)
        emitted.scratch.push_back(
            {scratch.name, element_bytes(scratch.element, problem), scratch.count, scratch.zero});
    for (auto& launch : plumbing.launches)
        emitted.launches.push_back(
            {launch.kernel, parameters_of(launch.kernel, woven.body, stage.file), launch.grid, launch.block});
    check_parameters(emitted, stage.file);

    const auto below = woven.parts + woven.body;
    emitted.source = heading(problem, stage, configuration, below) +
                     keep_mentioned(operator_section(problem, configuration, read_part), below) + '\n' +
                     below;
    return emitted;
}

}  // namespace segfold
