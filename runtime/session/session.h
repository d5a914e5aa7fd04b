#pragma once
// The calls of a C++ program: sessions, folds and plans.
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dsl/laws/laws.h"
#include "runtime/session/folded.h"
#include "runtime/session/plan.h"
#include "runtime/session/segments_view.h"

namespace segfold {

class Backend;
class SessionCore;
struct OperatorLaws;

/// Settings of a session.
struct SessionOptions {
    std::string backend = "auto";    ///< "cuda", "cpu", "simt", "reference", "thrust"; auto: a GPU, else cpu
    std::optional<int> device = {};  ///< ordinal of a GPU
    std::optional<std::uint64_t> schedule_seed = {};  ///< simt: seed of the order of threads
    std::string kernels = {};                         ///< a folder with the caller's own stages
    std::vector<Law> assume = {};                     ///< laws to rely on even if a search refutes them
    /// The name of `assume` in messages, as this session's user gives it. LAW stands for a law.
    std::string assume_option = "SessionOptions::assume = {Law::LAW}";
    /// The name of Session::fold() in messages.
    std::string fold_call = "Session::fold()";
    bool asks_records = true;  ///< tuning records of this device may choose a plan
};

/// Options of one fold.
struct FoldOptions {
    PlanRequest plan = {};
    bool check = false;  ///< compare the results with the reference and Thrust: Folded::check(), agrees()
    /// Arrays of the caller that receive the results, one for each result field. If empty, the session
    /// allocates and returns the results. No two arrays may share memory. An input array may receive results:
    /// all inputs are read before any result is written.
    std::vector<MutableArrayView> results = {};
    /// Number of slices into which the elements are cut; 0: one piece, without slices. Slices are folded
    /// alone and joined. Results are the same up to rounding; with a reproducible plan, every number above 0
    /// gives the same bits. At most one slice is made per element.
    std::int64_t num_slices = 0;
};

/// How one scan is done.
struct ScanOptions {
    bool exclusive = false;  ///< each element gets the results of the elements before it, without its own
    bool reverse = false;    ///< from the end of each segment; operands keep the order of the data
    FoldOptions fold = {};
};

/// Everything that folds need: a back end, stages, judged laws and tuning records.
///
/// Back end, laws and records are set up on first use. Several threads may use a session; runs of one session
/// take turns. A session and its plans may be static objects. They may fold while the process ends, then only
/// on the caller's thread; the back end simt compiles no more texts then. Each call throws InputError after
/// the session was moved from.
class Session {
public:
    /// Throws InputError for options that exclude each other.
    explicit Session(SessionOptions options = {});
    /// Makes a session on an existing back end.
    Session(std::unique_ptr<Backend> backend, SessionOptions options);
    ~Session();
    Session(Session&&) noexcept;

    /// Folds arrays on the host, one for each parameter of the operator, in its order.
    ///
    /// The arrays are borrowed for the call. The plan is chosen by `options`, else by a tuning record, else
    /// by the rule of thumb. Throws SpecError with a counter-example if the fold relies on a refuted law,
    /// InputError if arrays or segments are wrong, DeviceError if the device fails.
    Folded fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {});
    Folded fold(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {})
    {
        return fold(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// Gives every element the results of the elements of its segment up to it.
    ///
    /// Folds scanned(op), whose part `scan` does so. Results are arrays as long as the inputs. A plan of a
    /// scan is a plan of that operator. Throws like fold(), and InputError for an operator that cannot be
    /// scanned.
    Folded scan(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {});
    Folded scan(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {})
    {
        return scan(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// Makes a plan for `num_elements` elements in segments such as `segments`. Only types, lengths and
    /// places of their arrays matter; the arrays need not be filled yet. Throws like fold().
    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options = {});

    /// Returns the laws of an operator, as `segfold check` prints them first. They are searched once in the
    /// life of the session. If values of scalars may refute a law, it is searched once more for each set of
    /// `scalars`; if `scalars` is empty, laws must hold for all values.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {});
    /// Judges the laws by a long search and by a proof with Z3 that may take `seconds` of processor time.
    /// Returns each law with its verdict, means and time. Later folds rely on the verdicts, in this session
    /// and in all sessions that share its cache of kernels. Throws InputError for negative seconds.
    LawReport prove(const Operator& op, double seconds = 3);

    /// Makes the next choice of a plan read the tuning records anew.
    void forget_records();

private:
    friend SessionCore& core(Session& session);
    std::unique_ptr<SessionCore> core_;
};

}  // namespace segfold
