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

/// What a session is made with.
struct SessionOptions {
    std::string backend = "auto";    ///< "cuda", "cpu", "simt", "reference", "thrust"; auto: a GPU, else cpu
    std::optional<int> device = {};  ///< ordinal of a GPU
    std::optional<std::uint64_t> schedule_seed = {};  ///< simt: of the order of threads
    std::string kernels = {};                         ///< a folder with stages of the caller's own
    std::vector<Law> assume = {};                     ///< laws to rely on even where the search refutes them
    /// What messages call the option above, where LAW stands for a law: how this session's user gives it.
    std::string assume_option = "SessionOptions::assume = {Law::LAW}";
    /// What messages call Session::fold().
    std::string fold_call = "Session::fold()";
    bool asks_records = true;  ///< tuning records of this device may choose a plan
};

/// How one fold is done.
struct FoldOptions {
    PlanRequest plan = {};
    bool check = false;  ///< compare the results with the reference and Thrust: Folded::check(), agrees()
    /// Arrays of the caller that receive the results, one for each result field. If empty, the session
    /// allocates and returns the results. No two arrays may share memory. An input array may receive results:
    /// all inputs are read before any result is written.
    std::vector<MutableArrayView> results = {};
    /// Slices into which the elements are cut, each folded alone; 0: one piece. Results are the same but
    /// for rounding, and with a reproducible plan the same for any number from 1 on. More slices than
    /// elements are as many as there are elements.
    std::int64_t num_slices = 0;
};

/// How one scan is done.
struct ScanOptions {
    bool exclusive = false;  ///< each element gets the results of the elements before it, without its own
    bool reverse = false;    ///< from the end of each segment; operands keep the order of the data
    FoldOptions fold = {};
};

/// Everything that folding needs: a back end, the stages, the laws that were judged, the tuning records.
///
/// Back end, laws and records are set up on first use. Several threads may use a session;
/// runs of one session take turns. A session and its plans may be static objects, and fold while the process
/// ends, then on the caller's thread alone; the back end simt compiles no more texts then. Each call
/// throws InputError after the session was moved from.
class Session {
public:
    /// Throws InputError for options that exclude each other.
    explicit Session(SessionOptions options = {});
    /// On a back end that is there already.
    Session(std::unique_ptr<Backend> backend, SessionOptions options);
    ~Session();
    Session(Session&&) noexcept;

    /// Folds arrays of the host: one for each parameter of the operator, in its order.
    ///
    /// Arrays are borrowed for the call. The plan is chosen by `options`, else by a tuning record, else by
    /// the rule of thumb. Throws SpecError with the counter-example where a law is refuted that the fold
    /// relies on, InputError for arrays or segments that are wrong, DeviceError where the device fails.
    Folded fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {});
    Folded fold(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {})
    {
        return fold(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// Gives every element the results of the elements of its segment up to it: folds scanned(op), whose part
    /// `scan` does so. Its results are arrays as long as the inputs. A plan of a scan is a plan of that
    /// operator. Throws as fold() does, and InputError for an operator that cannot be scanned.
    Folded scan(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {});
    Folded scan(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {})
    {
        return scan(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// A plan for `num_elements` elements in segments such as `segments`, whose arrays need not be filled
    /// yet: types, lengths and place count. Throws as fold() does.
    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options = {});

    /// What `segfold check` says first: the laws of an operator, searched once in the life of the session.
    /// Laws that some values of the scalars refute are searched once more for each set of `scalars`; where it
    /// is empty, laws must hold for all values.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {});
    /// Judges the laws by a long search and by a proof with Z3, for so many seconds of the processor: each
    /// law with its verdict, means and time. Later folds of the session rely on it, and those of other
    /// sessions where there is a cache of kernels. Throws InputError for less than no time.
    LawReport prove(const Operator& op, double seconds = 3);

    /// Reads the tuning records anew when a plan is chosen next.
    void forget_records();

private:
    friend SessionCore& core(Session& session);
    std::unique_ptr<SessionCore> core_;
};

}  // namespace segfold
