#pragma once
// Functions of one's own, arrays in the state and counters of loops: shorthands that check() never sees.
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/operator.h"

namespace segfold {

/// `def name(arguments) = value`: written out wherever it is called, so it takes any types.
struct OwnFunction {
    std::string name;
    std::vector<std::string> arguments;
    Expression value;
    Position position;
};

/// Name of an array -> how many entries it has; entry k is the field NAME_k.
using Arrays = std::map<std::string, std::int64_t, std::less<>>;

/// The parts of a text that an Operator does not hold.
struct Shorthands {
    std::vector<OwnFunction> functions;
    std::set<std::string> unread;  ///< names of faulty functions; they get no further message
    Arrays state;
    Arrays results;
};

/// The name of a comparison that chooses an entry by a computed index; check() removes it. Only there the
/// index has a type, and it must be an integer.
inline constexpr const char* kChoosesEntry = "index";

/// Longest array, and most rounds of one loop.
inline constexpr std::int64_t kMostEntries = 256;

/// The name of entry `index` of an array: "bins_3".
std::string entry_name(const std::string& array, std::int64_t index);

/// A number that a loop counts with. Operations between such numbers are done where they are written.
Expression make_counter(std::int64_t value);

/// The value of an expression of whole numbers alone; nothing for others, and if it leaves 64 bits.
std::optional<std::int64_t> constant_value(const Expression& expression);

/// Writes out the calls of functions and the entries of arrays, of an operator that check() has not seen.
///
/// Targets of assignments and locals may be called "bins[3]"; a gather whose symbol names an owner is
/// `a.bins[3]`. Adds faults to `complaints`, and parts that they leave out to `unread`.
void expand(Operator& op, const Shorthands& shorthands, Unread& unread, Complaints& complaints);

}  // namespace segfold
