#include "codegen/mention.h"

#include <algorithm>
#include <array>

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
