#pragma once
// Reads the flags that choose a plan.
#include <optional>

#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/law_arguments.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/session.h"

namespace segfold::cli {

inline constexpr Flag kPlanFlags[] = {
    {"stage", "STAGE"}, {"set", "NAME=VALUE", true}, {"kernels", "DIR"}, {"reproducible"}, {"at-launch"}};

/// The flags with which a run measures plans first, or aims at the earliest results instead of the fastest
/// plan.
inline constexpr Flag kSpotFlags[] = {{"measure", "N", false, "3"}, {"first", "best|fast"}};

/// The flag --backend for verbs that show stages without running them. The default is cuda.
inline constexpr Flag kDialectFlags[] = {{"backend", "cuda|cpu"}};

/// True if --backend selects the stages for the host's cores.
bool shows_native(const Arguments& arguments);

/// Returns the name of a back end that has the selected stages and can be made without a device.
std::string shown_backend(const Arguments& arguments);

/// The program's stages. Stages in the folder of --kernels replace or extend them.
class Kernels {
public:
    explicit Kernels(const Arguments& arguments);
    [[nodiscard]] const Catalogue& catalogue() const;

private:
    std::optional<Catalogue> own_;
};

/// Returns the plan request of --stage, --set, --reproducible, --at-launch, --measure and --first. Throws
/// InputError if flags exclude each other.
PlanRequest plan_request(const Arguments& arguments);

/// Returns the session options of --kernels and --assume. Throws InputError for a law that the operator does
/// not claim.
SessionOptions session_options(const Arguments& arguments, const Operator& op);

/// Returns the first given flag among --stage, --set and --reproducible, which choose the plan instead of
/// tuning records. Empty if none is given.
std::string chosen_by_flag(const Arguments& arguments);

/// Returns the values of --set. Throws InputError if one is malformed.
std::map<std::string, int> settings(const Arguments& arguments);

/// A stage and values of some tunables, written as one word: "warp_stream" or
/// "warp_stream:ring_offsets=256,held_totals=0". The first value may be the word "near"; see `is_near`.
struct PlanWord {
    std::string stage;
    std::string tunables;  ///< the text after the colon
    std::map<std::string, int> chosen = {};
    bool is_near = false;  ///< true: if the workload excludes this configuration, take the nearest one
};

/// Returns the values of --plan. Throws InputError if one is malformed.
std::vector<PlanWord> plan_words(const Arguments& arguments);

}  // namespace segfold::cli
