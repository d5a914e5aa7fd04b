//% piece scan_item
// Element k of `items`: its outputs, from the states of its segment before it and with it.
__device__ __forceinline__ Scanned scan_item(const Inputs&@item_inputs@, const ScanItems&@items@, int@k@,
                                             State@before@, State@through@, Index@index@, Index@position@,
                                             Index@segment@)
{
    return scan_element(@arguments@);
}
