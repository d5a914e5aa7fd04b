#pragma once
// The library's interface for C++ programs: sessions, folds and plans.
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
    std::optional<int> device = {};  ///< index of the GPU, from 0 on; if empty, the session chooses
    std::optional<std::uint64_t> schedule_seed = {};  ///< for the back end simt: seed of the order of threads
    std::string kernels = {};                         ///< a folder with the caller's stages
    std::vector<Law> assume = {};                     ///< laws to rely on even if a search refutes them
    /// Tells the user, in messages, how to set `assume`. LAW stands for a law.
    std::string assume_option = "SessionOptions::assume = {Law::LAW}";
    /// The name of Session::fold() in messages.
    std::string fold_call = "Session::fold()";
    bool asks_records = true;  ///< true if tuning records of this device may choose plans
};

/// Options of one fold.
struct FoldOptions {
    PlanRequest plan = {};
    bool check = false;  ///< compares results with the reference and Thrust; see Folded::check(), agrees()
    /// The caller's arrays for results, one for each result field. If empty, the session allocates and
    /// returns the results. No two arrays may share memory. An input array may receive results, because all
    /// inputs are read before results are written.
    std::vector<MutableArrayView> results = {};
    /// Number of slices into which the elements are cut; 0 for no slices. There are never more slices than
    /// elements.
    ///
    /// Each slice is folded alone, then slices are joined. Results are the same up to rounding. With a
    /// reproducible plan, all numbers above 0 give the same bits.
    std::int64_t num_slices = 0;
};

/// Options of one scan.
struct ScanOptions {
    bool exclusive = false;  ///< true if an element's results do not include the element itself
    bool reverse = false;    ///< scans from the end of each segment; operands keep the order of the data
    FoldOptions fold = {};
};

/// A back end, its stages, judged laws and tuning records. Makes folds and plans.
///
/// Back end, laws and records are set up on first use. Several threads may use a session; its runs take
/// turns. A session and its plans may be static objects. A fold during the end of the process runs on the
/// caller's thread only, and the back end simt then compiles nothing. Every call throws InputError after the
/// session was moved from.
class Session {
public:
    /// Throws InputError for options that exclude each other.
    explicit Session(SessionOptions options = {});
    /// Makes a session on an existing back end.
    Session(std::unique_ptr<Backend> backend, SessionOptions options);
    ~Session();
    Session(Session&&) noexcept;

    /// Folds arrays on the host: one for each parameter of the operator, in the operator's order.
    ///
    /// The arrays are borrowed for the call. The plan is the one that `options` request, else that of a
    /// tuning record, else that of the rule of thumb. Throws SpecError with a counter-example if the fold
    /// relies on a refuted law, InputError if arrays or segments are invalid, and DeviceError if the device
    /// fails.
    Folded fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {});
    Folded fold(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const FoldOptions& options = {})
    {
        return fold(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// Computes for each element the results of its segment's elements up to this element.
    ///
    /// Result arrays are as long as the inputs. Folds the operator scanned(op), which has a part `scan`; to
    /// get a plan of a scan, make a plan of scanned(op). Throws like fold(), and InputError for an operator
    /// that cannot be scanned.
    Folded scan(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {});
    Folded scan(const Operator& op, std::initializer_list<ArrayView> inputs, const SegmentsView& segments,
                const ScanOptions& options = {})
    {
        return scan(op, std::span(inputs.begin(), inputs.size()), segments, options);
    }

    /// Makes a plan for `num_elements` elements in segments like `segments`. Reads only types, lengths and
    /// locations of the segments' arrays, which need not be filled yet. Throws like fold().
    [[nodiscard]] Plan plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                            const PlanOptions& options = {});

    /// Returns the laws of an operator. A search for counter-examples judges them, once per session and
    /// operator.
    ///
    /// If values of scalars may refute a law, this law is judged again for each set of `scalars`. If
    /// `scalars` is empty, laws must hold for all values of scalars.
    [[nodiscard]] OperatorLaws laws(const Operator& op, const ScalarValues& scalars = {});
    /// Judges the laws by a long search, and by a proof with Z3 in at most `seconds` of processor time.
    ///
    /// Returns each law with its verdict, the way it was judged, and the time. Later folds rely on the
    /// verdicts, in this session and in all sessions that share its kernel cache. Throws InputError for
    /// negative seconds.
    LawReport prove(const Operator& op, double seconds = 3);

    /// Drops the tuning records; the next choice of a plan reads them again.
    void forget_records();

private:
    friend SessionCore& core(Session& session);
    std::unique_ptr<SessionCore> core_;
};

}  // namespace segfold
