#include "runtime/scale/slices/sliced.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "dsl/error.h"
#include "dsl/stopped.h"
#include "runtime/backends/backend.h"
#include "runtime/data/shape.h"
#include "runtime/judge/table_check.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {
namespace {

PlanChoice fixed_plan(const Problem& problem, const OperatorLaws& laws, const Catalogue& catalogue)
{
    const auto& stage = catalogue.stage(kReproducibleStage);
    require_sound_identity(laws, problem.op);
    catalogue.require(stage, problem);
    const auto configuration =
        configure(stage, {{"block_threads", 256}, {"items_per_thread", 4}}, plan_facts(problem));
    PlanChoice choice{catalogue.share(stage), false, emit(problem, stage, configuration, catalogue)};
    choice.emitted.is_reproducible = true;
    return choice;
}

/// The state from which a slice's scan continues; empty if the scan begins anew.
using Carried = std::optional<std::vector<Partial::Value>>;

/// The work that the devices of one fold share.
class SliceWork {
public:
    /// `carried` has an entry for each slice; it is empty if nothing is scanned.
    SliceWork(const SliceProblem& problem, const Workload& workload, const Slicer& slicer,
              std::int64_t num_devices, SliceScope scope, std::vector<Carried> carried = {})
        : problem_(problem),
          slicer_(slicer),
          scope_(scope),
          carried_(std::move(carried)),
          joining_(SliceFolder(problem, {}, scope).joining()),
          next_(num_devices)
    {
        for (std::int64_t slice = 0; slice < slicer.num_slices(); ++slice)
            partials_.emplace_back(joining_);
        if (scope == SliceScope::ends)
            return;
        const bool is_ranges = workload.segments.form == SegmentForm::ranges;
        done.results = allocate_results(workload, is_ranges ? SegmentForm::ranges : SegmentForm::offsets);
        if (workload.segments.keys)
            done.results.keys = workload.segments.keys->copy();
    }

    /// Folds all slices, on all devices at the same time.
    void run(std::span<const SliceDevice> devices)
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < devices.size(); ++i)
            others.emplace_back([this, &devices, i, stopper = WorkStopper::here()] {
                const WorkStopper::Here here(stopper);
                run(devices[i], static_cast<std::int64_t>(i));
            });
        run(devices.front(), 0);
        others.clear();
        if (failure_)
            std::rethrow_exception(failure_);
    }

    void join()
    {
        Partial all(joining_);
        for (auto& partial : partials_) {
            all += std::move(partial);
            store(all.take_results(), done.results);
        }
        all.require_whole();
    }

    /// Joins the partials in the scan's order. Returns for each slice the state of the elements that are
    /// scanned before the slice.
    std::vector<Carried> carried_on(bool is_reverse)
    {
        const auto num_fields = joining_->bytecode.state.size();
        std::vector<Carried> carried(partials_.size());
        Partial all(joining_);
        for (std::size_t k = 0; k < partials_.size(); ++k) {
            const auto slice = is_reverse ? partials_.size() - 1 - k : k;
            if (const auto* state = is_reverse ? all.state_at_begin() : all.state_at_end())
                carried[slice].emplace(state, state + num_fields);
            all = is_reverse ? std::move(partials_[slice]) + std::move(all)
                             : std::move(all) + std::move(partials_[slice]);
        }
        return carried;
    }

    FoldRun done;

private:
    /// Folds slice `own`, then further slices until none is left or a device has failed.
    void run(const SliceDevice& device, std::int64_t own)
    {
        try {
            SliceFolder folder(problem_, device, scope_);
            RunTimes times;
            for (auto which = own; which < slicer_.num_slices() && !has_failed_; which = next_++) {
                throw_if_stopped();
                const auto place = static_cast<std::size_t>(which);
                const auto slice = slicer_.slice(which);
                auto prepared = folder.prepare(slice);
                if (!carried_.empty() && carried_[place])
                    folder.carry(prepared, carried_[place]->data());
                std::vector<ElementResults> running;
                partials_[place] = folder.fold(prepared, &times, &running);
                store(partials_[place].take_results(), done.results);
                for (const auto& elements : running)
                    store(elements, std::span(done.results).last(problem_.op.outputs.size()));
            }
            const std::lock_guard lock(mutex_);
            done.times.add(times);
            if (folder.plan() != nullptr && (own == 0 || !done.chosen.plan))
                done.chosen.plan = *folder.plan();
        } catch (...) {
            const std::lock_guard lock(mutex_);
            has_failed_ = true;
            if (!failure_)
                failure_ = std::current_exception();
        }
    }

    const SliceProblem& problem_;
    const Slicer& slicer_;
    SliceScope scope_;
    std::vector<Carried> carried_;
    std::shared_ptr<const Joining> joining_;
    std::vector<Partial> partials_;   ///< the partials of the slices, without results
    std::atomic<std::int64_t> next_;  ///< the next slice to fold; device d begins with slice d
    std::atomic<bool> has_failed_ = false;
    std::mutex mutex_;
    std::exception_ptr failure_;
};

}  // namespace

SliceDevice slice_device(SessionCore& session)
{
    auto& backend = session.backend();
    return {[&session](const Workload& workload, const Emitted* text, RunTimes& times) {
                return session.run(workload, text, &times);
            },
            backend.runs_stages(), backend.target()};
}

void make_reproducible(SliceProblem& problem, const Catalogue& catalogue)
{
    problem.order = JoinOrder::blocks;
    problem.choose = [laws = problem.laws, &catalogue](const Problem& of, const Shape&) {
        return fixed_plan(of, laws, catalogue);
    };
}

namespace {

/// Returns `num_slices`, but at most the number of items, because further slices would be empty.
std::int64_t slices_with_items(const Workload& workload, std::int64_t num_slices)
{
    if (num_slices <= std::max<std::int64_t>(1, workload.segments.num_elements))
        return num_slices;
    return std::min(num_slices, std::max<std::int64_t>(1, Slicer(workload, 1).cut(1)));
}

/// Throws InputError, because the requested stage cannot fold pieces and cuts divide all segments.
[[noreturn]] void refuse_pieces(const Stage& stage, const Problem& pieces, const Catalogue& catalogue)
{
    try {
        catalogue.require(stage, pieces);
    } catch (const InputError& error) {
        throw InputError("slices fold every segment in pieces, which are whole segments, and " +
                         std::string(error.what()));
    }
    throw InternalError("stage " + stage.name + " takes the pieces that it is refused for");
}

}  // namespace

SliceProblem slice_problem(SessionCore& session, const Operator& op, OperatorLaws laws,
                           const FoldWishes& wishes, bool has_pieces_alone)
{
    require_associative(laws, op, "slices cut");
    SliceProblem problem{op, std::move(laws)};
    if (wishes.plan.is_reproducible) {
        if (op.scan)
            throw InputError(fmt::format(
                "operator {} has a scan, and no reproducible plan gives running results of slices; leave out "
                "the wish for one, or the slices",
                op.name));
        make_reproducible(problem, Catalogue::standard());
        return problem;
    }
    problem.choose = [&session, wishes, has_pieces_alone, scans = op.scan.has_value(), laws = problem.laws](
                         const Problem& of, const Shape& shape) {
        auto request = wishes.plan;
        if (has_pieces_alone) {
            const auto& catalogue = session.catalogue();
            if (of.form == SegmentForm::whole && request.stage)
                if (const auto& stage = catalogue.stage(*request.stage); catalogue.unmet(stage, of)) {
                    if (of.op.scan || !scans)
                        refuse_pieces(stage, of, catalogue);
                    // The requested stage is for the scan; this pass computes the states before the scan.
                    request.stage.reset();
                    request.settings.clear();
                }
        } else if (of.form == SegmentForm::whole && request.stage) {
            // A piece is one whole segment in every layout. Not every stage folds whole segments.
            const auto& catalogue = session.catalogue();
            if (catalogue.unmet(catalogue.stage(*request.stage), of)) {
                request.stage.reset();
                request.settings.clear();
            }
        } else if (of.form == SegmentForm::whole) {
            request.settings.clear();
        }
        return *session.choose(of, shape, laws, request, wishes.without_records).plan;
    };
    return problem;
}

FoldRun fold_sliced(std::span<const SliceDevice> devices, SliceProblem problem, const Workload& workload,
                    std::int64_t num_slices)
{
    if (num_slices < 1)
        throw InputError("the number of slices is " + std::to_string(num_slices) +
                         "; it is 1 or more, or 0 where a fold is made in one piece");
    require_slices(problem.op);
    check_workload(workload);
    num_slices = slices_with_items(workload, num_slices);
    const Slicer slicer(workload, num_slices, problem.order == JoinOrder::blocks ? kJoinBlock : 0);
    const auto shape = shape_of(workload.segments);
    const auto share = [&](std::int64_t count) { return (count + num_slices - 1) / num_slices; };
    problem.typical = {share(shape.num_elements), share(shape.num_segments),
                       std::min(shape.longest, share(shape.num_elements)), 0, share(shape.padded)};
    problem.checked_tables = unproved_tables(workload);
    const auto num_devices = std::ssize(devices);
    try {
        std::vector<Carried> carried;
        RunTimes times;
        if (problem.op.scan) {
            SliceWork ends(problem, workload, slicer, num_devices, SliceScope::ends);
            ends.run(devices);
            carried = ends.carried_on(problem.op.scan->reverse);
            times = ends.done.times;
        }
        SliceWork work(problem, workload, slicer, num_devices, SliceScope::everything, std::move(carried));
        work.run(devices);
        work.join();
        work.done.times.add(times);
        return std::move(work.done);
    } catch (const InputError&) {
        check_tables(workload);  // throws the error with the element's index in the whole input
        throw;
    }
}

FoldRun fold_in_slices(std::span<SessionCore* const> devices, const Workload& workload,
                       const FoldWishes& wishes)
{
    if (const auto reason = reason_against_slices(workload.op); !reason.empty() && !wishes.one_piece.empty())
        throw InputError(reason + "; " + wishes.one_piece);
    auto& session = *devices.front();
    const auto laws = session.laws(workload);
    std::vector<SliceDevice> made;
    for (auto* device : devices)
        made.push_back(slice_device(*device));
    const auto num_slices = slices_with_items(workload, wishes.num_slices);
    const bool has_pieces_alone = num_slices > 0 && (workload.segments.form == SegmentForm::whole ||
                                                     !Slicer(workload, num_slices).has_inner());
    auto run = fold_sliced(made, slice_problem(session, workload.op, laws, wishes, has_pieces_alone),
                           workload, num_slices);
    run.chosen.warnings = law_warnings(laws, workload.op);
    if (run.chosen.plan)
        run.chosen.explanation.without_identity = laws.without_identity.value_or("");
    return run;
}

}  // namespace segfold
