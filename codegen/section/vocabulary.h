#pragma once
// Fills the texts of kernels/vocabulary, which surround an operator's expressions.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// Values for the holes of a text. A value replaces `@NAME@`, and the items of a list fill copies of the
/// lines of an `each`.
struct Holes {
    std::map<std::string, std::string, std::less<>> values;
    std::map<std::string, std::vector<Holes>, std::less<>> lists = {};
};

/// Returns the text of `piece` in kernels/vocabulary/`file` with its holes filled.
///
/// The lines from `//% each LIST` to its `//% end` are repeated for each item of the list. A hole without a
/// value in the item takes the value of the enclosing item or piece. Throws InternalError for an unknown
/// file, piece, list or hole, since no user can cause it.
std::string vocabulary(std::string_view file, std::string_view piece, const Holes& holes = {});

}  // namespace segfold
