#pragma once
// The "did you mean" at the end of a message about an unknown word.
#include <span>
#include <string>
#include <string_view>

namespace segfold {

/// Returns "; did you mean 'offsets'?" for the known word closest to `word`, or "" if none is close.
///
/// Two words are close if they differ only in case or by few edits. One edit is allowed for every three
/// letters of `word`, at least one. An edit drops, adds or changes a letter, or exchanges two neighbours. If
/// two words are equally close, the first in `known` wins.
///
/// If no word is close, `word` is compared with the part of each known word before an underscore: 'blok'
/// suggests 'block_threads'. For this, `word` must have at least four letters, and exactly one known word
/// must fit.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace segfold
