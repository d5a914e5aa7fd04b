#pragma once
// Texts of the cells of a paper's tables.
#include <string>

#include "runtime/papers/files.h"

namespace segfold::papers {

/// Returns a published number with the digits that its source prints, as far as a double holds them. Returns
/// "" if `value` is null.
[[nodiscard]] std::string published_text(const PublishedValue* value);
/// Returns a published number with its unit; "" if `value` is null.
[[nodiscard]] std::string published_time(const PublishedValue* value);

/// Returns the name of the row's stage or probe with its tunables.
[[nodiscard]] std::string stage_text(const PaperRow& row);

/// Returns a factor as text: "2.00".
[[nodiscard]] std::string times_text(double factor);
/// Returns a time as text: "12.3 us" below 10 ms, "45.60 ms" from 10 ms on.
[[nodiscard]] std::string time_text(double milliseconds);
/// Returns the quartiles around a median, in the median's unit.
[[nodiscard]] std::string range_text(const Quartiles& milliseconds);
/// Returns the entry's rate in GB/s, as text.
[[nodiscard]] std::string rate_text(const bench::Entry& entry);

}  // namespace segfold::papers
