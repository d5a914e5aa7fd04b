#pragma once
// Looks up in the records which plan to run for a problem, and says why.
#include <optional>
#include <string>
#include <vector>

#include "runtime/session/choice/record_store.h"

namespace segfold {

/// The kind of records that answered a lookup.
enum class Match : std::uint8_t { exact, near_shape, other_device, none };

/// "exact", "near shape", "other device", "none"
std::string_view name(Match match);

/// A plan that a lookup has compared.
struct Considered {
    Point point;
    double milliseconds = 0;  ///< measured or predicted
    std::string why;          ///< "measured", "1.12 times the best of 2 near shapes"
};

struct Lookup {
    Match match = Match::none;
    std::optional<Point> point;  ///< empty: the rule of thumb has to choose
    std::string reason;          ///< one sentence without its end
    std::string record;          ///< file and line of the row that decided; empty if none did
    std::optional<double> predicted_milliseconds;
    std::vector<Considered> considered;  ///< fastest first; contains the chosen plan
    /// Messages about rows that cannot be read or whose plan cannot be run.
    std::vector<std::string> ignored;
    std::vector<Point> seeds;  ///< possible plans that won elsewhere, closest first
};

/// The device, the problem and the shape that a lookup is for.
struct Question {
    DeviceIdentity device;
    const Problem& problem;
    Shape shape;
    const Catalogue& catalogue;
};

/// Looks for the plan that was fastest for this device, class of problem and shape.
///
/// Rows of the same shape decide alone, and among them first the row that a person has pinned.
///
/// Else the four nearest shapes decide. The plan with the least loss over them, weighted by inverse distance,
/// is taken if it gains 3 % on the plan of the rule of thumb. A plan of another stage than the rule's counts
/// only if the longest segment is known for both shapes and the rule takes the same stage for both. The
/// distance counts doublings of the number of elements, of the mean length, of the longest segment relative
/// to the mean, and of the padding.
///
/// Rows of other devices, of other numbers of features or of earlier texts of a stage only seed a search. If
/// an earlier text was ranked 3 % faster than all present rows of a shape, these rows do not decide, unless a
/// person has pinned one or a search has chosen one since.
Lookup look_up(const RecordStore& store, const Question& question);

/// Whether a row is of the class of `problem`: without one, look_up() gives no point for any shape.
bool knows_class(const RecordStore& store, const DeviceIdentity& device, const Problem& problem);

/// The distance of two shapes in look_up(), in doublings; infinite between different numbers of features.
double distance(const Shape& first, const Shape& second);

/// Whether two shapes have the same sizes. An unknown longest segment or padding equals any.
bool is_same(const Shape& first, const Shape& second);

/// The hash by which records identify an operator.
std::string operator_hash(const Operator& op);

}  // namespace segfold
