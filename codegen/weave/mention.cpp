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
    const std::string code = without_comments(text);
    std::vector<bool> counts;  // of each bracket that is open: whether what it holds is out of file scope
    std::size_t depth = 0;
    bool opens_scope = false;  // behind `extern "C"` and `namespace NAME`
    std::string_view rest = code;
    std::string_view before;
    while (!rest.empty()) {
        std::size_t length = 1;
        if (is_word(rest[0])) {
            length = static_cast<std::size_t>(std::ranges::find_if_not(rest, is_word) - rest.begin());
            const auto word = rest.substr(0, length);
            if (depth == 0 && !words.contains(word))
                words.emplace(word);
            opens_scope = word == "namespace" || (before == "namespace" && opens_scope);
            before = word;
        } else if (rest[0] == '"') {
            length = std::min(rest.find('"', 1), rest.size() - 1) + 1;
            opens_scope = before == "extern";
        } else if (rest[0] == '#') {
            do
                length = std::min(rest.find('\n', length), rest.size());
            while (length < rest.size() && rest[length - 1] == '\\' && ++length);
        } else if (const char c = rest[0]; c == '(' || c == '{' || c == '[') {
            counts.push_back(!opens_scope);
            depth += counts.back() ? 1 : 0;
            opens_scope = false;
        } else if ((c == ')' || c == '}' || c == ']') && !counts.empty()) {
            depth -= counts.back() ? 1 : 0;
            counts.pop_back();
        }
        rest.remove_prefix(length);
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
        // Aliases and constants stand in groups; every declaration stands alone.
        if (before && (before->kind != piece->kind || piece->kind == Piece::Kind::declaration))
            text += '\n';
        text += piece->text;
        before = piece;
    }
    return text;
}

}  // namespace segfold
