// Computes the mean and variance of each segment of a column by Welford's method, and checks the results.
#include <segfold/segfold.h>
#include <iostream>
#include <vector>

struct Moments : segfold::State {
    Field<std::int64_t> n{"n", 0};
    Field<float> mean{"mean", 0}, m2{"m2", 0};
};

// Joins the moments of two parts (Chan, Golub, LeVeque 1983).
const segfold::Operator moments = segfold::define<Moments>("moments", [](auto& op) {
    segfold::Column<float> x(op, "x");
    segfold::Result<float> mean(op, "mean"), variance(op, "variance");
    op.lift([&](Moments& s) {
        s.n = 1;
        s.mean = x;
        s.m2 = 0;
    });
    op.combine([](Moments a, Moments b, Moments& s) {
        auto total = let("total", a.n + b.n);
        auto delta = let("delta", b.mean - a.mean);
        auto share = let("share", select(total == 0, 0.0f, cast<float>(b.n) / cast<float>(total)));
        s.n = total;
        s.mean = a.mean + delta * share;
        s.m2 = a.m2 + b.m2 + delta * delta * cast<float>(a.n) * share;
    });
    op.finish([&](Moments s) {
        mean = s.mean;
        variance = s.m2 / cast<float>(s.n);
    });
    op.empty([&] {
        mean = segfold::nan<float>();
        variance = segfold::nan<float>();
    });
    op.commutative();
});

int main()
try {
    const std::vector<float> column = {2, 4, 4, 4, 5, 5, 7, 9, 1, 3};
    const std::vector<std::int64_t> ends = {0, 8, 10};
    segfold::Session session;
    const auto folded = session.fold(moments, {column}, segfold::offsets(ends), {.check = true});
    for (std::int64_t s = 0; s < folded.num_segments(); ++s)
        std::cout << folded.values<float>("mean")[s] << ' ' << folded.values<float>("variance")[s] << '\n';
    for (const auto& line : folded.check())
        std::cout << line << '\n';
    return folded.agrees() ? 0 : 1;
} catch (const segfold::Error& error) {
    std::cerr << error.what() << '\n';
    return error.exit_code();
}
