#pragma once
// Arrays that lie on several devices already, folded where they lie as often as one likes.
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/session/scale/border_join.h"
#include "runtime/session/scale/ranks/communicator.h"
#include "runtime/session/scale/slices/slice.h"
#include "runtime/session/session.h"

namespace segfold {

/// What one device holds: consecutive elements, behind those of the part before.
///
/// Its arrays lie where plans of the session run: on the session's GPU, else on the host. They are the
/// caller's, and must stay. Places are counted as in a Slice, which Slicer cuts. A GPU is fastest where the
/// inner segments begin at a multiple of 128 bytes in each column.
struct ResidentPart {
    Session* session = nullptr;          ///< must outlive the fold
    std::vector<ArrayView> inputs = {};  ///< columns of the part's elements; tables and scalars whole
    std::int64_t first_element = 0;      ///< place in the whole input of the columns' first element
    SegmentsView inner = {};             ///< segments that lie inside, counted from `inner_begin` on
    std::int64_t first_inner = 0;        ///< number of the first of them in the whole input
    std::int64_t num_inner = 0;
    std::int64_t inner_begin = 0, inner_elements = 0;  ///< place in the columns, and how many
    std::int64_t longest = 0;                    ///< elements of the longest of them, where that is known
    std::optional<Piece> head;                   ///< the end of a segment that began in an earlier part
    std::optional<Piece> tail;                   ///< a piece of the segment that goes on in the next part
    std::vector<MutableArrayView> results = {};  ///< [num_inner] for each result field
};

/// How the states at the borders of parts come to where they are joined.
enum class BorderWay : std::uint8_t {
    /// The host copies those of each device, and ranks exchange them by their Communicator.
    host,
    /// The GPUs of all ranks gather them by NCCL; one copy a process brings all of them to the host. NCCL is
    /// opened at run time: libnccl.so.2, or the path in the environment variable SEGFOLD_NCCL.
    nccl,
};

/// A fold of parts, whose plans are compiled once.
///
/// A run queues at most three plans on each device, waits for all, and joins the states at the borders in the
/// order of the parts: the order of elements is kept, whatever the operator is. Nothing else leaves a device.
/// Operators are those of fold_sliced(), but for such as tell an empty segment its number.
class ResidentFold {
public:
    /// Throws InputError for operators that cannot be cut, and what Session::plan() throws; with NCCL also
    /// for parts that do not lie on a GPU each, and DeviceError where there is no NCCL.
    ResidentFold(const Operator& op, std::vector<ResidentPart> parts, const PlanOptions& options = {},
                 BorderWay borders = BorderWay::host);
    ~ResidentFold();
    ResidentFold(ResidentFold&&) noexcept;

    /// Folds. The results of segments inside are written to their parts; given back are those of segments
    /// that end in a part behind the one in which they began.
    std::vector<BorderJoin::Finished> run();
    /// The same where each rank has parts of its own, in the order of ranks: what ends in this rank's.
    /// Collective. With NCCL the first run with other ranks than before sets up its communicators.
    std::vector<BorderJoin::Finished> run(Communicator& ranks);

    [[nodiscard]] std::span<const ResidentPart> parts() const;
    /// Of the segments inside of the first part that has any; null where there are none.
    [[nodiscard]] const Plan* plan() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A workload of the host whose slices are copied to devices, with memory for their results there.
///
/// Sessions of the host borrow the workload's own arrays instead.
class DividedWorkload {
public:
    /// Slices first .. first + sessions - 1 of `num_slices` equal ones, one for each session; the workload
    /// must outlive it. Throws InputError for segments given by flags or keys, and DeviceError where memory
    /// does not suffice.
    DividedWorkload(std::span<Session* const> sessions, const Workload& workload, std::int64_t first,
                    std::int64_t num_slices);
    ~DividedWorkload();

    [[nodiscard]] std::vector<ResidentPart> parts() const;
    /// Copies the results of segments inside to their places in the arrays of all segments.
    void gather(Results& all) const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace segfold
