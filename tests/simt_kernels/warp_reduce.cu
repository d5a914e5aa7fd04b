// A warp composes 32 affine maps x -> a * x + b in lane order, which does not commute, by shuffles alone.
struct Affine {
    unsigned scale, shift;
};

extern "C" __global__ void warp_reduce(const Affine* __restrict__ maps, Affine* results)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    Affine earlier = maps[i];
    for (int delta = 1; delta < 32; delta *= 2) {
        const Affine later = {__shfl_down_sync(0xffffffffu, earlier.scale, delta),
                              __shfl_down_sync(0xffffffffu, earlier.shift, delta)};
        earlier = {later.scale * earlier.scale, later.scale * earlier.shift + later.shift};
    }
    if (i % 32 == 0)
        results[i / 32] = earlier;
}
