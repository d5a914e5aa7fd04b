#pragma once
// Prints measurements in T4, the exchange format of auto-tuners.
#include <span>
#include <string>

#include "runtime/session/choice/record.h"

namespace segfold::tune {

/// Prints a T4 document, schema 1.0.0, with one result per record. Times are in milliseconds, and the stage
/// is a parameter.
///
/// Source: Willemsen et al., "FAIR sharing of data in autotuning research", 2024, and the T4 schema of
/// github.com/odgaard/TuningSchema.
std::string print_t4(std::span<const TuningRecord> records);

}  // namespace segfold::tune
