#pragma once
// Expands shorthands of the text form: user functions, arrays in the state and loop counters. check() sees
// none of these.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/operator.h"

namespace segfold {

/// A function of the user: `def name(arguments) = value`. Each call is replaced by the value, so arguments
/// may have any type.
struct OwnFunction {
    std::string name;
    std::vector<std::string> arguments;
    Expression value;
    Position position;
};

/// Name of an array -> number of its entries; entry k is the field NAME_k.
using Arrays = std::map<std::string, std::int64_t, std::less<>>;

/// Declarations of a text that an Operator does not hold.
struct Shorthands {
    std::vector<OwnFunction> functions;
    std::set<std::string> unread;  ///< functions with a fault; messages do not mention them again
    Arrays state;
    Arrays results;
};

/// Marks a node that compares a computed index with an entry's number, as the node's `name`. With this mark,
/// check() requires an integer index. check() removes the mark.
inline constexpr const char* kChoosesEntry = "index";

/// Largest number of entries of an array, and of rounds of one loop.
inline constexpr std::int64_t kMostEntries = 256;

/// Returns the name of entry `index` of an array: "bins_3".
std::string entry_name(const std::string& array, std::int64_t index);

/// Makes the value of a loop counter. Operations on such values are computed during the expansion.
Expression make_counter(std::int64_t value);

/// Returns the value of an expression made of integer constants. Returns none for any other expression, or if
/// the value does not fit into 64 bits.
std::optional<std::int64_t> constant_value(const Expression& expression);

/// Expands calls of functions and entries of arrays in an operator that has not been checked.
///
/// An assignment or a local may be named "bins[3]". A gather whose symbol is an operand's name stands for
/// `a.bins[3]`. Adds faults to `complaints`, and names set by faulty statements to `unread`.
void expand(Operator& op, const Shorthands& shorthands, Unread& unread, Complaints& complaints);

}  // namespace segfold
