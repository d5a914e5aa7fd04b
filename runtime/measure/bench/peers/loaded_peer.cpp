#include "runtime/measure/bench/peers/loaded_peer.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/error.h"
#include "runtime/backends/launch_plan.h"

namespace segfold::bench {
namespace {

template <class T>
T* pointer(std::uint64_t address)
{
    return reinterpret_cast<T*>(address);
}

}  // namespace

LoadedPeer::LoadedPeer(const cuda::Context& context, cuda::Stream& stream,
                       const cuda::ResidentWorkload& resident, const std::string& name,
                       const EmittedPeer& emitted, const PeerLibrary& library, const SegmentKeys* keys)
    : context_(context),
      name_(name),
      library_(library),
      inputs_(pack_pointers(resident.inputs().addresses)),
      results_(pack_peer_results(emitted, resident.result_arrays().addresses))
{
    const auto& segments = resident.workload().segments;
    const auto& arrays = resident.segments().addresses;
    call_.inputs = inputs_.data();
    call_.results = results_.data();
    if (segments.form == SegmentForm::ranges)
        call_.begins = pointer<void>(arrays.at(0));
    if (segments.form == SegmentForm::offsets || segments.form == SegmentForm::ranges)
        call_.offsets = pointer<void>(arrays.back());
    if (emitted.needs_keys && keys == nullptr)
        throw InternalError("peer " + name + " has no keys");
    if (emitted.needs_keys) {
        call_.keys = pointer<int>(keys->keys.address());
        call_.unique_keys = pointer<int>(keys->unique_keys.address());
        call_.num_runs = pointer<int>(keys->counted_runs.address());
        call_.segment_of_run = pointer<int>(keys->segment_of_run.address());
    }
    call_.num_elements = segments.num_elements;
    call_.num_segments = segments.num_segments;
    call_.segment_length = length_range(segments).longest;
    call_.stream = stream.handle();
    stream.synchronize();
    call();
    stream.synchronize();
    scratch_ = cuda::DeviceBuffer(context, std::max<std::size_t>(call_.scratch_bytes, 1));
    call_.scratch = pointer<void>(scratch_.address());
    call_.scratch_bytes = scratch_.bytes();
}

void LoadedPeer::call()
{
    const cuda::CurrentContext current(context_);
    if (const int error = library_.fold(&call_); error != 0)
        throw DeviceError(fmt::format("{}: {}", name_, library_.error_text(error)));
}

void LoadedPeer::launch()
{
    call_.scratch_bytes = scratch_.bytes();
    call();
}

}  // namespace segfold::bench
