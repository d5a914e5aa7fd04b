// A stage of your own: one CUDA file in a folder, chosen by name.
#include <segfold/segfold.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

// One thread folds one segment from its first element to its last. What the vocabulary means:
// kernels/README.md.
constexpr const char* kStage = R"(//% stage   one_by_one
//% title   One thread folds one segment, element by element
//% source  none
//% layout  offsets
//% launch  reduce  grid = ceil_div(num_segments, 128)  block = 128

extern "C" __global__ void __launch_bounds__(128) reduce(Inputs inputs, Segments segments, Results results)
{
    const Index segment = Index(blockIdx.x) * 128 + threadIdx.x;
    if (segment >= segments.num_segments)
        return;
    const Index begin = segments.offsets[segment], end = segments.offsets[segment + 1];
    State total = identity();
    for (Index i = begin; i < end; ++i)
        total = combine(total, load_item(inputs, i, i - begin, segment));
    store(results, segment, end - begin, total);
}
)";

int main()
{
    const auto folder = std::filesystem::temp_directory_path() / "segfold_own_stage";
    std::filesystem::create_directories(folder / "stages");
    std::ofstream(folder / "stages" / "one_by_one.cu") << kStage;
    const std::vector<int> values = {3, 1, 4, 1, 5, 9}, ends = {0, 2, 6};
    segfold::Session session({.kernels = folder.string()});
    const auto folded =
        session.fold(segfold::standard_operator("max_subarray_i32"), {values}, segfold::offsets(ends),
                     {.plan = {.stage = "one_by_one"}, .check = true});
    std::cout << folded.plan() << '\n' << folded.values<int>()[0] << ' ' << folded.values<int>()[1] << '\n';
    return folded.agrees() ? 0 : 1;
}
