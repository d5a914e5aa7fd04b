#pragma once
// The texts of kernels/vocabulary, which stand around an operator's expressions; they have holes for its
// names and types.
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace segfold {

/// Fills the holes of a text: `@NAME@` by a value, the lines of an `each` by the items of a list.
struct Holes {
    std::map<std::string, std::string, std::less<>> values;
    std::map<std::string, std::vector<Holes>, std::less<>> lists = {};
};

/// Piece `piece` of the file `file` of kernels/vocabulary, filled.
///
/// Lines from `//% each LIST` to its `//% end` are written once for each item of the list. A hole without a
/// value in the item takes the value of the enclosing list or piece. Throws InternalError for an unknown
/// file, piece, list or hole, because a user cannot cause one.
std::string vocabulary(std::string_view file, std::string_view piece, const Holes& holes = {});

}  // namespace segfold
