#pragma once
// Shared parts of the --json documents of verbs. Names are those of the text form and of the C++ code.
#include "codegen/configuration.h"
#include "dsl/array.h"
#include "dsl/laws/laws.h"
#include "dsl/operator.h"
#include "runtime/judge/compare.h"
#include "runtime/support/json_value.h"

namespace segfold::cli {

/// A verb's document: the program's version and the name of the document, as the schema calls it, then the
/// members of `body`. NaN and the infinities, which JSON lacks, become the strings "NaN", "Infinity" and
/// "-Infinity".
Json document(std::string_view document, Json body);

/// Writes it to standard output.
void write_json(std::string_view document, Json body);

/// Element `i` of an array as a number or a bool, with the digits that its own type needs.
Json json_of(const Array& array, std::int64_t i);

/// The same of a single value.
Json json_of(const FieldValue& value);

/// Name, parameters, results, laws, and the text form.
Json json_of(const Operator& op);

Json json_of(const Configuration& configuration);
Json json_of(const LawReport& report, const Operator& op);
Json json_of(const Comparison& comparison);

/// Thrust's device and version, or why it did not run.
Json json_of_thrust(const std::string& description, const std::string& reason);

}  // namespace segfold::cli
