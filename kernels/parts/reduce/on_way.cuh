// Joins the state of the items that a scan has passed with the state of the next items on its way.
__device__ __forceinline__ State join_on_way(State passed, State next)
{
    //% if reverse
    return combine(next, passed);
    //% else
    return combine(passed, next);
    //% end
}
