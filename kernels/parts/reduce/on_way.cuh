// The state of the items that a scan has passed, with that of the next ones on its way.
__device__ __forceinline__ State join_on_way(State passed, State next)
{
    //% if reverse
    return combine(next, passed);
    //% else
    return combine(passed, next);
    //% end
}
