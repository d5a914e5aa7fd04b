// Sums the segments of an array.
#include <segfold/segfold.h>
#include <iostream>
#include <vector>

int main()
try {
    const std::vector<float> values = {3, 1, 4, 1, 5, 9, 2, 6, 5};
    const std::vector<int> ends = {0, 3, 5, 5, 9};  // four segments; the third is empty
    segfold::Session session;
    const auto sums = session.fold(segfold::standard_operator("sum_f32"), {values}, segfold::offsets(ends));
    for (const float sum : sums.values<float>())
        std::cout << sum << ' ';
    std::cout << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
