#pragma once
// Checks an operator. It judges the laws first, then runs every stage on every layout and compares the
// results with the reference and Thrust.
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/catalogue.h"
#include "runtime/check/check_layouts.h"
#include "runtime/check/fault_input.h"
#include "runtime/data/workload_request.h"
#include "runtime/judge/compare.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/scale/ranks/agreed_ranks.h"
#include "runtime/session/session.h"

namespace segfold::regress {

/// Returns the default number of elements on which a check runs a stage.
///
/// The number lies between `least` and `most`. It is large enough that the stage's smallest plans run their
/// loops more than once. A few elements are added, so that segments of one odd length fit and all elements
/// form whole vectors.
std::int64_t elements_for(const Operator& op, const Stage& stage, const Catalogue& catalogue,
                          const Target& target, std::int64_t least, std::int64_t most);

/// Outcome of one stage, or of Thrust, on one layout with one seed.
struct CheckOutcome {
    std::string stage;  ///< "thrust" for Thrust itself
    std::string layout;
    std::uint64_t seed = 0;
    std::int64_t num_elements = 0;
    Configuration configuration;  ///< configuration of the stage; empty for Thrust
    /// Ten times the compute capability for which the stage's text is written; set only if the text is for
    /// older devices than the back end's.
    std::optional<int> compute_capability;
    std::optional<std::string> unmet;     ///< why the stage cannot serve; no later member is then set
    std::optional<std::string> fault;     ///< a fault that simt found; no later member is then set
    std::vector<Comparison> comparisons;  ///< comparison with the reference, then with Thrust if Thrust ran

    [[nodiscard]] bool failed() const;
};

/// The operator's data, stages and layouts to check.
struct CheckRequest {
    WorkloadRequest workload;  ///< its layout is replaced by `layouts`
    std::vector<CheckLayout> layouts;
    std::vector<const Stage*> stages;
    /// Number of elements for each stage, if the layout gives none. Stages missing here use
    /// workload.standard_elements.
    std::map<const Stage*, std::int64_t> elements = {};
    /// Values of tunables for every run. If empty, the usual configuration and the smallest one alternate
    /// between layouts and seeds. On some layouts both run, and also next_configuration(), once with a text
    /// for the oldest devices that checks every read of a table.
    std::map<std::string, int> chosen;
    std::int64_t num_seeds = 1;
    std::vector<Law> assume = {};  ///< laws to rely on even if they are refuted
    prove::ProofOptions proof = {};
    bool until_failure = false;  ///< true: the first failure ends the runs of all stages
    /// Number of slices in which every stage runs. If 0, a stage runs in one piece, or on several devices in
    /// one slice each.
    std::int64_t num_slices = 0;
    /// Further back ends of the session's kind. Slices are dealt to all devices.
    std::span<Backend* const> others = {};
    /// Ranks that all make this request, each in its own session. Every stage runs on all ranks; each rank
    /// folds a share. Rank 0 judges the laws.
    AgreedRanks* ranks = nullptr;

    /// Returns the largest number of elements of any stage.
    [[nodiscard]] std::int64_t most_elements() const;
    [[nodiscard]] bool is_spread() const { return num_slices != 0 || !others.empty() || ranks != nullptr; }
    /// Returns "4 ranks" or "7 slices on 3 devices"; empty if stages run in one piece.
    [[nodiscard]] std::string spread_text() const;
};

/// Fills in standard_layouts(), and the number of elements for each stage: 2^20 on a GPU, else from 2^14 to
/// about 24600.
void take_standard_data(CheckRequest& request, const Operator& op, const Catalogue& catalogue,
                        const Backend& backend);

/// The outcomes of all runs, ordered by seed, then layout, then stage; and how Thrust ran.
struct CheckMatrix {
    std::vector<CheckOutcome> outcomes;
    std::int64_t num_elements = 0;  ///< the largest number that any stage used
    std::string thrust;             ///< system on which Thrust ran
    std::string without_thrust;     ///< why Thrust did not run, in one sentence; empty if it did

    [[nodiscard]] bool any_failed() const;
};

/// A failure of a fold in parts, repeated with fewer elements.
struct SmallestFailure {
    CheckOutcome outcome;
    bool is_smaller = false;  ///< true if it has fewer elements than the original failure
};

/// Findings of a check.
struct Check {
    /// The operator's laws, judged by a long search, by proofs, and by the data of the first layout.
    OperatorLaws laws;
    CheckMatrix matrix;
    /// Inputs that show the effect of refuted laws, at most one per law.
    std::vector<FaultInput> faults;
    /// Smallest input that repeats the first failure of a stage in parts.
    std::optional<SmallestFailure> smallest = {};
    /// False if the operator's identity is not sound. Then no stage ran.
    bool has_stages = true;

    /// True if every refuted law is assumed by the user, and every run agrees.
    [[nodiscard]] bool is_well() const;
};

/// Judges an operator's laws, then runs stages on the session's back end. If a kernel has a fault, the
/// outcome says so, and the check goes on.
///
/// `progress` is called with a text before each step; it may be empty. With ranks, all ranks must call this
/// and get the same outcomes; only rank 0 judges laws and finds faults. Throws InputError if the back end has
/// no stages or the data cannot be made, DeviceError if the device fails.
[[nodiscard]] Check check_operator(Session& session, const Operator& op, const CheckRequest& request,
                                   const std::function<void(const std::string&)>& progress = {});

}  // namespace segfold::regress
