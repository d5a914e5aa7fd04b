#pragma once
// Arrays and workloads written out in a test.
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "runtime/data/workload.h"

namespace segfold {

template <class T>
inline Array array_of(Type type, std::initializer_list<T> values)
{
    return Array::of<T>(type, std::span<const T>(values.begin(), values.size()));
}

inline Array indices(std::initializer_list<std::int64_t> values) { return array_of(Type::i64, values); }

template <class... Arrays>
Workload workload_of(Operator op, Segments segments, Arrays... arrays)
{
    Workload workload{std::move(op), {}, std::move(segments)};
    (workload.arrays.push_back(std::move(arrays)), ...);
    return workload;
}

template <class T>
std::vector<T> values_of(const Results& results, std::size_t field = 0)
{
    const auto values = results.at(field).array.as<T>();
    return {values.begin(), values.end()};
}

}  // namespace segfold
