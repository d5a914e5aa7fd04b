#pragma once
// Relations between runs that hold for every associative operator. They test a stage without known results.
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
    /// Tries the relation. Returns a breach if it does not hold, otherwise nothing.
    std::optional<Breach> (*attempt)(Trial& trial);
    /// Names a requirement of the relation that the setting does not meet; empty if it meets all. The pointer
    /// is null if the relation has no requirements.
    std::string (*missing)(const Setting& setting) = nullptr;
};

/// All relations, in the order in which they are tried.
[[nodiscard]] std::span<const Relation> relations();

/// Returns the relation called `name`. Throws InputError, with a list of all relations, if there is none.
[[nodiscard]] const Relation& relation(std::string_view name);

/// Outcome of one relation with one stage.
struct RelationOutcome {
    std::string_view relation;
    std::string stage;
    Tiles tiles = Tiles::chosen;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    std::string objection;         ///< reason why the relation was not tried; empty if it was
    std::optional<Breach> breach;  ///< empty if the relation held
    /// If the relation held: the results that could not be judged, with the reason.
    std::string unjudged = {};

    [[nodiscard]] bool held() const { return objection.empty() && !breach; }
};

/// Names the part of an operator on which relations are tried, such as "the fold of one feature". Empty if
/// they are tried on the whole operator.
[[nodiscard]] std::string tried_part(const Operator& op);

/// Tries one relation on one stage. A fault of the kernel counts as a breach.
[[nodiscard]] RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage,
                                      Tiles tiles, Materials& materials);

/// A request of `segfold regress`: the relations to try, and the stages and data to try them with.
struct RelationRequest {
    std::vector<const Relation*> relations;
    std::vector<const Stage*> stages;
    std::vector<Tiles> tiles;
    const Catalogue& catalogue;
    std::int64_t num_elements = 0;
    /// If not 0, each stage uses the number of elements from which its loops run more than once
    /// (elements_to_go_round()), but at most this many.
    std::int64_t most_elements = 0;
    std::uint64_t seed = 7;  ///< the first seed
    std::uint64_t num_seeds = 1;
    MakeArrays make_arrays = uniform_arrays;
    std::span<Backend* const> others = {};  ///< further back ends, for relations between devices
    /// Ranks that all make this request, each with its own back end.
    AgreedRanks* ranks = nullptr;
};

/// Tries all relations of a request on one operator, seed by seed and stage by stage. Calls `progress`, which
/// may be empty, before each relation.
[[nodiscard]] std::vector<RelationOutcome> hold_relations(
    const NamedOperator& named, const RelationRequest& request, Backend& backend,
    const std::function<void(const std::string&)>& progress = {});

/// Returns the reason why a stage cannot serve the operator in any form, taken from the stage's `needs`;
/// nothing if it serves some form.
[[nodiscard]] std::optional<std::string> unmet(const Setting& setting, const Stage& stage);

}  // namespace segfold::regress
