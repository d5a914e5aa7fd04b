#include "dsl/message/suggest.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace segfold {
namespace {

constexpr std::size_t kLongestWord = 64;

std::string lower_case(std::string_view word)
{
    std::string lower(word);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z')
            c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

/// Returns the number of edits between two words. An edit drops, adds or changes a letter, or exchanges two
/// neighbours.
std::size_t edit_distance(std::string_view from, std::string_view to)
{
    std::vector<std::size_t> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        before = std::exchange(above, row);
        row[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (from[i - 1] != to[j - 1])});
            if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[to.size()];
}

/// Returns the largest edit distance at which a known word counts as close to `word`.
std::size_t most_edits(std::string_view word) { return std::max<std::size_t>(1, word.size() / 3); }

/// Returns the known word whose part before an underscore is close to `wanted`. Empty if no such word or
/// several exist.
std::string_view with_close_beginning(std::string_view wanted, std::span<const std::string_view> known)
{
    constexpr std::size_t kShortest = 4;  // fewer letters are close to too many words
    std::string_view found;
    for (const std::string_view candidate : known) {
        bool is_close = false;
        for (auto end = candidate.find('_'); end < kLongestWord; end = candidate.find('_', end + 1))
            is_close =
                is_close || edit_distance(wanted, lower_case(candidate.substr(0, end))) <= most_edits(wanted);
        if (is_close && !found.empty() && found != candidate)
            return "";
        if (is_close)
            found = candidate;
    }
    return wanted.size() < kShortest ? "" : found;
}

}  // namespace

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known)
{
    if (word.empty() || word.size() > kLongestWord)
        return "";
    const std::string wanted = lower_case(word);
    std::size_t least = most_edits(word) + 1;
    std::string_view closest;
    for (const std::string_view candidate : known) {
        if (candidate.empty() || candidate.size() > kLongestWord)
            continue;
        const std::size_t distance = edit_distance(wanted, lower_case(candidate));
        // A word in which every letter is edited is no misspelling.
        if (distance < least && distance < std::max(wanted.size(), candidate.size())) {
            least = distance;
            closest = candidate;
        }
    }
    if (closest.empty())
        closest = with_close_beginning(wanted, known);
    return closest.empty() ? "" : "; did you mean '" + std::string(closest) + "'?";
}

}  // namespace segfold
