#pragma once
// What tuning has measured, as rows: one JSON object a line, each with all that it depends on.
#include <string>
#include <string_view>
#include <vector>

#include "codegen/problem.h"
#include "runtime/backends/device_identity.h"
#include "runtime/session/choice/plan_measurement.h"
#include "runtime/session/choice/point.h"

namespace segfold {

/// What of a problem makes plans fast or slow; operators that agree in it share records.
struct ProblemClass {
    std::string form;
    int index_bits = 32;
    int key_bytes = 0;  ///< 0 but for form keys
    std::int64_t element_bytes = 0;
    std::int64_t state_bytes = 0;
    bool is_commutative = false;
    bool has_identity = true;
    bool is_costly = false;
    bool has_rows = false;  ///< of features
    bool has_map = false;

    bool operator==(const ProblemClass&) const = default;
};

ProblemClass class_of(const Problem& problem);
/// The class among whose records a host looks: it folds flags and keys by the offsets that it makes of them.
ProblemClass folded_on_host(ProblemClass problem);
/// "offsets, 32-bit indices, 4 bytes an element, 4 bytes a state, commutative"
std::string print(const ProblemClass& problem);

/// How far a row has come.
enum class TuningPhase : std::uint8_t {
    screened,  ///< a few runs
    ranked,    ///< many runs, by turns with its rivals
    chosen,    ///< won, and its results are right
    pinned     ///< chosen by a person; later rankings do not replace it
};

std::string_view name(TuningPhase phase);

struct TuningRecord {
    DeviceIdentity device;
    std::string driver;    ///< the driver's CUDA version
    std::string compiler;  ///< "NVRTC 13.0"
    std::string op;        ///< the operator's name
    std::string op_hash;   ///< of its text
    ProblemClass problem;
    std::string layout;  ///< as it was given, for people
    Shape shape;
    Point point;
    std::string stage_hash;  ///< of stage and parts without advice: another one makes the row a mere seed
    TuningPhase phase = TuningPhase::screened;
    PlanMeasurement measurement;
    std::int64_t bytes = 0;   ///< compulsory
    std::string date;         ///< "2026-11-22T04:33:35Z"
    std::string origin = {};  ///< where it was read, "records.jsonl:12"; not written
};

/// Sixteen hexadecimal digits that stand for a text, the same on every machine.
std::string hash_text(std::string_view text);
/// That of a stage's file and all parts it may use.
std::string stage_hash(const Stage& stage, const Catalogue& catalogue);

/// One line without its end.
std::string print(const TuningRecord& record);
/// Reads a line; `place` begins messages: "records.jsonl:12". Throws InputError with the field, the value
/// there and what would be right.
TuningRecord parse_record(const std::string& place, std::string_view line);

/// Rows of a text, and what was wrong with others.
struct TuningRecords {
    std::vector<TuningRecord> rows;
    std::vector<std::string> complaints;  ///< one sentence for each line that was passed over
};

/// Reads a file's text. Bad lines are passed over and reported; one that ends the text without a line break
/// was cut off, and is reported as such.
TuningRecords parse_records(const std::string& name, std::string_view text);

}  // namespace segfold
