#pragma once
// A session on a GPU, and arrays that lie there.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/backends/cuda/driver/context.h"
#include "runtime/backends/cuda/driver/device.h"
#include "runtime/backends/cuda/driver/device_buffer.h"
#include "runtime/judge/compare.h"
#include "segfold/segfold.h"
#include "tests/common/message_of.h"
#include "tests/common/stage_cases.h"

namespace segfold::test {

using cuda::DeviceBuffer;

inline std::span<const std::byte> bytes_of(const Array& array) { return {array.data(), array.bytes()}; }

/// Arrays on the GPU, lent.
struct Lent {
    std::vector<DeviceBuffer> buffers;

    ArrayView lend(const cuda::Context& context, const Array& array)
    {
        buffers.emplace_back(context, bytes_of(array));
        return {array.type(), reinterpret_cast<const void*>(buffers.back().address()),
                static_cast<std::int64_t>(array.length()), Place::device};
    }
    MutableArrayView lend_mutable(const cuda::Context& context, Type type, std::int64_t length)
    {
        buffers.emplace_back(context, static_cast<std::size_t>(length) * size_bytes(type));
        if (length != 0)
            buffers.back().fill_with(std::uint8_t{0xcd});
        return {type, reinterpret_cast<void*>(buffers.back().address()), length, Place::device};
    }
};

class SessionOnGpu : public testing::Test {
protected:
    void SetUp() override
    {
        if (cuda::devices().empty())
            GTEST_SKIP() << cuda::no_device_reason();
        context_ = std::make_unique<cuda::Context>();
        session_ = std::make_unique<Session>(SessionOptions{.backend = "cuda"});
    }

    [[nodiscard]] Array read(const MutableArrayView& view, std::int64_t length) const
    {
        const cuda::CurrentContext current(*context_);
        Array array(view.type, static_cast<std::size_t>(length));
        cuda::check(cuda::driver().cuMemcpyDtoH(array.data(), reinterpret_cast<std::uint64_t>(view.data),
                                                array.bytes()),
                    "cuMemcpyDtoH");
        return array;
    }

    /// Segments of a workload as they are lent on the GPU.
    SegmentsView lend(const Segments& segments, LayoutKind kind, Lent& lent)
    {
        const auto index = segments.index_type();
        switch (kind) {
            case LayoutKind::whole: return whole();
            case LayoutKind::uniform: return uniform(segments.uniform_length);
            case LayoutKind::offsets: return offsets(lent.lend(*context_, segments.offsets));
            case LayoutKind::lengths: {
                Array lengths_of(index, static_cast<std::size_t>(segments.num_segments));
                for (std::int64_t s = 0; s < segments.num_segments; ++s)
                    if (index == Type::i64)
                        lengths_of.as<std::int64_t>()[static_cast<std::size_t>(s)] = segments.length(s);
                    else
                        lengths_of.as<std::int32_t>()[static_cast<std::size_t>(s)] =
                            static_cast<std::int32_t>(segments.length(s));
                return lengths(lent.lend(*context_, lengths_of));
            }
            case LayoutKind::ranges:
                return ranges(lent.lend(*context_, segments.begins), lent.lend(*context_, segments.ends));
            case LayoutKind::flags:
                return flags(lent.lend(*context_, segments.flags), lent.lend_mutable(*context_, index, 1));
            default:
                return keys(lent.lend(*context_, segments.item_keys),
                            lent.lend_mutable(*context_, segments.item_keys.type(), segments.num_elements),
                            lent.lend_mutable(*context_, index, 1));
        }
    }

    struct Prepared {
        Workload workload;
        Lent lent;
        std::vector<ArrayView> inputs;
        SegmentsView segments;
        std::vector<MutableArrayView> results;
    };

    Prepared prepare(const std::string& op, Segments segments, LayoutKind kind)
    {
        Prepared all{make_workload(op, std::move(segments), 5), {}, {}, {}, {}};
        all.lent.buffers.reserve(32);
        const auto& workload = all.workload;
        for (const auto& array : workload.arrays)
            all.inputs.push_back(all.lent.lend(*context_, array));
        all.segments = lend(workload.segments, kind, all.lent);
        const bool finds = kind == LayoutKind::flags || kind == LayoutKind::keys;
        for (const auto& field : workload.op.results)
            all.results.push_back(all.lent.lend_mutable(
                *context_, field.type,
                finds ? workload.segments.num_elements : workload.segments.num_segments));
        return all;
    }

    void expect_right(const Prepared& all, const std::string& what)
    {
        const auto& workload = all.workload;
        Results results;
        for (std::size_t i = 0; i < all.results.size(); ++i)
            results.push_back(
                {workload.op.results[i].name, read(all.results[i], workload.segments.num_segments)});
        if (all.segments.num_found.data != nullptr) {
            const auto found = read(all.segments.num_found, 1);
            EXPECT_EQ(found.type() == Type::i64 ? found.as<std::int64_t>()[0] : found.as<std::int32_t>()[0],
                      workload.segments.num_segments)
                << what;
        }
        const auto comparison = Judge(workload).compare(results);
        EXPECT_TRUE(comparison.agrees()) << what << ": " << print(comparison);
        if (all.segments.kind == LayoutKind::keys) {
            const auto runs = read(all.segments.found_keys, workload.segments.num_segments);
            EXPECT_EQ(std::memcmp(runs.data(), workload.segments.keys->data(), runs.bytes()), 0) << what;
        }
    }

    std::unique_ptr<cuda::Context> context_;
    std::unique_ptr<Session> session_;
};

}  // namespace segfold::test
