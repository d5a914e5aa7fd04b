// Adds a user-written stage: one CUDA file in a folder. Its `suits` line decides whether a run uses it.
#include <segfold/segfold.h>
#include <iostream>
#include <vector>

int main(int count, char** arguments)
try {
    const std::vector<int> values = {3, -1, 4, -1, -5, 9}, ends = {0, 3, 6};
    segfold::Session session({.kernels = count > 1 ? arguments[1] : "kernels"});
    const auto folded = session.fold(segfold::standard_operator("max_subarray_i32"), {values},
                                     segfold::offsets(ends), {.check = true});
    std::cout << folded.plan() << '\n';
    for (const auto greatest : folded.values<std::int64_t>())
        std::cout << greatest << '\n';
    return folded.agrees() ? 0 : 1;
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
