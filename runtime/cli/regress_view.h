#pragma once
// What segfold regress has found, as text and as JSON.
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "runtime/cli/json.h"
#include "runtime/regress/relations.h"

namespace segfold::cli {

/// The relations of one operator.
struct OperatorRelations {
    std::string op;  ///< the words by which a command line names it
    std::vector<regress::RelationOutcome> outcomes;
};

/// All that one run has found.
struct RegressReport {
    std::string backend;
    std::int64_t num_elements = 0;
    std::string replay_words;  ///< flags that every replaying command needs
    std::vector<OperatorRelations> relations;

    /// 0; 1 where something is broken or worse; 5 where only noise keeps something from being told.
    [[nodiscard]] int exit_code() const;
};

[[nodiscard]] std::string print(const RegressReport& report);
[[nodiscard]] Json json_of(const RegressReport& report);

}  // namespace segfold::cli
