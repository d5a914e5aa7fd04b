//% piece scan_item
// Returns the outputs of element k of `items`, from its segment's states before this element and with it.
__device__ __forceinline__ Scanned scan_item(const Inputs&@item_inputs@, const ScanItems&@items@, int@k@,
                                             State@before@, State@through@, Index@index@, Index@position@,
                                             Index@segment@)
{
    return scan_element(@arguments@);
}
