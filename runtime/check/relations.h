#pragma once
// Relations between runs that hold for every associative operator, so right results need not be known.
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
    std::string_view claim;  ///< a sentence: "one segment of all elements equals the whole"
    /// Returns the reason why the relation does not apply to an operator; empty if it applies.
    std::string (*objection)(const Operator& op);
    /// Tries the relation. Returns nothing if it holds, else its breach.
    std::optional<Breach> (*attempt)(Trial& trial);
    /// Returns a text on what the relation needs but the setting lacks; empty if the setting lacks nothing.
    /// The pointer is null if the relation needs nothing.
    std::string (*missing)(const Setting& setting) = nullptr;
};

/// All relations, in the order in which they are tried.
[[nodiscard]] std::span<const Relation> relations();

/// Returns the relation called `name`. If there is none, throws InputError with a list of the relations.
[[nodiscard]] const Relation& relation(std::string_view name);

/// Outcome of one relation with one stage.
struct RelationOutcome {
    std::string_view relation;
    std::string stage;
    Tiles tiles = Tiles::chosen;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    std::string objection;         ///< reason why the relation was not tried; empty if it was tried
    std::optional<Breach> breach;  ///< nothing if the relation held
    std::string unjudged = {};     ///< if a relation held: the results that could not be judged, and why

    [[nodiscard]] bool held() const { return objection.empty() && !breach; }
};

/// Names the part of an operator that relations try, such as "the fold of one feature". Empty if they try the
/// whole operator.
[[nodiscard]] std::string tried_part(const Operator& op);

/// Tries one relation with one stage. A fault of the kernel counts as a breach.
[[nodiscard]] RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage,
                                      Tiles tiles, Materials& materials);

/// A request of `segfold regress`: the relations to try, and the stages and data to try them with.
struct RelationRequest {
    std::vector<const Relation*> relations;
    std::vector<const Stage*> stages;
    std::vector<Tiles> tiles;
    const Catalogue& catalogue;
    std::int64_t num_elements = 0;
    /// If not 0, each stage uses as many elements as its smallest plan needs to run its loops more than once,
    /// but at most this number.
    std::int64_t most_elements = 0;
    std::uint64_t seed = 7;  ///< the first seed
    std::uint64_t num_seeds = 1;
    MakeArrays make_arrays = uniform_arrays;
    std::span<Backend* const> others = {};  ///< further back ends, for relations between devices
    /// Ranks that all make this request, each with a back end of its own.
    AgreedRanks* ranks = nullptr;
};

/// Tries all relations of a request with one operator, seed by seed, stage by stage. Before each relation it
/// calls `progress`, which may be empty.
[[nodiscard]] std::vector<RelationOutcome> hold_relations(
    const NamedOperator& named, const RelationRequest& request, Backend& backend,
    const std::function<void(const std::string&)>& progress = {});

/// Returns the reason why a stage cannot serve the operator in any form, by the stage's `needs`; nothing if
/// it can serve some form.
[[nodiscard]] std::optional<std::string> unmet(const Setting& setting, const Stage& stage);

}  // namespace segfold::regress
