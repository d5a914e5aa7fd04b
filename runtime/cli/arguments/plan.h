#pragma once
// The flags that choose a plan.
#include <optional>

#include "codegen/emit.h"
#include "runtime/cli/arguments/arguments.h"
#include "runtime/cli/arguments/law_arguments.h"
#include "runtime/session/choice/choice.h"
#include "runtime/session/session.h"

namespace segfold::cli {

inline constexpr Flag kPlanFlags[] = {
    {"stage", "STAGE"}, {"set", "NAME=VALUE", true}, {"kernels", "DIR"}, {"reproducible"}, {"at-launch"}};

/// The flags by which a run looks for the fastest stage, or for the soonest results.
inline constexpr Flag kSpotFlags[] = {{"measure", "N", false, "3"}, {"first", "best|fast"}};

/// The flag --backend of verbs that show stages but run none. Its default is cuda.
inline constexpr Flag kDialectFlags[] = {{"backend", "cuda|cpu"}};

/// True if --backend requests the stages for the host's cores.
bool shows_native(const Arguments& arguments);

/// Returns the name of a back end that has the requested stages. The back end can be made without a device.
std::string shown_backend(const Arguments& arguments);

/// The program's stages, overlaid with the stages in the folder that --kernels names.
class Kernels {
public:
    explicit Kernels(const Arguments& arguments);
    [[nodiscard]] const Catalogue& catalogue() const;

private:
    std::optional<Catalogue> own_;
};

/// Returns the request that --stage, --set, --reproducible, --at-launch, --measure and --first make. Throws
/// InputError if flags exclude each other.
PlanRequest plan_request(const Arguments& arguments);

/// Returns the session options that --kernels and --assume set. Throws InputError for a law that the operator
/// does not claim.
SessionOptions session_options(const Arguments& arguments, const Operator& op);

/// Returns the first given flag that chooses the plan in place of tuning records: --stage, --set or
/// --reproducible. Returns empty text if no such flag is given.
std::string chosen_by_flag(const Arguments& arguments);

/// Returns the values of --set. Throws InputError.
std::map<std::string, int> settings(const Arguments& arguments);

/// A stage and some of its tunables, as one word: "warp_stream" or
/// "warp_stream:ring_offsets=256,held_totals=0". The first tunable may be "near".
struct PlanWord {
    std::string stage;
    std::string tunables;  ///< the text after the colon
    std::map<std::string, int> chosen = {};
    bool is_near = false;  ///< where the workload does not allow it, the nearest configuration is meant
};

/// Returns the values of --plan. Throws InputError.
std::vector<PlanWord> plan_words(const Arguments& arguments);

}  // namespace segfold::cli
