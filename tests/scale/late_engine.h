#pragma once
// A device in host memory that does queued work as late as possible, so that a buffer that is reused too
// early gives wrong results.
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "runtime/backends/launch_plan.h"
#include "runtime/scale/slices/slice_engine.h"
#include "runtime/session/core.h"

namespace segfold::test {

/// Does work only when somebody waits for it, or for work that is ordered behind it.
class LateEngine : public SliceEngine {
public:
    /// `session` runs the launches; its back end has no stages. Memory is poisoned. With `locks_sources`, all
    /// memory of the host counts as page-locked.
    explicit LateEngine(Session& session, bool locks_sources = false)
        : session_(session), locks_sources_(locks_sources)
    {}

    std::unique_ptr<Memory> device_memory(std::size_t bytes) override
    {
        return std::make_unique<Bytes>(bytes);
    }
    std::unique_ptr<Memory> host_memory(std::size_t bytes) override { return std::make_unique<Bytes>(bytes); }
    [[nodiscard]] bool is_page_locked(std::span<const std::byte>) const override { return locks_sources_; }

    std::unique_ptr<Mark> new_mark() override { return std::make_unique<Place>(); }
    void record(Mark& mark, Lane lane) override
    {
        const std::lock_guard lock(mutex_);
        auto& place = static_cast<Place&>(mark);
        place.lane = lane;
        place.count = begin(lane) + queue(lane).size();
    }
    void order_after(Lane lane, const Mark& mark) override
    {
        const std::lock_guard lock(mutex_);
        queue(lane).push_back([this, place = copy_of(mark)] { work_until(place); });
    }
    void wait(const Mark& mark) override
    {
        const std::lock_guard lock(mutex_);
        work_until(copy_of(mark));
    }
    double seconds(const Mark&, const Mark&) override { return 0; }

    void copy_in(std::byte* device, std::span<const std::byte> host, Lane lane) override
    {
        const std::lock_guard lock(mutex_);
        queue(lane).push_back([=] { std::memcpy(device, host.data(), host.size()); });
    }
    void copy_out(std::span<std::byte> host, const std::byte* device) override
    {
        const std::lock_guard lock(mutex_);
        queue(Lane::work).push_back([=] { std::memcpy(host.data(), device, host.size()); });
    }
    void zero(std::byte* device, std::size_t bytes) override
    {
        const std::lock_guard lock(mutex_);
        queue(Lane::work).push_back([=] { std::memset(device, 0, bytes); });
    }
    std::optional<double> prepare(std::span<const PlanChoice* const>) override { return std::nullopt; }
    void launch(const Launch& launch) override
    {
        auto workload = std::make_shared<Workload>();
        workload->op = launch.workload.op;
        for (std::size_t i = 0; i < launch.inputs.size(); ++i) {
            const auto& array = launch.workload.arrays[i];
            workload->arrays.push_back(
                Array::borrow(array.type(), at<std::byte>(launch.inputs[i]), array.length()));
        }
        const auto& given = launch.workload.segments;
        auto& segments = workload->segments;
        segments.form = given.form;
        segments.num_elements = given.num_elements;
        segments.num_segments = given.num_segments;
        segments.uniform_length = given.uniform_length;
        segments.has_wide_indices = given.has_wide_indices;
        const auto count = static_cast<std::size_t>(given.num_segments);
        const auto array_at = [&](std::size_t length) {
            return Array::borrow(segments.index_type(), at<std::byte>(launch.segments[0]), length);
        };
        if (given.form == SegmentForm::offsets)
            segments.offsets = array_at(count + 1);
        if (given.form == SegmentForm::ranges) {
            segments.begins = array_at(count);
            segments.ends = given.ends.copy();
        }
        const std::lock_guard lock(mutex_);
        queue(Lane::work)
            .push_back([this, workload, results = std::vector(launch.results.begin(), launch.results.end()),
                        outside = launch.outside] { run(*workload, results, outside); });
    }

private:
    struct Bytes : Memory {
        explicit Bytes(std::size_t count) : values(count, std::byte{0xcd}) {}
        [[nodiscard]] std::byte* address() const override { return const_cast<std::byte*>(values.data()); }
        [[nodiscard]] std::size_t bytes() const override { return values.size(); }
        std::vector<std::byte> values;
    };
    struct Place : Mark {
        Lane lane = Lane::copies;
        std::size_t count = 0;  ///< number of items of work that were queued before the mark
    };
    using Work = std::deque<std::function<void()>>;

    static Place copy_of(const Mark& mark) { return static_cast<const Place&>(mark); }
    Work& queue(Lane lane) { return work_[lane == Lane::copies ? 0 : 1]; }
    std::size_t& begin(Lane lane) { return done_[lane == Lane::copies ? 0 : 1]; }

    void work_until(const Place& place)
    {
        while (begin(place.lane) < place.count) {
            const auto next = std::move(queue(place.lane).front());
            queue(place.lane).pop_front();
            ++begin(place.lane);
            next();
        }
    }

    template <class T>
    static const T* at(std::uint64_t address)
    {
        return reinterpret_cast<const T*>(address);
    }

    void run(const Workload& workload, const std::vector<std::uint64_t>& results, std::uint64_t outside)
    {
        try {
            const auto found = core(session_).run(workload, static_cast<const Emitted*>(nullptr));
            for (std::size_t f = 0; f < results.size(); ++f)
                std::memcpy(reinterpret_cast<void*>(results[f]), found[f].array.data(),
                            found[f].array.bytes());
        } catch (const InputError&) {  // a read outside of a table: only noted, as on a GPU
            for (std::size_t i = 0; i < workload.op.parameters.size(); ++i)
                if (workload.op.parameters[i].table)
                    reinterpret_cast<std::uint32_t*>(outside)[i] = 1;
        }
    }

    Session& session_;
    bool locks_sources_;
    std::mutex mutex_;
    Work work_[2];
    std::size_t done_[2] = {0, 0};
};

}  // namespace segfold::test
