#pragma once
// Inputs of probes, and the right value of each element of their results, computed on the host.
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

/// The element that the probe must leave at a place of its results; nothing if it must leave the poison.
using ProbeAnswer = std::function<std::optional<std::uint64_t>(std::int64_t place)>;

/// Throws InternalError for a probe without a written answer.
[[nodiscard]] ProbeAnswer answer_of(const std::string& probe, const FormulaNames& names);

/// Compares `results`, elements of 4 or 8 bytes, with the answer. Returns "" or the first wrong element: its
/// place, its value and the right one.
[[nodiscard]] std::string judge_probe(const ProbeAnswer& answer, std::span<const std::byte> results,
                                      int element_bytes);

}  // namespace segfold::bench
