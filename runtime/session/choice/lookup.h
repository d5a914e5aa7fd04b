#pragma once
// Looks up the fastest plan for a problem in the tuning records (rows), with the reason. If no record
// decides, the rule of thumb does: it takes the stage that the order of stages puts first.
#include <optional>
#include <string>
#include <vector>

#include "runtime/session/choice/record_store.h"

namespace segfold {

/// The kind of records that answered a lookup.
enum class Match : std::uint8_t { exact, near_shape, spot, other_device, none };

/// Returns "exact", "near shape", "spot", "other device" or "none".
std::string_view name(Match match);

/// A plan that was compared in a lookup.
struct Considered {
    Point point;
    double milliseconds = 0;  ///< measured or predicted time
    std::string why;          ///< such as "measured" or "1.12 times the best of 2 near shapes"
};

struct Lookup {
    Match match = Match::none;
    std::optional<Point> point;  ///< the answer; empty if the rule of thumb must choose
    std::string reason;          ///< the reason for the answer, as a sentence without its final dot
    std::string record;          ///< file and line of the row that decided; empty if no row decided
    std::optional<double> predicted_milliseconds;
    std::vector<Considered> considered;  ///< the chosen plan and its rivals, fastest first
    /// Messages about unreadable rows and about rows whose plan cannot run.
    std::vector<std::string> ignored;
    /// Plans from which a search may start. They are runnable plans of other rows of phase `ranked` or later;
    /// the closest shape comes first.
    std::vector<Point> seeds;
};

/// The arguments of a lookup: device, problem and shape.
struct Question {
    DeviceIdentity device;
    const Problem& problem;
    Shape shape;
    const Catalogue& catalogue;
};

/// Returns the fastest plan for this device, class of problem and shape.
///
/// If rows of the same shape exist, only these rows decide. Among them a row that a person has pinned wins.
///
/// If there are no rows of the same shape, the four nearest shapes decide. The plan with the least loss over
/// these shapes, weighted by inverse distance, is taken if it is 3 % faster than the plan of the rule of
/// thumb. A plan of another stage than the rule's counts only if the longest segment is known for both shapes
/// and the rule takes the same stage for both. The distance counts doublings of the number of elements, of
/// the mean length, of the longest segment relative to the mean, and of the padding.
///
/// Rows of other devices, of other numbers of features or of earlier texts of a stage only give seeds for a
/// search. If a row of an earlier text was ranked 3 % faster than all present rows of a shape, the present
/// rows do not decide, unless a person has pinned one of them or a later search has chosen one.
Lookup look_up(const RecordStore& store, const Question& question);

/// True if the store has a row of the class of `problem`. If there is no such row, look_up() returns no point
/// for any shape.
bool knows_class(const RecordStore& store, const DeviceIdentity& device, const Problem& problem);

/// Returns the distance of two shapes for look_up(), in doublings; infinite if their numbers of features
/// differ.
double distance(const Shape& first, const Shape& second);

/// True if two shapes have the same sizes. An unknown longest segment or padding equals any value.
bool is_same(const Shape& first, const Shape& second);

}  // namespace segfold
