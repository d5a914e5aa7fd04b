#include "runtime/scale/slices/slice_pipeline.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "dsl/error.h"
#include "runtime/backends/launch_plan.h"
#include "runtime/support/processes/parallel.h"
#include "runtime/support/processes/work_stopper.h"

namespace segfold {
namespace {

using Lane = SliceEngine::Lane;

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kSmallArrays = 16;  // bound on one-entry arrays in a slice
// Least number of bytes per thread.
constexpr std::int64_t kBytesEach = std::int64_t{1} << 22;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::uint64_t address(const std::byte* device) { return reinterpret_cast<std::uint64_t>(device); }

std::size_t num_results(const Workload& workload)
{
    return static_cast<std::size_t>(workload.segments.num_segments);
}

}  // namespace

SlicePipeline::SlicePipeline(SliceEngine& engine, const Operator& op, const PipelineSizes& sizes)
    : engine_(engine), op_(op), slice_elements_(sizes.slice_elements), copier_(engine, sizes.reading_bytes)
{
    std::size_t result_bytes = 0;
    for (const auto& field : op.results)
        result_bytes += size_bytes(field.type);
    const auto segments = static_cast<std::size_t>(sizes.slice_segments);
    for (std::size_t i = 0; i < kRooms; ++i) {
        Room room;
        room.columns.resize(op.parameters.size());
        for (std::size_t p = 0; p < op.parameters.size(); ++p)
            if (sizes.is_copied[p])
                room.columns[p] = engine.device_memory(static_cast<std::size_t>(sizes.slice_elements) *
                                                       size_bytes(op.parameters[p].type));
        room.opened = engine.new_mark();
        room.copied = engine.new_mark();
        room.begun = engine.new_mark();
        room.done = engine.new_mark();
        reserve(room.given,
                segments * static_cast<std::size_t>(sizes.bytes_of_segment) + kSmallArrays * kAlignment);
        reserve(room.made, segments * result_bytes + kSmallArrays * kAlignment);
        rooms_.push_back(std::move(room));
    }
}

SlicePipeline::~SlicePipeline()
{
    // Queued work, and work that threads still queue, uses memory that this destructor frees.
    copier_.stop();
    const WorkStopper::Here here(nullptr);  // a stop of the caller must not end this wait
    try {
        for (const auto lane : {Lane::copies, Lane::work}) {
            const auto mark = engine_.new_mark();
            engine_.record(*mark, lane);
            engine_.wait(*mark);
        }
    } catch (...) {
        // A failed device has no work left.
    }
}

void SlicePipeline::reserve(Twin& twin, std::size_t bytes)
{
    if (twin.host && twin.host->bytes() >= bytes)
        return;
    twin = {};
    twin.host = engine_.host_memory(bytes);
    twin.device = engine_.device_memory(bytes);
}

Array SlicePipeline::put_table(const Array& table)
{
    auto memory = engine_.device_memory(std::max<std::size_t>(table.bytes(), 1));
    if (table.bytes() != 0) {
        engine_.copy_in(memory->address(), {table.data(), table.bytes()}, Lane::copies);
        const auto mark = engine_.new_mark();
        engine_.record(*mark, Lane::copies);
        engine_.wait(*mark);
    }
    auto array = Array::borrow(table.type(), memory->address(), table.length());
    tables_.push_back(std::move(memory));
    return array;
}

void SlicePipeline::open(std::size_t room) { engine_.record(*rooms_[room].opened, Lane::copies); }

Array SlicePipeline::copy_column(std::size_t room, std::size_t column, ArraySource& source,
                                 std::int64_t begin, std::int64_t wanted, std::int64_t& count)
{
    if (const auto* resident = source.on_device(begin)) {
        count = wanted;
        return Array::borrow(source.type(), resident, static_cast<std::size_t>(wanted));
    }
    auto* const device = rooms_[room].columns[column]->address();
    if (wanted > slice_elements_)
        throw InternalError("a slice has more elements than its room");
    auto started = copier_.start(source, begin, wanted, device);
    count = started.count;
    if (started.rest)
        rooms_[room].reading.push_back(std::move(started.rest));
    return Array::borrow(source.type(), device, static_cast<std::size_t>(count));
}

void SlicePipeline::finish_reading(std::size_t room)
{
    for (const auto& copy : rooms_[room].reading)
        copier_.finish(*copy);
    rooms_[room].reading.clear();
}

Array SlicePipeline::index_room(std::size_t room, Type type, std::size_t count)
{
    auto& given = rooms_[room].given;
    reserve(given, aligned(count * size_bytes(type)) + kSmallArrays * kAlignment);
    return Array::borrow(type, given.host->address(), count);
}

void SlicePipeline::start(std::size_t room, const PreparedSlice& prepared)
{
    auto& own = rooms_[room];
    if (is_reading(room))
        throw InternalError("a slice is started before its columns are read");
    // The arrays of each run on the host: the tables that the run's operator adds, then the arrays of the
    // run's segments.
    std::vector<std::vector<Array>> arrays;
    const auto* const index_room = own.given.host->address();
    std::size_t index_bytes = 0, given_bytes = 0, made_bytes = 0;
    own.places.clear();
    for (const auto& run : prepared.runs) {
        auto& hosts = arrays.emplace_back();
        for (std::size_t i = op_.parameters.size(); i < run.workload.arrays.size(); ++i)
            hosts.push_back(run.workload.arrays[i].lend());
        for (auto& named : segment_arrays(run.workload.segments, run.plan->emitted.form))
            hosts.push_back(std::move(named.array));
        for (const auto& array : hosts)
            (array.data() == index_room ? index_bytes : given_bytes) += aligned(array.bytes());
        RunPlace place{made_bytes};
        made_bytes += aligned(run.workload.op.parameters.size() * sizeof(std::uint32_t));
        for (const auto& field : run.workload.op.results) {
            place.fields.push_back(made_bytes);
            made_bytes += aligned(num_results(run.workload) * size_bytes(field.type));
        }
        own.places.push_back(std::move(place));
    }
    if (index_bytes != 0 && index_bytes + given_bytes > own.given.host->bytes())
        throw InternalError("arrays of a slice are longer than the room that was asked for");
    reserve(own.given, given_bytes);
    reserve(own.made, made_bytes);
    std::vector<const PlanChoice*> plans;
    for (const auto& run : prepared.runs)
        plans.push_back(run.plan);
    own.compiling = engine_.prepare(plans);

    auto at = index_bytes;
    std::vector<std::vector<std::uint64_t>> addresses;
    for (const auto& hosts : arrays) {
        auto& of_run = addresses.emplace_back();
        for (const auto& array : hosts) {
            if (index_bytes != 0 && array.data() == index_room) {
                of_run.push_back(address(own.given.device->address()));
                continue;
            }
            of_run.push_back(address(own.given.device->address() + at));
            auto* const into = own.given.host->address() + at;
            parallel_for(static_cast<std::int64_t>(array.bytes()), kBytesEach,
                         [&](std::int64_t begin, std::int64_t end) {
                             std::memcpy(into + begin, array.data() + begin,
                                         static_cast<std::size_t>(end - begin));
                         });
            at += aligned(array.bytes());
        }
    }
    if (at != 0)
        engine_.copy_in(own.given.device->address(), {own.given.host->address(), at}, Lane::copies);
    engine_.record(*own.copied, Lane::copies);
    engine_.order_after(Lane::work, *own.copied);
    engine_.record(*own.begun, Lane::work);
    auto* const made = own.made.device->address();
    for (std::size_t r = 0; r < prepared.runs.size(); ++r) {
        const auto& run = prepared.runs[r];
        const auto& place = own.places[r];
        const auto num_added = run.workload.arrays.size() - op_.parameters.size();
        std::vector<std::uint64_t> inputs, results;
        for (std::size_t i = 0; i < op_.parameters.size(); ++i)
            inputs.push_back(address(run.workload.arrays[i].data()));
        const std::span all(addresses[r]);
        inputs.insert(inputs.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(num_added));
        for (const auto field : place.fields)
            results.push_back(address(made + field));
        engine_.zero(made + place.outside, run.workload.op.parameters.size() * sizeof(std::uint32_t));
        engine_.launch({run.workload, *run.plan, inputs, all.subspan(num_added), results,
                        address(made + place.outside)});
    }
    if (made_bytes != 0)
        engine_.copy_out({own.made.host->address(), made_bytes}, made);
    engine_.record(*own.done, Lane::work);
}

/// Throws InputError if a word of `outside` reports a read outside of a table. Copies the slice back to the
/// host to find the element for the message.
void SlicePipeline::refuse_reads(const PartRun& run, std::span<const std::uint32_t> outside)
{
    if (std::ranges::all_of(outside, [](std::uint32_t word) { return word == 0; }))
        return;
    Workload workload{run.workload.op, {}, run.workload.segments.copy()};
    std::vector<std::unique_ptr<SliceEngine::Memory>> kept;
    for (std::size_t i = 0; i < run.workload.arrays.size(); ++i) {
        const auto& array = run.workload.arrays[i];
        if (i >= op_.parameters.size()) {
            workload.arrays.push_back(array.copy());
            continue;
        }
        kept.push_back(engine_.host_memory(std::max<std::size_t>(array.bytes(), 1)));
        engine_.copy_out({kept.back()->address(), array.bytes()}, array.data());
        workload.arrays.push_back(Array::borrow(array.type(), kept.back()->address(), array.length()));
    }
    const auto mark = engine_.new_mark();
    engine_.record(*mark, Lane::work);
    engine_.wait(*mark);
    refuse_noted_reads(workload, outside);
}

std::vector<Results> SlicePipeline::results(std::size_t room, const PreparedSlice& prepared)
{
    auto& own = rooms_[room];
    engine_.wait(*own.done);
    std::vector<Results> all;
    const auto* const made = own.made.host->address();
    for (std::size_t r = 0; r < prepared.runs.size(); ++r) {
        const auto& run = prepared.runs[r];
        const auto& place = own.places[r];
        refuse_reads(run, {reinterpret_cast<const std::uint32_t*>(made + place.outside),
                           run.workload.op.parameters.size()});
        auto& results = all.emplace_back();
        for (std::size_t f = 0; f < place.fields.size(); ++f) {
            const auto& field = run.workload.op.results[f];
            results.push_back(
                {field.name, Array::borrow(field.type, made + place.fields[f], num_results(run.workload))});
        }
    }
    return all;
}

SlicePipeline::Times SlicePipeline::times(std::size_t room)
{
    const auto& own = rooms_[room];
    return {engine_.seconds(*own.opened, *own.copied), engine_.seconds(*own.begun, *own.done), own.compiling};
}

}  // namespace segfold
