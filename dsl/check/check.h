#pragma once
// Checks of names and types: every fault of an operator that shows in its text alone.
#include <map>
#include <set>
#include <string>

#include "dsl/message/complaints.h"
#include "dsl/operator.h"

namespace segfold {

/// Returns `op` with every name resolved, every literal and expression typed, and every block's assignments
/// in the order of the fields they set. Checking a checked operator changes nothing.
///
/// Throws SpecError, with place and caret where the operator came from text.
Operator check(Operator op);

/// True for the words of parts, values and places.
bool is_reserved(std::string_view name);

/// True for words that stand for something in the language, so that no name of one's own may be one: those,
/// types and functions.
bool is_taken(std::string_view name);

/// The parts of a text that could not be read; faults that may follow from them get no message.
struct Unread {
    std::set<std::string> declared;  ///< words of the parameters, fields and results that are left out
    std::map<std::string, std::set<std::string>> blocks;  ///< by part: words of the statements left out
    bool parts = false;                                   ///< whole parts are left out
};

/// The same for a text that was read in part: adds to `complaints`, but not for `unread` parts.
///
/// The result is an operator only without complaints.
Operator check(Operator op, const Unread& unread, Complaints& complaints);

}  // namespace segfold
