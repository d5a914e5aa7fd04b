#pragma once
// JSON values in the --json documents of several verbs. Members are named as in the text output and in the
// C++ code.
#include "codegen/configuration.h"
#include "dsl/array.h"
#include "dsl/laws/laws.h"
#include "dsl/operator.h"
#include "runtime/judge/compare.h"
#include "runtime/support/json_value.h"

namespace segfold::cli {

/// Returns the document of a verb: the program's version, the name of the document in the schema, then the
/// members of `body`.
///
/// JSON has no NaN and no infinities, so the strings "NaN", "Infinity" and "-Infinity" replace them.
Json document(std::string_view document, Json body);

/// Writes document(`document`, `body`) to standard output.
void write_json(std::string_view document, Json body);

/// Returns element `i` of an array as a number or bool, with the digits that its type requires.
Json json_of(const Array& array, std::int64_t i);

/// Returns a value as a number or bool, with the digits that its type requires.
Json json_of(const FieldValue& value);

/// Returns an operator's name, parameters, results, laws and source text.
Json json_of(const Operator& op);

Json json_of(const Configuration& configuration);
Json json_of(const LawReport& report, const Operator& op);
Json json_of(const Comparison& comparison);

/// Returns a JSON object with a description of the system on which Thrust ran, or the reason why it did not
/// run.
Json json_of_thrust(const std::string& description, const std::string& reason);

}  // namespace segfold::cli
