#pragma once
// What the records say of a problem: which plan to run, and why that one.
#include <optional>
#include <string>
#include <vector>

#include "runtime/session/choice/record_store.h"

namespace segfold::tune {

/// How a lookup came to its answer.
enum class Match : std::uint8_t { exact, near_shape, other_device, none };

/// "exact", "near shape", "other device", "none"
std::string_view name(Match match);

/// A plan that was looked at.
struct Considered {
    Point point;
    double milliseconds = 0;  ///< measured or predicted
    std::string why;          ///< "measured", "1.12 times the best of 2 near shapes"
};

struct Lookup {
    Match match = Match::none;
    std::optional<Point> point;  ///< nothing: the rule of thumb has to choose
    std::string reason;          ///< one sentence without its end
    std::string record;          ///< where the row stands that decided; empty without one
    std::optional<double> predicted_milliseconds;
    std::vector<Considered> considered;  ///< the fastest first, with the chosen one
    std::vector<std::string> ignored;    ///< rows that name what cannot be run, or cannot be read
    std::vector<Point> seeds;            ///< possible plans that won elsewhere, the closest first
};

/// What is asked for.
struct Question {
    DeviceIdentity device;
    const Problem& problem;
    Shape shape;
    const Catalogue& catalogue;
};

/// Looks for the plan that was fastest for this device, class of problem and shape.
///
/// A row of the same shape decides alone, one that a person has pinned before all others. Between shapes the
/// plan is taken that loses least over the four nearest, weighted by inverse distance, if it gains 3 % on the
/// rule of thumb's; of another stage only where the longest segment is known on both sides, and the rule
/// takes the same stage on both. Distance counts doublings of the number of elements, of the mean length, of
/// the longest segment over the mean, and of what padding adds. What another device or another number of
/// features has won, or an earlier text of a stage, is a seed for searching and decides nothing. Where an
/// earlier text was ranked 3 % faster than all rows of a shape, these decide nothing either, unless a person
/// has pinned one or a search has chosen since.
Lookup look_up(const RecordStore& store, const Question& question);

/// Whether a row is of the class of `problem`: without one, look_up() gives no point for any shape.
bool knows_class(const RecordStore& store, const DeviceIdentity& device, const Problem& problem);

/// Distance of two shapes, as look_up counts it; infinite between different numbers of features.
double distance(const Shape& first, const Shape& second);

/// Whether two shapes have the same sizes, as far as both are known.
bool is_same(const Shape& first, const Shape& second);

/// The text by which rows know an operator.
std::string operator_hash(const Operator& op);

}  // namespace segfold::tune
