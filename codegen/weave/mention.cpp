#include "codegen/weave/mention.h"

#include <algorithm>
#include <array>

#include "codegen/weave/comment.h"

namespace segfold {

namespace {

constexpr std::array<bool, 256> kIsWord = [] {
    std::array<bool, 256> is_word = {};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"))
        is_word[static_cast<unsigned char>(c)] = true;
    return is_word;
}();

/// The role of a character in the search for names at file scope.
enum class Mark : unsigned char { none, word, quote, directive, opens, closes };

constexpr std::array<Mark, 256> kMarks = [] {
    std::array<Mark, 256> marks = {};
    const auto put = [&](std::string_view characters, Mark mark) {
        for (const char c : characters)
            marks[static_cast<unsigned char>(c)] = mark;
    };
    for (std::size_t c = 0; c < marks.size(); ++c)
        marks[c] = kIsWord[c] ? Mark::word : Mark::none;
    put("\"", Mark::quote);
    put("#", Mark::directive);
    put("({[", Mark::opens);
    put(")}]", Mark::closes);
    return marks;
}();

}  // namespace

bool is_word(char c) { return kIsWord[static_cast<unsigned char>(c)]; }

void add_words(std::string_view text, Identifiers& words)
{
    for (std::size_t at = 0; at < text.size();) {
        if (is_word(text[at])) {
            const auto begin = at;
            while (at < text.size() && is_word(text[at]))
                ++at;
            if (const auto word = text.substr(begin, at - begin); !words.contains(word))
                words.emplace(word);
        } else if (text[at] == '/' && text.substr(at + 1).starts_with('/')) {
            at = std::min(text.find('\n', at), text.size());
        } else {
            ++at;
        }
    }
}

void add_file_scope_words(std::string_view text, Identifiers& words)
{
    const std::string without = without_comments(text);
    const std::string_view code = without;
    std::vector<bool> counts;  // for each open bracket: true if its contents are not at file scope
    std::size_t depth = 0;
    bool opens_scope = false;  // true after `extern "C"` and `namespace NAME`
    std::string_view before;
    for (std::size_t at = 0; at < code.size();) {
        const auto begin = at++;
        switch (kMarks[static_cast<unsigned char>(code[begin])]) {
            case Mark::none: break;
            case Mark::word: {
                while (at < code.size() && is_word(code[at]))
                    ++at;
                if (depth != 0)  // nothing inside other brackets is at file scope
                    break;
                const auto word = code.substr(begin, at - begin);
                if (!words.contains(word))
                    words.emplace(word);
                opens_scope = word == "namespace" || (before == "namespace" && opens_scope);
                before = word;
                break;
            }
            case Mark::quote:
                at = std::min(code.find('"', at), code.size() - 1) + 1;
                opens_scope = depth == 0 && before == "extern";
                break;
            case Mark::directive:
                do
                    at = std::min(code.find('\n', at), code.size());
                while (at < code.size() && code[at - 1] == '\\' && ++at);
                break;
            case Mark::opens:
                counts.push_back(!opens_scope);
                depth += counts.back() ? 1 : 0;
                opens_scope = false;
                break;
            case Mark::closes:
                if (counts.empty())
                    break;
                depth -= counts.back() ? 1 : 0;
                counts.pop_back();
                break;
        }
    }
}

Identifiers words_of(std::string_view text)
{
    Identifiers words;
    add_words(text, words);
    return words;
}

std::string keep_mentioned(const std::vector<Piece>& pieces, Identifiers words)
{
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
        // Aliases stay together, and so do constants. A blank line stands before every other declaration.
        if (before && (before->kind != piece->kind || piece->kind == Piece::Kind::declaration))
            text += '\n';
        text += piece->text;
        before = piece;
    }
    return text;
}

}  // namespace segfold
