//% piece PeerCall
// All pointers are to the GPU's memory, except `inputs` and `results`, which point to these structs on the
// host.
struct PeerCall {
    const void* inputs;
    const void* results;
    const void* begins;         // [num_segments], segments given as ranges
    const void* offsets;        // [num_segments + 1], segments given as offsets or ranges
    const int* keys;            // [num_elements], number of each element's segment
    int* unique_keys;           // [number of runs], key of each run
    int* num_runs;              // [1], number of runs
    const int* segment_of_run;  // [number of runs], segment of each run; null if no segment is empty
    long long num_elements, num_segments;
    long long segment_length;  // length of the longest segment
    void* scratch;             // null: only set the number of bytes needed
    size_t scratch_bytes;
    cudaStream_t stream;
};

//% piece Arena
// Hands out scratch memory. Given no memory, only adds up the sizes.
struct Arena {
    using value_type = char;
    char* memory;
    size_t bytes, used;

    char* allocate(std::ptrdiff_t count)
    {
        const size_t begin = used;
        used += (size_t(count) + 255) / 256 * 256;
        if (memory && used <= bytes)
            return memory + begin;
        void* own = nullptr;
        if (cudaMalloc(&own, count) != cudaSuccess)
            throw std::bad_alloc();
        return static_cast<char*>(own);
    }

    void deallocate(char* place, size_t)
    {
        if (!memory || place < memory || place >= memory + bytes)
            cudaFree(place);
    }
};

//% piece Lift
struct Lift {
    Inputs inputs;
//% each member
    @member@
//% end
    __device__ __forceinline__ State operator()(Index @visited@) const
    {
//% each place
        @place@
//% end
        return load_item(inputs, index, @arguments@);
    }
};

//% piece Finish
struct Finish {
    Results results;
//% each member
    @member@
//% end
    __device__ __forceinline__ void operator()(std::ptrdiff_t place, State state) const
    {
//% each place
        @place@
//% end
        store(results, @segment@, @length@, state);
    }
};

//% piece Combine
struct Combine {
    __device__ __forceinline__ State operator()(const State& @first@, const State& @second@) const
    {
        return combine(earlier, later);
    }
};

//% piece Scan
// Writes the outputs of an element.
struct Scan {
    Inputs inputs;
    Results results;
//% each member
    @member@
//% end
    __device__ __forceinline__ void operator()(std::ptrdiff_t @visited@, State @state@) const
    {
//% each place
        @place@
//% end
//% each line
        @line@
//% end
    }
};

//% piece Offset
struct Offset {
    Index length;
    __device__ __forceinline__ Index operator()(Index segment) const { return segment * length; }
};

//% piece End
struct End {
    const Index* begins;
    const Index* offsets;
    __device__ __forceinline__ Index operator()(Index segment) const
    {
        return begins[segment] + (offsets[segment + 1] - offsets[segment]);
    }
};

//% piece identity
__global__ void write_identity(State* state) { *state = identity(); }

State initial;  // the identity, known only to the GPU until it is fetched

cudaError_t fetch_identity()
{
    State* state = nullptr;
    cudaError_t error = cudaMalloc(&state, sizeof(State));
    if (error != cudaSuccess)
        return error;
    write_identity<<<1, 1>>>(state);
    error = cudaMemcpy(&initial, state, sizeof(State), cudaMemcpyDeviceToHost);
    cudaFree(state);
    return error;
}

//% piece begins of lengths
    const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)),
                                                        Offset{Index(@length@)});

//% piece begins of ranges
    const auto* begins = static_cast<const Index*>(call->begins);
    const auto ends = thrust::make_transform_iterator(thrust::make_counting_iterator(Index(0)), End{begins, offsets});

//% piece function
// Queues the fold on the caller's stream, or sets the number of bytes of scratch memory that it needs.
extern "C" __attribute__((visibility("default"))) int @function@(PeerCall* call)
{
    const Inputs inputs = *static_cast<const Inputs*>(call->inputs);
    const Results results = *static_cast<const Results*>(call->results);
//% each offsets
    const auto* offsets = static_cast<const Index*>(call->offsets);
//% end
//% each line
@line@
//% end
    const auto items = @items@;
    const auto @written@ = @totals@;
    const @combination@ combination;
//% each identity
    if (!call->scratch)
        if (const cudaError_t error = fetch_identity(); error != cudaSuccess)
            return error;
//% end
//% each call
@call@
//% end
}

extern "C" __attribute__((visibility("default"))) const char* segfold_peer_error(int error)
{
    return cudaGetErrorString(cudaError_t(error));
}

//% piece call of cub
    return @call@(call->scratch, call->scratch_bytes, items, @written@,
        @arguments@, call->stream);

//% piece call of cub by key
    return @call@(call->scratch, call->scratch_bytes, @arguments@, call->stream);

//% piece call of thrust
    Arena arena{static_cast<char*>(call->scratch), call->scratch_bytes, 0};
    try {
        @call@(thrust::cuda::par(arena).on(call->stream), @arguments@);
    } catch (const thrust::system_error& error) {
        return error.code().value();
    } catch (const std::bad_alloc&) {
        return cudaErrorMemoryAllocation;
    }
    if (!call->scratch)
        call->scratch_bytes = arena.used;
    return cudaGetLastError();

//% piece PeerCall of the host
// All pointers are to the host's memory.
struct PeerCall {
    const void* inputs;
    const void* results;
    const void* begins;
    const void* offsets;        // [num_segments + 1], segments given as offsets
    const int* keys;            // [num_elements], number of each element's segment
    int* unique_keys;
    int* num_runs;
    const int* segment_of_run;  // [number of runs], segment of each run; null if no segment is empty
    long long num_elements, num_segments;
    long long segment_length;   // length of the longest segment
    void* scratch;
    size_t scratch_bytes;
    void* stream;
};

//% piece function of the host
// Folds on all cores. Returns when the fold is done.
extern "C" __attribute__((visibility("default"))) int @function@(PeerCall* call)
{
    const Inputs inputs = *static_cast<const Inputs*>(call->inputs);
    const Results results = *static_cast<const Results*>(call->results);
//% each offsets
    const auto* offsets = static_cast<const Index*>(call->offsets);
//% end
//% each line
@line@
//% end
    const auto items = @items@;
    const auto @written@ = @totals@;
    const @combination@ combination;
//% each identity
    const State initial = identity();
//% end
    try {
        @call@(thrust::@system@::par, @arguments@);
    } catch (const std::bad_alloc&) {
        return 1;
    }
    return 0;
}

extern "C" __attribute__((visibility("default"))) const char* segfold_peer_error(int)
{
    return "Thrust has no memory for its own arrays";
}

//% piece function of groups
// Sorts a copy of the numbers, and the places of the elements, and folds what is then in order. Uses all cores.
// Returns when the fold is done.
extern "C" __attribute__((visibility("default"))) int @function@(PeerCall* call)
{
    const Inputs inputs = *static_cast<const Inputs*>(call->inputs);
    const Results results = *static_cast<const Results*>(call->results);
    const auto items = @items@;
    const auto totals = @totals@;
    const @combination@ combination;
    try {
        // Kept, so that calls do not wait for memory. Elements of no group come last, as the largest numbers.
        static std::vector<unsigned> numbers;
        static std::vector<Index> places;
        numbers.assign(call->keys, call->keys + call->num_elements);
        places.resize(numbers.size());
        thrust::sequence(thrust::@system@::par, places.data(), places.data() + places.size());
        thrust::stable_sort_by_key(
            thrust::@system@::par, numbers.data(), numbers.data() + numbers.size(), places.data());
        const unsigned* const begin = numbers.data();
        const auto* const end =
            std::lower_bound(begin, begin + numbers.size(), unsigned(call->num_segments));
        @call@(thrust::@system@::par, begin, end, thrust::make_permutation_iterator(items, places.data()),
            thrust::make_discard_iterator(), totals, cuda::std::equal_to<unsigned>(), combination);
    } catch (const std::bad_alloc&) {
        return 1;
    }
    return 0;
}

extern "C" __attribute__((visibility("default"))) const char* segfold_peer_error(int)
{
    return "Thrust has no memory for its own arrays";
}
