#include "codegen/section/vocabulary.h"

#include <span>

#include "codegen/weave/line_break.h"
#include "dsl/embedded_file.h"
#include "dsl/error.h"
#include "dsl/lasting.h"

namespace segfold {

std::span<const EmbeddedFile> vocabulary_files();

namespace {

constexpr std::string_view kPiece = "//% piece ", kEach = "//% each ", kEnd = "//% end";

/// The holes of a text and of the texts that enclose it, outermost first.
using Scope = std::vector<const Holes*>;

[[noreturn]] void fail(std::string_view what, std::string_view name)
{
    throw InternalError("kernels/vocabulary: unknown " + std::string(what) + " '" + std::string(name) + "'");
}

using Lines = std::vector<std::string_view>;

/// Returns the lines of every piece in kernels/vocabulary, without blank lines at a piece's end. The keys of
/// the map are "FILE PIECE".
std::map<std::string, Lines, std::less<>> read_pieces()
{
    std::map<std::string, Lines, std::less<>> pieces;
    for (const auto& file : vocabulary_files()) {
        Lines* lines = nullptr;
        for (auto rest = file.text; !rest.empty();) {
            const auto line = take_line(rest);
            if (line.starts_with(kPiece))
                lines = &pieces[std::string(file.path) + ' ' + std::string(line.substr(kPiece.size()))];
            else if (lines != nullptr)
                lines->push_back(line);
        }
    }
    for (auto& [name, lines] : pieces)
        while (!lines.empty() && lines.back().empty())
            lines.pop_back();
    return pieces;
}

const Lines& lines_of(std::string_view file, std::string_view piece)
{
    static const auto& pieces = lasting(read_pieces);
    const auto name = std::string(file) + ' ' + std::string(piece);
    const auto found = pieces.find(name);
    if (found == pieces.end())
        fail("piece", name);
    return found->second;
}

const std::string& value_of(std::string_view name, const Scope& scope)
{
    for (auto holes = scope.rbegin(); holes != scope.rend(); ++holes)
        if (const auto found = (*holes)->values.find(name); found != (*holes)->values.end())
            return found->second;
    fail("hole", name);
}

const std::vector<Holes>& list_of(std::string_view name, const Scope& scope)
{
    for (auto holes = scope.rbegin(); holes != scope.rend(); ++holes)
        if (const auto found = (*holes)->lists.find(name); found != (*holes)->lists.end())
            return found->second;
    fail("list", name);
}

void add_line(std::string& text, std::string_view line, const Scope& scope)
{
    for (;;) {
        const auto open = line.find('@');
        text += line.substr(0, open);
        if (open == std::string_view::npos)
            break;
        const auto close = line.find('@', open + 1);
        if (close == std::string_view::npos)
            fail("hole", line.substr(open));
        text += value_of(line.substr(open + 1, close - open - 1), scope);
        line.remove_prefix(close + 1);
    }
    text += '\n';
}

void add(std::string& text, std::span<const std::string_view> lines, const Scope& scope)
{
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!lines[i].starts_with(kEach)) {
            add_line(text, lines[i], scope);
            continue;
        }
        const auto begin = i + 1;
        for (int depth = 1; depth > 0;) {
            if (++i == lines.size())
                fail("end of", lines[begin - 1]);
            depth += lines[i].starts_with(kEach) ? 1 : lines[i] == kEnd ? -1 : 0;
        }
        for (const auto& item : list_of(lines[begin - 1].substr(kEach.size()), scope)) {
            auto inner = scope;
            inner.push_back(&item);
            add(text, lines.subspan(begin, i - begin), inner);
        }
    }
}

}  // namespace

std::string vocabulary(std::string_view file, std::string_view piece, const Holes& holes)
{
    std::string text;
    add(text, lines_of(file, piece), {&holes});
    return text;
}

}  // namespace segfold
