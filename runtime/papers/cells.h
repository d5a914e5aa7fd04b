#pragma once
// Texts of the cells of a paper's tables.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// A number with the digits that the source gave it, as far as a double keeps them; "" for none.
[[nodiscard]] std::string published_text(const PublishedValue* value);
/// The same with its unit.
[[nodiscard]] std::string published_time(const PublishedValue* value);

/// The stage or probe with its tunables.
[[nodiscard]] std::string stage_text(const PaperRow& row);

/// "2.00"
[[nodiscard]] std::string times_text(double factor);
/// "12.3 us"; "45.60 ms" from 10 ms on.
[[nodiscard]] std::string time_text(double milliseconds);
/// The quartiles around a median in the unit that it is written in.
[[nodiscard]] std::string range_text(const Quartiles& milliseconds);
/// GB/s
[[nodiscard]] std::string rate_text(const bench::Entry& entry);

}  // namespace segfold::papers
