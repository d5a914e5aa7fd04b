#pragma once
// Prints measurements in the exchange format of auto-tuners.
#include <span>
#include <string>

#include "runtime/session/choice/record.h"

namespace segfold::tune {

/// Prints a T4 document, schema 1.0.0: one result per record, times in milliseconds, the stage as a
/// parameter.
///
/// Source: Willemsen et al., "FAIR sharing of data in autotuning research", 2024, and the T4 schema of
/// github.com/odgaard/TuningSchema.
std::string print_t4(std::span<const TuningRecord> records);

}  // namespace segfold::tune
