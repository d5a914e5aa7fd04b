#pragma once
// Plans that a session keeps of an operator for all callers; internal.
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

/// The folds that a kept plan serves.
struct PlanKey {
    LayoutKind kind = LayoutKind::whole;
    Type index = Type::i32;  ///< of the first array of segments
    std::int64_t num_elements = 0;
    std::int64_t num_features = 1;  ///< of rows
    std::int64_t num_entries = 0;   ///< of the first array of segments, or the uniform length
    std::int64_t num_groups = 0;    ///< for groups
    bool is_on_device = false;
    std::uintptr_t stream = 0;
    std::string words;           ///< key_of() its options, then words for its data and scalars
    std::int64_t longest = 0;    ///< elements of the longest segment, if arrays on the host tell it
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when it was chosen
    int order_of_items = 0;      ///< for ranges on the host: bit width of the number of their items
    int index_bits = 0;          ///< for ranges on the host: bits of an index that counts the items

    /// Makes the key of a call with `segments`. For arrays on the host the caller must set `longest` and the
    /// members for ranges.
    PlanKey(const SegmentsView& segments, std::int64_t elements, const PlanOptions& options,
            std::uint64_t num_findings);

    bool operator==(const PlanKey&) const = default;
};

/// Returns all options that affect a plan, as a text; empty if all have their defaults.
[[nodiscard]] std::string key_of(const PlanOptions& options);

/// A plan, with the text that folds report about it.
struct KeptPlan {
    KeptPlan(PlanKey made_for, Plan made);

    PlanKey key;
    std::shared_ptr<Plan> plan;
    std::int64_t num_segments;

    /// The text of Folded::plan().
    [[nodiscard]] const std::string& text() const;
};

/// The plan of a fold, with warnings of laws that its data refute.
struct PlannedFold {
    std::shared_ptr<const KeptPlan> kept = nullptr;
    std::vector<std::string> told = {};
};

/// The properties of data that decide whether a kept plan may serve a fold of an operator.
struct FoldAsks {
    bool data = false;    ///< all elements decide, so no plan is kept
    bool finite = false;  ///< data with infinities or NaN need a plan of their own
    bool nan = false;     ///< data with NaN need a plan of their own
    /// A kept plan serves only folds whose data break none of these laws by overflow. Null: any fold.
    std::shared_ptr<const OperatorLaws> overflow = nullptr;
    std::shared_ptr<const SparedByOverflow> spared = nullptr;  ///< data that are known not to overflow
    /// Data of the last fold that may overflow. Data that include its ranges and sizes may overflow too.
    /// Null: none.
    std::shared_ptr<const SparedByOverflow> not_spared = nullptr;
    ScalarDoubt scalars = ScalarDoubt::none;
    std::uint64_t findings = 0;  ///< SessionCore::num_findings() when this was found
};

/// The plans of an operator that were used last, and the facts about its folds. Several threads may use this
/// object. It may outlive its session.
class OperatorPlans {
public:
    OperatorPlans(const Operator& of, std::shared_ptr<Backend> backend) : op(of), backend_(std::move(backend))
    {}

    const Operator op;

    /// The plan for `key`, or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find(const PlanKey& key);
    /// Returns a plan that differs from `key` in its stream and in sizes of the same order, or null. On the
    /// host, a plan for sizes of any order will do if none is nearer. The program of such a plan can serve
    /// `key` after a resize.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find_similar(const PlanKey& key);
    /// The plan for `key` but for its stream, or null.
    [[nodiscard]] std::shared_ptr<const KeptPlan> find_on_any_stream(PlanKey key);
    /// Adds a plan and drops plans beyond the limits below. If it drops any, waits for the GPU, which may use
    /// their memory.
    void add(std::shared_ptr<const KeptPlan> plan);
    /// Drops all plans. Waits for the GPU like add().
    void clear();
    [[nodiscard]] std::size_t size();

    /// Returns what keep_asks() stored for these scalars, if `findings` are still the same. `scalars` is the
    /// text of values that may change the laws, or empty if none may.
    [[nodiscard]] std::optional<FoldAsks> asks(const std::string& scalars, std::uint64_t findings);
    void keep_asks(const std::string& scalars, const FoldAsks& known);

private:
    static constexpr std::size_t kMost = 64;
    static constexpr std::int64_t kMostScratchBytes = std::int64_t{4} << 30;  ///< without the last used plan

    void let_go(const std::list<std::shared_ptr<const KeptPlan>>& gone) const;

    std::mutex mutex_;
    std::list<std::shared_ptr<const KeptPlan>> plans_;  ///< the one used last in front
    std::map<std::string, FoldAsks> asks_;              ///< by the text of the scalars
    std::shared_ptr<Backend> backend_;
};

/// A fold of arrays on the host. Work on it may continue after its caller has left.
struct Fold {
    std::shared_ptr<OperatorPlans> of;
    std::vector<ArrayView> inputs;
    SegmentsView segments;
    std::int64_t num_elements = 0;
    PlanOptions options = {};
    std::shared_ptr<const Segments> found = {};  ///< see find_segments()

    [[nodiscard]] const Operator& op() const { return of->op; }
    /// Finds the segments that flags or keys mark, and replaces `segments` by their offsets. Throws
    /// InputError if the flags or keys are wrong.
    void find_segments();
};

/// Runs work that reads `num_elements` elements; kLongWork for work that may compile. If the caller leaves
/// early, the work continues, so it must own everything that it uses.
using Runner = std::function<void(std::int64_t num_elements, const std::function<void()>& work)>;
inline constexpr std::int64_t kLongWork = std::int64_t{1} << 62;

}  // namespace segfold
