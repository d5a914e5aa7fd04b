//% piece States
// The states of all lanes, field by field.
struct States {
//% each field
    alignas(64) @lane_type@ @name@[kLanes];
//% end
};

//% piece get
[[gnu::always_inline]] static inline State get(const States& states, int lane)
{
    return @value@;
}

//% piece put
[[gnu::always_inline]] static inline void put(States& states, int lane, State state)
{
//% each field
    states.@name@[lane] = @widened@;
//% end
}

//% piece clear
[[gnu::always_inline]] static inline void clear(States& states, int lane)
{
    put(states, lane, identity());
}

//% piece append
// Bodies of loops over lanes are functions: a compiler keeps their states in registers, but moves variables
// of the loop itself to memory.
[[gnu::always_inline]] static inline void append(States& totals, int lane, State later)
{
    put(totals, lane, combine(get(totals, lane), later));
}

//% piece choose_scalar
[[gnu::always_inline]] static inline State choose(bool is_first, State first, State second)
{
    return is_first ? first : second;
}

//% piece choose
// Chooses field by field, so that vectors are blended.
[[gnu::always_inline]] static inline State choose(bool is_first, State first, State second)
{
//% each field
    first.@name@ = is_first ? first.@name@ : second.@name@;
//% end
    return first;
}

//% piece Words
// Sixteen words of any type that need not be aligned. Clang heeds only the alignment of a typedef.
typedef unsigned Words __attribute__((vector_size(64), aligned(4), may_alias));

[[gnu::always_inline]] static inline Words low_words(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
}

[[gnu::always_inline]] static inline Words high_words(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
}

[[gnu::always_inline]] static inline Words low_pairs(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
}

[[gnu::always_inline]] static inline Words high_pairs(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
}

[[gnu::always_inline]] static inline Words even_quads(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
}

[[gnu::always_inline]] static inline Words odd_quads(Words a, Words b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
}

//% piece transpose_words
// Transposes 16 rows of 16 words: word k of row i becomes word i of column k. Rows begin `stride` bytes
// apart.
[[gnu::always_inline]] static inline void transpose_words(const void* rows, i64 stride, void* columns)
{
    const char* from = (const char*)rows;
    Words* to = (Words*)columns;
    Words a[16], b[16];
    #pragma GCC unroll 16
    for (int i = 0; i < 16; ++i)
        a[i] = *(const Words*)(from + i * stride);
    #pragma GCC unroll 16
    for (int i = 0; i < 16; i += 2) {
        b[i] = low_words(a[i], a[i + 1]);
        b[i + 1] = high_words(a[i], a[i + 1]);
    }
    #pragma GCC unroll 16
    for (int i = 0; i < 16; i += 4) {
        a[i] = low_pairs(b[i], b[i + 2]);
        a[i + 1] = high_pairs(b[i], b[i + 2]);
        a[i + 2] = low_pairs(b[i + 1], b[i + 3]);
        a[i + 3] = high_pairs(b[i + 1], b[i + 3]);
    }
    #pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
        const Words first = even_quads(a[k], a[k + 4]);
        const Words second = odd_quads(a[k], a[k + 4]);
        const Words third = even_quads(a[k + 8], a[k + 12]);
        const Words fourth = odd_quads(a[k + 8], a[k + 12]);
        to[k] = even_quads(first, third);
        to[k + 4] = even_quads(second, fourth);
        to[k + 8] = odd_quads(first, third);
        to[k + 12] = odd_quads(second, fourth);
    }
}

//% piece transpose_pairs
// Transposes 8 rows of 8 numbers of 64 bits: number k of row i becomes number i of column k. Columns begin
// `column_bytes` bytes apart.
[[gnu::always_inline]] static inline void transpose_pairs(const void* rows, i64 stride, void* columns, i64 column_bytes)
{
    const char* from = (const char*)rows;
    char* to = (char*)columns;
    Words a[8], b[8];
    #pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
        a[i] = *(const Words*)(from + i * stride);
    #pragma GCC unroll 8
    for (int i = 0; i < 8; i += 2) {
        b[i] = low_pairs(a[i], a[i + 1]);
        b[i + 1] = high_pairs(a[i], a[i + 1]);
    }
    #pragma GCC unroll 2
    for (int k = 0; k < 2; ++k) {
        const Words first = even_quads(b[k], b[k + 2]);
        const Words second = odd_quads(b[k], b[k + 2]);
        const Words third = even_quads(b[k + 4], b[k + 6]);
        const Words fourth = odd_quads(b[k + 4], b[k + 6]);
        *(Words*)(to + k * column_bytes) = even_quads(first, third);
        *(Words*)(to + (k + 2) * column_bytes) = even_quads(second, fourth);
        *(Words*)(to + (k + 4) * column_bytes) = odd_quads(first, third);
        *(Words*)(to + (k + 6) * column_bytes) = odd_quads(second, fourth);
    }
}

//% piece Items
// kColumns consecutive items of each lane: item k of lane l stands at [k][l].
struct Items {
//% each column
    alignas(64) @lane_type@ @name@[kColumns][kLanes];
//% end
};

//% piece take_items
// Takes kColumns items for each lane l, from element first + l * lane_items on. Prefetches the elements
// kFarBytes ahead into the second-level cache, for later tiles, and the elements that each lane takes next.
[[gnu::always_inline]] static inline void take_items(Items& items, const Inputs& inputs, Index first,
                                                     int lane_items)
{
//% each column
    #pragma GCC unroll 16
    for (int lane = 0; lane < kLanes; ++lane) {
        const char* row = (const char*)(inputs.@name@ + first + lane * lane_items);
        __builtin_prefetch(row + kFarBytes, 0, 2);
        __builtin_prefetch(row + kNearBytes);
    }
//% each words
    transpose_words(inputs.@name@ + first, i64(lane_items) * @bytes@, items.@name@);
//% end
//% each pairs
    for (int k = 0; k < kColumns; k += 8) {
        const auto* rows = inputs.@name@ + first + k;
        transpose_pairs(rows, i64(lane_items) * 8, items.@name@[k], sizeof items.@name@[k]);
        transpose_pairs(rows + 8 * lane_items, i64(lane_items) * 8, items.@name@[k] + 8,
                        sizeof items.@name@[k]);
    }
//% end
//% each narrow
    unsigned @name@_words[kLanes][kColumns];
    for (int lane = 0; lane < kLanes; ++lane) {
        #pragma omp simd
        for (int k = 0; k < kColumns; ++k)
            @name@_words[lane][k] = @widened@;
    }
    transpose_words(@name@_words, sizeof @name@_words[0], items.@name@);
//% end
//% end
}

//% piece part_words
// Sorts words into the neighbours that a tree joins at a level: lanes of `a` and of `b`. Sixteen vectors
// become one in four levels; lane k then has the total of vector k.
[[gnu::always_inline]] static inline void part_words(void* earlier, void* later, const void* a, const void* b,
                                                     int level)
{
    const Words x = *(const Words*)a;
    const Words y = *(const Words*)b;
    if (level == 0) {
        *(Words*)earlier =
            __builtin_shufflevector(x, y, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30);
        *(Words*)later =
            __builtin_shufflevector(x, y, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31);
        return;
    }
    *(Words*)earlier = level == 1 ? low_pairs(x, y) : even_quads(x, y);
    *(Words*)later = level == 1 ? high_pairs(x, y) : odd_quads(x, y);
}

//% piece part_pairs
// Sorts numbers of 64 bits into the neighbours that a tree joins at a level: lanes of `a` and of `b`. The
// order of lanes is that of words. A vector holds eight numbers.
[[gnu::always_inline]] static inline void part_pairs(void* earlier, void* later, const void* a, const void* b,
                                                     int level)
{
    const Words* x = (const Words*)a;
    const Words* y = (const Words*)b;
    #pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        const Words* z = half == 0 ? x : y;
        const Words first = level < 2 ? x[half] : z[0];
        const Words second = level < 2 ? y[half] : z[1];
        ((Words*)earlier)[half] =
            level == 0   ? low_pairs(first, second)
            : level == 1 ? __builtin_shufflevector(first, second, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11,
                                                   24, 25, 26, 27)
                         : __builtin_shufflevector(first, second, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20,
                                                   21, 22, 23);
        ((Words*)later)[half] =
            level == 0   ? high_pairs(first, second)
            : level == 1 ? __builtin_shufflevector(first, second, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15,
                                                   28, 29, 30, 31)
                         : __builtin_shufflevector(first, second, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26,
                                                   27, 28, 29, 30, 31);
    }
}

//% piece part_lanes
[[gnu::always_inline]] static inline void part_lanes(States& earlier, States& later, const States& a,
                                                     const States& b, int level)
{
//% each field
    @part@(earlier.@name@, later.@name@, a.@name@, b.@name@, level);
//% end
}

//% piece kMaskWords
alignas(64) static const unsigned kMaskWords[64] = {
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,
    ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u};

[[gnu::always_inline]] static inline void keep_words(void* words, const void* others, int count)
{
    const Words mask = *(const Words*)(kMaskWords + 32 - count);
    *(Words*)words = (*(const Words*)words & mask) | (*(const Words*)others & ~mask);
}

//% piece clip
// Lanes from `count` on get the state of `neutral`. Bits are masked instead of chosen: compilers turn a
// choice into loads under a mask, which are slow on some processors.
[[gnu::always_inline]] static inline void clip(States& states, const States& neutral, int count)
{
//% each field
//% each word
    keep_words(states.@name@, neutral.@name@, count);
//% end
//% each pair
    keep_words(states.@name@, neutral.@name@, 2 * count);
    keep_words(states.@name@ + 8, neutral.@name@ + 8, 2 * count - 16);
//% end
//% end
}

//% piece Totals
// Many states, field by field.
struct Totals {
//% each field
    alignas(64) @lane_type@ @name@[kTotals];
//% end
};

//% piece get_total
[[gnu::always_inline]] static inline State get_total(const Totals& totals, Index place)
{
    return @total@;
}

//% piece put_total
[[gnu::always_inline]] static inline void put_total(Totals& totals, Index place, State state)
{
//% each field
    totals.@name@[place] = @widened@;
//% end
}

//% piece keep_totals
[[gnu::always_inline]] static inline void keep_totals(Totals& totals, Index first, const States& states)
{
//% each field
    __builtin_memcpy(totals.@name@ + first, states.@name@, sizeof states.@name@);
//% end
}

//% piece take_totals
[[gnu::always_inline]] static inline void take_totals(States& states, const Totals& totals, Index first)
{
//% each field
    __builtin_memcpy(states.@name@, totals.@name@ + first, sizeof states.@name@);
//% end
}

//% piece prefetch
// Prefetches the line of memory that holds `place`, which may lie behind the end.
[[gnu::always_inline]] static inline void prefetch(const void* place)
{
    __builtin_prefetch(place);
}

//% piece prefetch_results
// Prefetches the lines to which the results of a segment will be written.
[[gnu::always_inline]] static inline void prefetch_results(const Results& results, Index segment)
{
//% each result
    __builtin_prefetch(results.@name@ + segment, 1);
//% end
}

//% piece take_row
// Takes the kLanes items from element `first` on: item `first + l` becomes item 0 of lane l. Prefetches the
// elements kPrefetchBytes ahead into the second-level cache.
[[gnu::always_inline]] static inline void take_row(Items& items, const Inputs& inputs, Index first)
{
//% each column
    __builtin_prefetch((const char*)(inputs.@name@ + first) + kPrefetchBytes, 0, 2);
//% each whole
    __builtin_memcpy(items.@name@[0], inputs.@name@ + first, sizeof items.@name@[0]);
//% end
//% each narrow
    #pragma omp simd
    for (int lane = 0; lane < kLanes; ++lane)
        items.@name@[0][lane] = @row_word@;
//% end
//% end
}

//% piece lift_item
// Lifts item k of a lane, which is the element at `index`.
[[gnu::always_inline]] static inline State lift_item(const Inputs&@inputs@, const Items&@items@, int@k@,
                                                     int@lane@, Index@index@, Index@position@,
                                                     Index@segment@)
{
    return lift(@arguments@);
}
