// Searches for the fastest plan. A file stores it for later runs on this GPU with the same problem and shape.
#include <segfold/segfold.h>
#include <iostream>
#include <vector>

int main()
try {
    std::vector<float> values(1 << 22, 1.0f);
    std::vector<int> ends;
    for (int end = 0; end <= 1 << 22; end += 1 << 5)
        ends.push_back(end);
    segfold::Session session({.backend = "cuda"});
    const auto sum = segfold::standard_operator("sum_f32");
    const auto tuned =
        segfold::tune_workload(session, sum, {values}, segfold::offsets(ends), {.seconds = 20});
    std::cout << tuned.measured << " plans measured, the best: " << tuned.winner << ", " << tuned.milliseconds
              << " ms; kept in " << tuned.file << '\n';
    const auto folded = session.fold(sum, {values}, segfold::offsets(ends));
    std::cout << "this run took " << folded.plan() << '\n';
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
