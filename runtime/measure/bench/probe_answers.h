#pragma once
// The inputs of probes and the results that they must compute, evaluated on the host.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "codegen/probe.h"

namespace segfold::bench {

/// The byte that fills a probe's results before it runs.
inline constexpr std::uint8_t kProbePoison = 0xcd;

/// Returns the 32-bit word at `place` of an input. All inputs have the same words. An element of eight bytes
/// has two words, the lower one first.
[[nodiscard]] std::uint32_t probe_word(std::uint64_t place);

/// Fills `words` with words 0, 1, 2, ... of an input.
void fill_probe_input(std::span<std::uint32_t> words);

/// Returns the element that a probe must write at `place` of its results; nothing if that place stays
/// unwritten.
using ProbeAnswer = std::function<std::optional<std::uint64_t>(std::int64_t place)>;

/// Returns the answers of a probe. Throws InternalError if the probe is unknown.
[[nodiscard]] ProbeAnswer answer_of(const std::string& probe, const FormulaNames& names);

/// Compares `results`, elements of 4 or 8 bytes, with the answers. Returns "" if all are right. Otherwise
/// returns a text on the first wrong element, with its place, its value and the right value.
[[nodiscard]] std::string judge_probe(const ProbeAnswer& answer, std::span<const std::byte> results,
                                      int element_bytes);

}  // namespace segfold::bench
