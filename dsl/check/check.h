#pragma once
// Checks an operator's names and types. Finds every fault that can be seen without data.
#include <map>
#include <set>
#include <string>

#include "dsl/message/complaints.h"
#include "dsl/operator.h"

namespace segfold {

/// Returns `op` with every name resolved, every literal and expression typed, and every block's assignments
/// in the order of the fields they set. Checking a checked operator changes nothing.
///
/// Throws SpecError. If the operator came from a text, the message has the place and a caret.
Operator check(Operator op);

/// True for a reserved word: the name of a part, of a constant or of a place such as `index`.
bool is_reserved(std::string_view name);

/// True for every word with a meaning in the language: reserved words, types and functions. None of these may
/// name a user's own variable.
bool is_taken(std::string_view name);

/// Parts of a text that the parser could not read. Faults that may be mere consequences of them are not
/// reported.
struct Unread {
    std::set<std::string> declared;                       ///< names in unread parameters, fields and results
    std::map<std::string, std::set<std::string>> blocks;  ///< part -> names in its unread statements
    bool parts = false;                                   ///< true if whole parts could not be read
};

/// Checks an operator whose text was read only in part. Adds faults to `complaints`, except faults that
/// `unread` may explain.
///
/// The returned operator is valid only if there are no complaints.
Operator check(Operator op, const Unread& unread, Complaints& complaints);

}  // namespace segfold
