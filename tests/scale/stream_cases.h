#pragma once
// Workloads as streams, and their right results as bytes.
#include <cstddef>
#include <vector>

#include "runtime/judge/reference.h"
#include "runtime/scale/stream.h"
#include "runtime/support/files/file.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test {

/// Returns the layout of segments and its array. With `lengths`, gives the segments by these lengths.
inline SegmentSource source_of(const Segments& segments, const Array* lengths)
{
    if (lengths != nullptr)
        return {LayoutKind::lengths, 0, memory_source(*lengths)};
    switch (segments.form) {
        case SegmentForm::whole: return {LayoutKind::whole, 0, nullptr};
        case SegmentForm::uniform: return {LayoutKind::uniform, segments.uniform_length, nullptr};
        case SegmentForm::flags: return {LayoutKind::flags, 0, memory_source(segments.flags)};
        case SegmentForm::keys: return {LayoutKind::keys, 0, memory_source(segments.item_keys)};
        default: return {LayoutKind::offsets, 0, memory_source(segments.offsets)};
    }
}

inline StreamInput input_of(const Workload& workload, const Array* lengths = nullptr)
{
    StreamInput input;
    for (const auto& array : workload.arrays)
        input.parameters.push_back(memory_source(array));
    input.segments = source_of(workload.segments, lengths);
    return input;
}

/// Returns the reference's results of a workload: the bytes of each field, then of the keys.
inline std::vector<std::vector<std::byte>> wanted(const Workload& workload)
{
    auto results = reduce_sequentially(workload);
    if (workload.segments.keys)
        results.push_back({"keys", workload.segments.keys->copy()});
    std::vector<std::vector<std::byte>> fields;
    for (const auto& [name, array] : results)
        fields.emplace_back(array.data(), array.data() + array.bytes());
    if (workload.segments.num_segments == 0)
        fields.clear();
    return fields;
}

/// A source whose second half cannot be read: its memory begins at address 0, where no page is mapped.
class HalfReadable : public ArraySource {
public:
    explicit HalfReadable(bool reads_in_parallel) : reads_in_parallel_(reads_in_parallel) {}
    [[nodiscard]] Type type() const override { return Type::f32; }
    [[nodiscard]] std::optional<std::int64_t> length() const override { return 4000; }
    std::int64_t read(std::int64_t begin, Array& into) override
    {
        std::memset(into.data(), 0, into.bytes());
        if (begin >= 2000)
            memory_.read(0, {into.data(), into.bytes()});
        return static_cast<std::int64_t>(into.length());
    }
    [[nodiscard]] bool reads_in_parallel() const override { return reads_in_parallel_; }
    [[nodiscard]] std::string where() const override { return memory_.path(); }
    [[nodiscard]] std::string fingerprint() const override { return memory_.path(); }

private:
    bool reads_in_parallel_;
    InputFile memory_{"/proc/self/mem"};
};

}  // namespace segfold::test
