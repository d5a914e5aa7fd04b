#pragma once
// Runs a job with thrust::reduce_by_key or with Thrust's scans by key. All Thrust systems share this code.
//
// `System` has `policy()`, `Vector<T>` in the system's memory, and `Bytes`. `Bytes` is a view or copy of host
// memory with `data()` and `copy_back()`.
#include <thrust/binary_search.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

#include <memory>
#include <string>
#include <vector>

#include "dsl/error.h"
#include "runtime/backends/thrust/functors.h"

namespace segfold {

/// A job's arrays in a system's memory.
template <class System>
class PlacedJob {
public:
    explicit PlacedJob(const ThrustJob& job)
    {
        JobView view{};
        view.lift = place(job.lift);
        view.combine = place(job.combine);
        view.finish = place(job.finish);
        view.scan = place(job.scan);
        view.scans_reversely = job.scans_reversely;
        view.identity = place(job.identity);
        view.num_elements = job.num_elements;
        view.state_fields = job.state_fields;
        view.num_columns = static_cast<int>(job.columns.size());
        view.num_results = static_cast<int>(job.results.size());
        for (const auto& column : job.columns)
            columns_.push_back(place(column.data, column.bytes));
        view.columns = place(columns_);
        view.column_types = place(job.column_types);
        for (std::size_t t = 0; t < job.tables.size(); ++t)
            tables_.push_back({place(job.tables[t].data, job.tables[t].bytes), job.table_lengths[t]});
        view.tables = place(tables_);
        view.starts = place(job.starts);
        view.begins = job.begins.empty() ? nullptr : place(job.begins);
        view.segments = job.segments.empty() ? nullptr : place(job.segments);
        const auto place_results = [this](const std::vector<void*>& arrays, const std::vector<Type>& types,
                                          std::int64_t count, std::vector<void*>& data) {
            for (std::size_t r = 0; r < arrays.size(); ++r) {
                const auto bytes = static_cast<std::size_t>(count) * size_bytes(types[r]);
                results_.push_back(std::make_unique<typename System::Bytes>(arrays[r], bytes));
                data.push_back(results_.back()->data());
            }
        };
        place_results(job.results, job.result_types, job.num_segments, result_data_);
        view.results = place(result_data_);
        view.result_types = place(job.result_types);
        place_results(job.outputs, job.output_types, job.column_elements, output_data_);
        view.num_outputs = static_cast<int>(job.outputs.size());
        view.outputs = place(output_data_);
        view.output_types = place(job.output_types);
        failures_.resize(1);
        view.failure = place_mutable(failures_);
        views_.push_back(view);
        view_ = place(views_);
    }

    [[nodiscard]] const JobView* view() const { return view_; }

    /// Copies results and outcome to host memory.
    Outcome finish()
    {
        for (auto& result : results_)
            result->copy_back();
        failure_bytes_->copy_back();
        return failures_.front().outcome;
    }

private:
    const void* place(const void* data, std::size_t bytes)
    {
        inputs_.push_back(std::make_unique<typename System::Bytes>(const_cast<void*>(data), bytes));
        return inputs_.back()->data();
    }
    template <class T>
    const T* place(const std::vector<T>& values)
    {
        return static_cast<const T*>(place(values.data(), values.size() * sizeof(T)));
    }
    FailureCell* place_mutable(std::vector<FailureCell>& cells)
    {
        failure_bytes_ = std::make_unique<typename System::Bytes>(cells.data(), sizeof(FailureCell));
        return static_cast<FailureCell*>(failure_bytes_->data());
    }
    ProgramView place(const FlatProgram& program)
    {
        return {place(program.code), place(program.presets), place(program.outputs),
                static_cast<int>(program.code.size()), static_cast<int>(program.presets.size())};
    }

    std::vector<std::unique_ptr<typename System::Bytes>> inputs_, results_;
    std::unique_ptr<typename System::Bytes> failure_bytes_;
    // These host arrays must live as long as the job, because the CPU system reads them in place.
    std::vector<const void*> columns_;
    std::vector<TableView> tables_;
    std::vector<void*> result_data_, output_data_;
    std::vector<FailureCell> failures_;
    std::vector<JobView> views_;
    const JobView* view_ = nullptr;
};

/// Scans all runs. Step k visits element k in the order of the scan.
template <class System, int num_fields>
void scan_runs(const ThrustJob& job, const JobView* view, const std::int64_t* key)
{
    namespace library = THRUST_NS_QUALIFIER;
    using Index = library::counting_iterator<std::int64_t>;
    using States = typename System::template Vector<SomeState<num_fields>>;
    const auto n = static_cast<std::size_t>(job.num_elements);
    const auto runs = library::make_transform_iterator(Index(0), VisitedRun{view, key});
    const auto values = library::make_transform_iterator(Index(0), LiftVisited<num_fields>{view, key});
    const library::equal_to<std::int64_t> is_same;
    States through(n), before(job.reads_before ? n : 0);
    library::inclusive_scan_by_key(System::policy(), runs, runs + job.num_elements, values, through.begin(),
                                   is_same, Join<num_fields>{view});
    if (job.reads_before) {
        const SomeState<num_fields> none{{}, true};
        library::exclusive_scan_by_key(System::policy(), runs, runs + job.num_elements, values,
                                       before.begin(), none, is_same, Join<num_fields>{view});
    }
    library::for_each(System::policy(), Index(0), Index(job.num_elements),
                      ScanVisited<num_fields>{
                          view, key, job.reads_before ? library::raw_pointer_cast(before.data()) : nullptr,
                          library::raw_pointer_cast(through.data())});
}

template <class System, int num_fields>
Outcome run_with_fields(const ThrustJob& job)
{
    namespace library = THRUST_NS_QUALIFIER;
    using Index = library::counting_iterator<std::int64_t>;
    PlacedJob<System> placed(job);

    // An element's key is the number of runs that begin at or before it, minus 1.
    typename System::template Vector<std::int64_t> starts(job.starts.begin() + 1, job.starts.end());
    typename System::template Vector<std::int64_t> keys(static_cast<std::size_t>(job.num_elements));
    library::upper_bound(System::policy(), starts.begin(), starts.end(), Index(0), Index(job.num_elements),
                         keys.begin());
    const std::int64_t* const key = library::raw_pointer_cast(keys.data());

    if (job.scans) {
        scan_runs<System, num_fields>(job, placed.view(), key);
        return placed.finish();
    }
    typename System::template Vector<FlatState<num_fields>> states(static_cast<std::size_t>(job.num_runs));
    const auto values = library::make_transform_iterator(Index(0), Lift<num_fields>{placed.view(), key});
    const auto ends = library::reduce_by_key(
        System::policy(), keys.begin(), keys.end(), values, library::make_discard_iterator(), states.begin(),
        library::equal_to<std::int64_t>(), Combine<num_fields>{placed.view()});
    const std::int64_t num_runs = ends.second - states.begin();
    if (num_runs != job.num_runs)
        throw DeviceError("thrust::reduce_by_key gave " + std::to_string(num_runs) +
                          " runs of keys; there are " + std::to_string(job.num_runs));

    library::for_each(System::policy(), Index(0), Index(job.num_runs),
                      Finish<num_fields>{placed.view(), library::raw_pointer_cast(states.data())});
    return placed.finish();
}

/// Runs a job whose state has at most kMaxThrustFields fields.
template <class System>
Outcome run_job(const ThrustJob& job)
{
    constexpr int kSmallState = state_slots(1);
    return state_slots(job.state_fields) == kSmallState ? run_with_fields<System, kSmallState>(job)
                                                        : run_with_fields<System, kMaxThrustFields>(job);
}

}  // namespace segfold
