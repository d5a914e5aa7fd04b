#pragma once
// Plans of an operator that a session keeps; internal. All callers of the session share them.
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/segments.h"
#include "runtime/laws/operator_laws.h"
#include "runtime/laws/overflow_laws.h"
#include "runtime/session/plan.h"

namespace segfold {

class Backend;

/// The key of a kept plan: everything that decides which folds the plan serves.
struct PlanKey {
    LayoutKind kind = LayoutKind::whole;
    Type index = Type::i32;  ///< type of the first array of segments
    std::int64_t num_elements = 0;
    std::int64_t num_features = 1;  ///< number of features in a row
    std::int64_t num_entries = 0;   ///< length of the first array of segments, or the uniform length
    std::int64_t num_groups = 0;    ///< number of groups; 0 if segments are not groups
    bool is_on_device = false;
    std::uintptr_t stream = 0;
    std::string words;           ///< key_of(options), the kind of data, and the scalars, as text
    std::int64_t longest = 0;    ///< length of the longest segment, if known from arrays on the host
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when the plan was chosen
    int order_of_items = 0;      ///< for ranges on the host: bit width of the sum of lengths
    int index_bits = 0;          ///< for ranges on the host: bits of an index that can count the sum

    /// Makes the key of a call with `segments`. For arrays on the host the caller must set `longest` and the
    /// members for ranges.
    PlanKey(const SegmentsView& segments, std::int64_t elements, const PlanOptions& options,
            std::uint64_t num_findings);

    bool operator==(const PlanKey&) const = default;
};

/// Returns, as text, all options that affect a plan; empty if all have their defaults.
[[nodiscard]] std::string key_of(const PlanOptions& options);

/// A kept plan with its key.
struct KeptPlan {
    KeptPlan(PlanKey made_for, Plan made);

    PlanKey key;
    std::shared_ptr<Plan> plan;
    std::int64_t num_segments;

    /// The text of Folded::plan().
    [[nodiscard]] const std::string& text() const;
};

/// The plan of a fold, and warnings about laws that the fold's data refute.
struct PlannedFold {
    std::shared_ptr<const KeptPlan> kept = nullptr;
    std::vector<std::string> told = {};
};

/// The checks of a fold's data that decide whether a kept plan may serve it.
struct FoldAsks {
    bool data = false;    ///< true if laws depend on all elements; no plan is then kept
    bool finite = false;  ///< true if data with infinities or NaN need another plan
    bool nan = false;     ///< true if data with NaN need another plan
    /// Laws that overflow may break. A kept plan serves only data that break none of them. Null if it serves
    /// all data.
    std::shared_ptr<const OperatorLaws> overflow = nullptr;
    /// Value ranges and sizes of data that do not overflow.
    std::shared_ptr<const SparedByOverflow> spared = nullptr;
    /// Value ranges and sizes of the last data that may overflow. Data with ranges and sizes at least as
    /// large may overflow too. Null if no data have overflowed.
    std::shared_ptr<const SparedByOverflow> not_spared = nullptr;
    ScalarDoubt scalars = ScalarDoubt::none;
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when these checks were determined
};

/// The kept plans of an operator, and the checks that its folds need. Several threads may use this object. It
/// may outlive its session.
class OperatorPlans {
public:
    OperatorPlans(const Operator& of, std::shared_ptr<Backend> backend)
        : op(of), digest(digest_of(of)), backend_(std::move(backend))
    {}

    const Operator op;
    const Digest digest;

    /// Returns the plan for `key`, or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find(const PlanKey& key);
    /// Returns a plan that serves `key` after a resize, or null. The plan may belong to another stream. Its
    /// sizes have the same order of magnitude as the key's. On the host, a plan of any other sizes is the
    /// second choice.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find_similar(const PlanKey& key);
    /// Returns a plan for `key` on any stream, or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find_on_any_stream(PlanKey key);
    /// Adds a plan, and drops the least recently used plans beyond the limits below. If it drops any, waits
    /// for the GPU, which may still use their memory.
    void add(std::shared_ptr<const KeptPlan> plan);
    /// Drops all plans. Waits for the GPU like add().
    void clear();
    [[nodiscard]] std::size_t size();

    /// Returns the checks that keep_asks() stored for these scalars; nothing if `findings` have changed
    /// since. `scalars` is the text of those scalars whose values may change the laws; empty if there are
    /// none.
    [[nodiscard]] std::optional<FoldAsks> asks(const std::string& scalars, std::uint64_t findings);
    void keep_asks(const std::string& scalars, const FoldAsks& known);

private:
    static constexpr std::size_t kMost = 64;
    /// Bound in bytes on the scratch memory of all kept plans together. A single plan may exceed it.
    static constexpr std::int64_t kMostScratchBytes = std::int64_t{4} << 30;

    void let_go(const std::list<std::shared_ptr<const KeptPlan>>& gone) const;

    std::mutex mutex_;
    std::list<std::shared_ptr<const KeptPlan>> plans_;  ///< the most recently used plan comes first
    std::map<std::string, FoldAsks> asks_;              ///< checks by the text of scalars
    std::shared_ptr<Backend> backend_;
};

/// A fold of arrays on the host. Work on it may continue after the caller has stopped waiting.
struct Fold {
    std::shared_ptr<OperatorPlans> of;
    std::vector<ArrayView> inputs;
    SegmentsView segments;
    std::int64_t num_elements = 0;
    PlanOptions options = {};
    /// Owns the offsets to which `segments` points after find_segments(); else null.
    std::shared_ptr<const Segments> found = {};

    [[nodiscard]] const Operator& op() const { return of->op; }
    /// Finds the segments that flags or keys mark, and replaces `segments` by their offsets. Throws
    /// InputError for invalid flags or keys.
    void find_segments();
};

/// A function that runs `work`, which reads `num_elements` elements. For work that may compile,
/// `num_elements` is kLongWork. The caller may stop waiting before `work` ends, so `work` must own all its
/// data.
using Runner = std::function<void(std::int64_t num_elements, const std::function<void()>& work)>;
inline constexpr std::int64_t kLongWork = std::int64_t{1} << 62;

}  // namespace segfold
