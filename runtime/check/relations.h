#pragma once
// Relations between runs that hold for every associative operator, whatever its results are.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/check/trial.h"
#include "runtime/measure/times/static_costs.h"

namespace segfold::regress {

/// A claim, and how one stage is tried on it.
struct Relation {
    std::string_view name;
    std::string_view claim;  ///< "one segment of all elements equals the whole"
    /// Why the relation does not apply to an operator; "" if it does.
    std::string (*objection)(const Operator& op);
    /// Nothing if it holds.
    std::optional<Breach> (*attempt)(Trial& trial);
    /// Needs that the setting does not meet; "" if it meets all. Null: it needs nothing.
    std::string (*missing)(const Setting& setting) = nullptr;
};

/// All relations, in the order in which they are tried.
[[nodiscard]] std::span<const Relation> relations();

/// Throws InputError naming the relations there are.
[[nodiscard]] const Relation& relation(std::string_view name);

/// Outcome of one relation with one stage.
struct RelationOutcome {
    std::string_view relation;
    std::string stage;
    Tiles tiles = Tiles::chosen;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    std::string objection;         ///< why it was not tried; "" if it was
    std::optional<Breach> breach;  ///< nothing if it held
    std::string unjudged = {};     ///< of one that held: results that could not be judged, and why

    [[nodiscard]] bool held() const { return objection.empty() && !breach; }
};

/// The part of an operator over rows or with map that relations try, "the fold of one feature"; "" for all of
/// it.
[[nodiscard]] std::string tried_part(const Operator& op);

/// Tries one relation with one stage; a fault of the kernel is a breach.
[[nodiscard]] RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage,
                                      Tiles tiles, Materials& materials);

/// The relations to try, and their subject.
struct RelationRequest {
    std::vector<const Relation*> relations;
    std::vector<const Stage*> stages;
    std::vector<Tiles> tiles;
    const Catalogue& catalogue;
    std::int64_t num_elements = 0;
    /// Not 0: as many elements, at most, as make the loops of a stage's smallest plan go round.
    std::int64_t most_elements = 0;
    std::uint64_t seed = 7;  ///< the first one
    std::uint64_t num_seeds = 1;
    MakeArrays make_arrays = uniform_arrays;
    std::span<Backend* const> others = {};  ///< beside the back end: for the relations of several devices
    AgreedRanks* ranks = nullptr;           ///< that make the same request, each with a back end of its own
};

/// Tries all of a request with one operator, seed by seed, stage by stage; `progress` is told before each
/// relation, and may be empty.
[[nodiscard]] std::vector<RelationOutcome> hold_relations(
    const NamedOperator& named, const RelationRequest& request, Backend& backend,
    const std::function<void(const std::string&)>& progress = {});

/// Why a stage cannot serve the operator in any form, as its needs say; nothing if it can.
[[nodiscard]] std::optional<std::string> unmet(const Setting& setting, const Stage& stage);

}  // namespace segfold::regress
