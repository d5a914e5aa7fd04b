#pragma once
// Tuning records, also called rows. A record is a measurement of a plan with all facts on which it depends.
// Files have one JSON object per line.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/facts.h"
#include "codegen/problem.h"
#include "runtime/backends/device_identity.h"
#include "runtime/session/choice/plan_measurement.h"
#include "runtime/session/choice/point.h"

namespace segfold {

/// The facts of a problem on which the fastest plan depends. Operators of the same class share records.
struct ProblemClass {
    std::string form;
    int index_bits = 32;
    int key_bytes = 0;  ///< bytes of a key if segments are given by keys; else 0
    std::int64_t element_bytes = 0;
    std::int64_t state_bytes = 0;
    bool is_commutative = false;
    bool has_identity = true;
    bool is_costly = false;
    bool has_rows = false;  ///< true for rows of features
    bool has_map = false;
    bool has_scan = false;  ///< true for running results

    bool operator==(const ProblemClass&) const = default;
};

ProblemClass class_of(const Problem& problem);
/// Returns the class by which a host looks up records. A host converts flags and keys to offsets before a
/// fold.
ProblemClass folded_on_host(ProblemClass problem);
/// Returns text such as "offsets, 32-bit indices, 4 bytes an element, 4 bytes a state, commutative".
std::string print(const ProblemClass& problem);

/// How thoroughly the plan of a row was measured.
enum class TuningPhase : std::uint8_t {
    spot,      ///< by a few runs on a caller's arrays, as `measure` asks; see spot.h
    screened,  ///< by a few runs
    ranked,    ///< by many runs, in turns with other plans
    chosen,    ///< the winner of a search, with correct results
    pinned     ///< chosen by a person; later rankings do not replace it
};

std::string_view name(TuningPhase phase);

struct TuningRecord {
    DeviceIdentity device;
    std::string driver;    ///< the driver's CUDA version
    std::string compiler;  ///< such as "NVRTC 13.0"
    std::string op;        ///< the operator's name
    std::string op_hash;   ///< hash of the operator's text
    ProblemClass problem;
    std::string layout;  ///< the layout in the user's spelling, for display
    Shape shape;
    Point point;
    /// Hash of the texts of the stage and its parts, without advice lines. A row whose hash differs from the
    /// present stage's only gives a seed for a search.
    std::string stage_hash;
    TuningPhase phase = TuningPhase::screened;
    PlanMeasurement measurement;
    std::int64_t bytes = 0;   ///< compulsory bytes
    std::string date;         ///< such as "2026-11-22T04:33:35Z"
    std::string origin = {};  ///< file and line of the row, such as "records.jsonl:12"; not written to files
};

/// Returns the hash of a text as sixteen hexadecimal digits, the same on every machine.
std::string hash_text(std::string_view text);
/// Returns the hash by which records identify an operator.
std::string operator_hash(const Operator& op);
/// Returns the hash of a stage's file and of all parts that it may use.
std::string stage_hash(const Stage& stage, const Catalogue& catalogue);

/// Returns a record without a measurement. Sets device, operator, class of problem, shape, bytes and the
/// present time; leaves driver, compiler and layout empty.
TuningRecord blank_record(const DeviceIdentity& device, const Problem& problem, const Shape& shape,
                          std::int64_t bytes);
/// Returns the current time, as in "2026-11-22T04:33:35Z".
std::string time_stamp();

/// Returns the record as one line of JSON without a line break.
std::string print(const TuningRecord& record);
/// Reads a tuning record from a line. Messages begin with `place`, such as "records.jsonl:12". Throws
/// InputError for an invalid field; the message names the field, its value and a valid value.
TuningRecord parse_record(const std::string& place, std::string_view line);

/// The tuning records in a file, and complaints about its invalid lines.
struct TuningRecords {
    std::vector<TuningRecord> rows;
    std::vector<std::string> complaints;  ///< one sentence for each line that was skipped
};

/// Reads the tuning records in the text of the file `name`, one per line. Skips invalid lines and adds a
/// complaint for each. Reports an invalid last line without a line break as cut off.
TuningRecords parse_records(const std::string& name, std::string_view text);

}  // namespace segfold
