#pragma once
// Workloads whose parts lie on devices, and sessions that stand for devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/session/scale/resident.h"
#include "tests/scale/slice_cases.h"

namespace segfold::test {

/// Sessions of one back end.
struct Devices {
    Devices(const std::string& backend, int count)
    {
        SessionOptions options;
        options.backend = backend;
        for (int i = 0; i < count; ++i)
            sessions.push_back(std::make_unique<Session>(options));
        for (auto& session : sessions)
            pointers.push_back(session.get());
    }
    std::vector<std::unique_ptr<Session>> sessions;
    std::vector<Session*> pointers;
};

/// Operators that parts can fold, over segments that they take.
inline void for_each_case(const std::function<void(const std::string& name, const Workload& workload)>& visit)
{
    for (const auto& op : slice_operators()) {
        if (inner_operator(op).misnumbers_empties)
            continue;
        for (const auto& [lengths_name, lengths] : border_cases())
            for (auto& [name, segments] : slice_segments(lengths_name, lengths)) {
                const bool is_found =
                    segments.form == SegmentForm::flags || segments.form == SegmentForm::keys;
                if (is_found ||
                    (!op.allows_empty() && segments.num_segments > 0 && length_range(segments).shortest == 0))
                    continue;
                visit(op.name + " over " + name, slice_workload(op, std::move(segments)));
            }
    }
}

/// Results of all segments, with something else where nothing is written.
inline Results blank_results(const Workload& workload)
{
    auto all = allocate_results(workload, SegmentForm::offsets);
    for (auto& [name, array] : all)
        if (array.bytes() != 0)
            std::memset(array.data(), 0x5a, array.bytes());
    return all;
}

inline void expect_equal(const Results& results, const Results& wanted, const std::string& what)
{
    for (std::size_t f = 0; f < wanted.size(); ++f) {
        ASSERT_EQ(results.at(f).array.bytes(), wanted[f].array.bytes()) << what;
        EXPECT_TRUE(std::ranges::equal(std::span(results[f].array.data(), wanted[f].array.bytes()),
                                       std::span(wanted[f].array.data(), wanted[f].array.bytes())))
            << what << ", " << wanted[f].name;
    }
}

}  // namespace segfold::test
