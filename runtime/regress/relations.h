#pragma once
// Relations between runs that hold for every associative operator, whatever its results are.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/regress/trial.h"

namespace segfold::regress {

/// What must be so, and how it is tried with one stage.
struct Relation {
    std::string_view name;
    std::string_view claim;  ///< "one segment of all elements equals the whole"
    /// Why the relation says nothing of an operator; empty where it does.
    std::string (*objection)(const Operator& op);
    /// Nothing where it holds.
    std::optional<Breach> (*attempt)(Trial& trial);
};

/// All relations, in the order in which they are tried.
[[nodiscard]] std::span<const Relation> relations();

/// Throws InputError naming the relations there are.
[[nodiscard]] const Relation& relation(std::string_view name);

/// What came of one relation with one stage.
struct RelationOutcome {
    std::string_view relation;
    std::string stage;
    Tiles tiles = Tiles::chosen;
    std::uint64_t seed = 0;
    std::string objection;         ///< why it was not tried; empty where it was
    std::optional<Breach> breach;  ///< nothing where it held

    [[nodiscard]] bool held() const { return objection.empty() && !breach; }
};

/// Tries one relation with one stage; a fault of the kernel is a breach.
[[nodiscard]] RelationOutcome attempt(const Relation& relation, const Setting& setting, const Stage& stage,
                                      Tiles tiles, Materials& materials);

/// Why a stage cannot serve the operator in any form, as its needs say; nothing if it can.
[[nodiscard]] std::optional<std::string> unmet(const Setting& setting, const Stage& stage);

}  // namespace segfold::regress
