#pragma once
// Relations between runs that hold for every associative operator, so no right result need be known.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/check/trial.h"
#include "runtime/measure/times/static_costs.h"

namespace segfold::regress {

/// A relation, and the function that tries it on one stage.
struct Relation {
    std::string_view name;
    std::string_view claim;  ///< "one segment of all elements equals the whole"
    /// Returns why the relation does not apply to an operator; empty if it does.
    std::string (*objection)(const Operator& op);
    /// Tries the relation; returns nothing if it holds.
    std::optional<Breach> (*attempt)(Trial& trial);
    /// Returns what the relation needs and the setting lacks; empty if nothing. Null if the relation needs
    /// nothing.
    std::string (*missing)(const Setting& setting) = nullptr;
};

/// All relations, in the order in which they are tried.
[[nodiscard]] std::span<const Relation> relations();

/// Returns the relation called `name`. Throws InputError listing the relations if there is none.
[[nodiscard]] const Relation& relation(std::string_view name);

/// Outcome of one relation with one stage.
struct RelationOutcome {
    std::string_view relation;
    std::string stage;
    Tiles tiles = Tiles::chosen;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    std::string objection;         ///< why the relation was not tried; empty if it was
    std::optional<Breach> breach;  ///< nothing if the relation held
    std::string unjudged = {};     ///< results of a relation that held but could not be judged, and why

    [[nodiscard]] bool held() const { return objection.empty() && !breach; }
};

/// Names the part of an operator that relations try, such as "the fold of one feature". Empty if they try the
/// whole operator.
[[nodiscard]] std::string tried_part(const Operator& op);

/// Tries one relation with one stage; a fault of the kernel is a breach.
[[nodiscard]] RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage,
                                      Tiles tiles, Materials& materials);

/// A request of `segfold regress`: the relations to try, on which stages and data.
struct RelationRequest {
    std::vector<const Relation*> relations;
    std::vector<const Stage*> stages;
    std::vector<Tiles> tiles;
    const Catalogue& catalogue;
    std::int64_t num_elements = 0;
    /// If not 0: each stage uses enough elements that its smallest plan runs its loops more than once, but at
    /// most this many.
    std::int64_t most_elements = 0;
    std::uint64_t seed = 7;  ///< the first seed
    std::uint64_t num_seeds = 1;
    MakeArrays make_arrays = uniform_arrays;
    std::span<Backend* const> others = {};  ///< further back ends, for relations between devices
    /// Ranks that all make this request, each with a back end of its own.
    AgreedRanks* ranks = nullptr;
};

/// Tries all relations of a request with one operator, seed by seed, stage by stage. `progress` is called
/// before each; it may be empty.
[[nodiscard]] std::vector<RelationOutcome> hold_relations(
    const NamedOperator& named, const RelationRequest& request, Backend& backend,
    const std::function<void(const std::string&)>& progress = {});

/// Returns why a stage cannot serve the operator in any form, according to the stage's needs; nothing if it
/// can.
[[nodiscard]] std::optional<std::string> unmet(const Setting& setting, const Stage& stage);

}  // namespace segfold::regress
