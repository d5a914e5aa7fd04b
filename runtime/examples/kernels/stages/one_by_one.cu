//% stage   one_by_one
//% title   One thread folds one segment, element by element
//% source  none
//% layout  offsets
//% suits   mean_length <= 4 ? 110 : 0
//% use     parts/segments/segments.cuh
//% launch  reduce  grid = ceil_div(num_segments, 128)  block = 128

extern "C" __global__ void __launch_bounds__(128) reduce(Inputs inputs, Segments segments, Results results)
{
    const Index segment = Index(blockIdx.x) * 128 + threadIdx.x;
    if (segment >= segments.num_segments)
        return;
    const Index begin = segments.offsets[segment];
    const Index end = segments.offsets[segment + 1];
    State total = identity();
    for (Index i = begin; i < end; ++i)
        total = combine(total, load_item(inputs, i, i - begin, segment));
    store(results, segment, end - begin, total);
}
