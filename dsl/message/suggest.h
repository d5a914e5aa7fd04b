#pragma once
// The "did you mean" at the end of a message about an unknown word.
#include <span>
#include <string>
#include <string_view>

namespace segfold {

/// "; did you mean 'offsets'?" for the known word closest to `word`, or "" if none is close.
///
/// Close means: equal but for case, or at most one edit (a letter dropped, added, changed, or exchanged with
/// its neighbour) for every three letters of `word`, one at least. Of equally close words the first of
/// `known` is taken. Where none is close, the one counts whose beginning up to an underscore is: 'blok' for
/// 'block_threads', from four letters on, and unless several begin so.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);

}  // namespace segfold
