//% use cpu/parts/segments.h
//% if rows

// Maps the rows `begin` to `end` - 1 of a segment with the segment's stored results.
static inline void map_items(const Inputs& inputs, const Results& results, const Segments& segments,
                             Index segment, Index begin, Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Index num_features = results.num_features;
    const Index rest = num_features / kFeatureLanes * kFeatureLanes;
    const Index start = segment_begin(segments, segment);
    const Index length = segment_end(segments, segment) - start;
    for (Index item = begin; item < end; ++item) {
        const Index index = element_of(segments, segment, item);
        for (Index first = 0; first < rest; first += kFeatureLanes) {
            #pragma omp simd
            for (int lane = 0; lane < kFeatureLanes; ++lane)
                map_feature(columns, all, index, item - start, segment, length, first + lane, num_features);
        }
        #pragma omp simd
        for (Index feature = rest; feature < num_features; ++feature)
            map_feature(columns, all, index, item - start, segment, length, feature, num_features);
    }
}
//% else

// Maps the items `begin` to `end` - 1 of a segment with the segment's stored results.
static inline void map_items(const Inputs& inputs, const Results& results, const Segments& segments,
                             Index segment, Index begin, Index end)
{
    const Inputs columns = inputs;
    const Results all = results;
    const Finished total = finished(results, segment);
    const Index start = segment_begin(segments, segment);
    const Index length = segment_end(segments, segment) - start;
    const Index first = begin < end ? element_of(segments, segment, begin) : 0;
    #pragma omp simd
    for (Index i = 0; i < end - begin; ++i)
        map_item(columns, all, total, first + i, begin - start + i, segment, length);
}
//% end
