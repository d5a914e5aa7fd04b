// Folds a stream that is larger than the memory limit. Its elements are generated when they are read.
#include <segfold/segfold.h>
#include <algorithm>
#include <iostream>
#include <span>

int main()
try {
    std::int64_t next = 0;
    const auto readings = segfold::StreamArray::made<float>(
        [&next](std::span<float> into) {
            for (float& value : into)
                value = static_cast<float>(next++ % 1000);
            return std::ssize(into);  // fewer than into.size() only at the end
        },
        10'000'000);  // or segfold::StreamArray::file("readings.npy")

    segfold::Session session;
    const auto mean = segfold::standard_operator("mean_f32");
    double highest = 0;
    const auto streamed = segfold::fold_stream(
        session, mean, {readings}, segfold::uniform(400), {.memory_bytes = 1 << 20},
        [&](const segfold::Folded& means, std::int64_t) {  // called with the next results
            for (const double value : means.values<double>())
                highest = std::max(highest, value);
        });
    std::cout << streamed.segments << " means of " << streamed.elements << " readings, at most " << highest
              << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
