#pragma once
// Checks that an operator and another form of it fold to the same bits.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "dsl/printer.h"
#include "runtime/data/resolve.h"
#include "runtime/judge/reference.h"
#include "tests/common/small_workloads.h"

namespace segfold {

/// Folds 300 generated elements in segments, some of them empty, by `op` and by `other`, and expects equal
/// bits.
inline void expect_equal_results(const Operator& op, const Operator& other)
{
    SCOPED_TRACE(print(other));
    ASSERT_EQ(other.results.size(), op.results.size());
    for (const ValueRange values : {ValueRange::small_integers, ValueRange::edge})
        for (const std::vector<std::int64_t>& offsets :
             std::vector<std::vector<std::int64_t>>{{0, 1, 1, 2, 40, 40, 300}, {0, 0, 300}, {0, 300}}) {
            const auto folded = [&](const Operator& which) {
                return reduce_sequentially(workload_of(
                    which, segments_from_offsets(Array::of<std::int64_t>(Type::i64, offsets), 300),
                    generate_values(op.parameters.front().type, 300, 5, values)));
            };
            const auto expected = folded(op);
            const auto found = folded(other);
            for (std::size_t i = 0; i < expected.size(); ++i) {
                ASSERT_EQ(found[i].array.type(), expected[i].array.type());
                ASSERT_EQ(found[i].array.bytes(), expected[i].array.bytes());
                EXPECT_EQ(
                    std::memcmp(found[i].array.data(), expected[i].array.data(), found[i].array.bytes()), 0)
                    << expected[i].name;
            }
        }
}

}  // namespace segfold
