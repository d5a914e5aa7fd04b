#pragma once
// What probes have to compute: their inputs, and each element of their results, told on the host.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "codegen/probe.h"

namespace segfold::bench {

/// Every byte of a probe's results before it runs.
inline constexpr std::uint8_t kProbePoison = 0xcd;

/// The 32-bit word at a place of every input; an element of eight bytes has two, the lower one first.
[[nodiscard]] std::uint32_t probe_word(std::uint64_t place);

/// Words 0, 1, 2, ... of an input.
void fill_probe_input(std::span<std::uint32_t> words);

/// The element that the probe has to leave at a place of its results; nothing where it must leave the poison.
using ProbeAnswer = std::function<std::optional<std::uint64_t>(std::int64_t place)>;

/// Throws InternalError for a probe whose answer nobody has written down.
[[nodiscard]] ProbeAnswer answer_of(const std::string& probe, const FormulaNames& names);

/// Whether `results`, elements of 4 or 8 bytes, are what the answer says. Returns "" or the first that is
/// not, with its place, what it is and what it has to be.
[[nodiscard]] std::string judge_probe(const ProbeAnswer& answer, std::span<const std::byte> results,
                                      int element_bytes);

}  // namespace segfold::bench
