#pragma once
// The inputs of probes, and their right results, computed on the host.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "codegen/probe.h"

namespace segfold::bench {

/// Byte that fills a probe's results before it runs.
inline constexpr std::uint8_t kProbePoison = 0xcd;

/// Returns the 32-bit word at index `place` of an input. All probes have the same input. An eight-byte
/// element consists of two words, the lower one first.
[[nodiscard]] std::uint32_t probe_word(std::uint64_t place);

/// Fills `words` with the input's words 0, 1, 2, ...
void fill_probe_input(std::span<std::uint32_t> words);

/// Returns the element that a probe must write at index `place` of its results; nothing if it must not write
/// there.
using ProbeAnswer = std::function<std::optional<std::uint64_t>(std::int64_t place)>;

/// Returns the right results of a probe. Throws InternalError if the probe is unknown.
[[nodiscard]] ProbeAnswer answer_of(const std::string& probe, const FormulaNames& names);

/// Compares `results`, whose elements have 4 or 8 bytes, with the right results. Returns an empty text if all
/// are right. Otherwise returns a text with the index, the value and the right value of the first wrong
/// element.
[[nodiscard]] std::string judge_probe(const ProbeAnswer& answer, std::span<const std::byte> results,
                                      int element_bytes);

}  // namespace segfold::bench
