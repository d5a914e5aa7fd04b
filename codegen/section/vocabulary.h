#pragma once
// Fills the holes in the texts of kernels/vocabulary, which surround an operator's expressions.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// Values for the holes of a text. A value replaces the hole `@NAME@`. Lines below `//% each LIST` are
/// repeated for each item of the list, with the item's values.
struct Holes {
    std::map<std::string, std::string, std::less<>> values;
    std::map<std::string, std::vector<Holes>, std::less<>> lists = {};
};

/// Returns the text of `piece` in kernels/vocabulary/`file` with its holes filled.
///
/// The lines from `//% each LIST` to its `//% end` are repeated for each item of the list. If an item has no
/// value for a hole, the hole takes the value of the enclosing item or piece. Throws InternalError if the
/// file, piece, list or hole is unknown, since no user can cause this.
std::string vocabulary(std::string_view file, std::string_view piece, const Holes& holes = {});

}  // namespace segfold
