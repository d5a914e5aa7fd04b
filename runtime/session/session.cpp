#include "runtime/session/session.h"

#include <fmt/format.h>

#include "dsl/derived.h"
#include "dsl/error.h"
#include "runtime/session/borrowed.h"
#include "runtime/session/core.h"

namespace segfold {

Session::Session(SessionOptions options) : core_(std::make_unique<SessionCore>(std::move(options))) {}

Session::Session(std::unique_ptr<Backend> backend, SessionOptions options)
    : core_(std::make_unique<SessionCore>(std::move(backend), std::move(options)))
{}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

SessionCore& core(Session& session)
{
    if (!session.core_)
        throw InputError("this session has been moved from; use the one that it was moved to");
    return *session.core_;
}

Folded Session::fold(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                     const FoldOptions& options)
{
    return core(*this).fold(op, inputs, segments, options);
}

Folded Session::scan(const Operator& op, std::span<const ArrayView> inputs, const SegmentsView& segments,
                     const ScanOptions& options)
{
    require_operator(op);
    return fold(scanned(op, {options.exclusive, options.reverse}), inputs, segments, options.fold);
}

Plan Session::plan(const Operator& op, const SegmentsView& segments, std::int64_t num_elements,
                   const PlanOptions& options)
{
    return core(*this).plan(op, segments, num_elements, options);
}

OperatorLaws Session::laws(const Operator& op, const ScalarValues& scalars)
{
    auto& own = core(*this);
    require_operator(op);
    return own.laws(op, scalars);
}

LawReport Session::prove(const Operator& op, double seconds)
{
    auto& own = core(*this);
    require_operator(op);
    if (!(seconds >= 0))
        throw InputError(fmt::format("seconds is {}; a proof is given 0 or more", seconds));
    prove::ProofOptions options;
    options.seconds = seconds;
    return own.laws(op, {}, &options).report;
}

void Session::forget_records() { core(*this).forget_records(); }

}  // namespace segfold
