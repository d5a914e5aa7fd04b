#pragma once
// JSON values that the --json documents of several verbs contain. Members have the names of the text form and
// of the C++ code.
#include "codegen/configuration.h"
#include "dsl/array.h"
#include "dsl/laws/laws.h"
#include "dsl/operator.h"
#include "runtime/judge/compare.h"
#include "runtime/support/json_value.h"

namespace segfold::cli {

/// Returns a verb's document: the program's version, the document's name in the schema, then the members of
/// `body`.
///
/// JSON has no NaN and no infinities, so they become the strings "NaN", "Infinity" and "-Infinity".
Json document(std::string_view document, Json body);

/// Writes the document that document() returns to standard output.
void write_json(std::string_view document, Json body);

/// Returns element `i` of an array as a number or bool, with the digits that its type needs.
Json json_of(const Array& array, std::int64_t i);

/// Returns a value as a number or bool, with the digits that its type needs.
Json json_of(const FieldValue& value);

/// Returns an operator's name, parameters, results, laws and text form.
Json json_of(const Operator& op);

Json json_of(const Configuration& configuration);
Json json_of(const LawReport& report, const Operator& op);
Json json_of(const Comparison& comparison);

/// Returns a JSON object with the description of the system on which Thrust ran, or with the reason why
/// Thrust did not run.
Json json_of_thrust(const std::string& description, const std::string& reason);

}  // namespace segfold::cli
