// A plain entry point for every kernel, made from the kernel's own signature.

template <class... Parameters>
struct __segfold_kernel {
    template <unsigned... I>
    struct Places {};
#if defined(__clang__)
    template <class T, T... I>
    using Sequence = Places<I...>;
    using All = __make_integer_seq<Sequence, unsigned, sizeof...(Parameters)>;
#else
    using All = Places<__integer_pack(static_cast<unsigned>(sizeof...(Parameters)))...>;
#endif
    template <unsigned... I>
    __segfold_quiet static void call(void (*kernel)(Parameters...), void** arguments, Places<I...>)
    {
        kernel(*static_cast<Parameters*>(arguments[I])...);
    }
};
// Calls a kernel with the values to which `arguments` points, one for each parameter.
template <class... Parameters>
__segfold_quiet void __segfold_call(void (*kernel)(Parameters...), void** arguments)
{
    using Kernel = __segfold_kernel<Parameters...>;
    Kernel::call(kernel, arguments, typename Kernel::All());
}
template <class... Parameters>
constexpr unsigned __segfold_count(void (*)(Parameters...))
{
    return sizeof...(Parameters);
}
constexpr unsigned __segfold_cluster_blocks(unsigned x = 1, unsigned y = 1, unsigned z = 1)
{
    return y == 1 && z == 1 ? x : 0;
}
// Defines a function that returns the number of blocks in the kernel's cluster, from its __cluster_dims__; 0
// if its clusters have more than one dimension.
#define __segfold_cluster(kernel, ...)                                                         \
    extern "C" __attribute__((visibility("default"))) unsigned __segfold_cluster_of_##kernel() \
    {                                                                                          \
        return __segfold_cluster_blocks(__VA_ARGS__);                                          \
    }
#define __segfold_entry(kernel)                                                                \
    extern "C" __attribute__((visibility("default")))                                          \
    __segfold_quiet void __segfold_entry_##kernel(void** a)                                    \
    {                                                                                          \
        __segfold_call(&kernel, a);                                                            \
    }                                                                                          \
    extern "C" __attribute__((visibility("default"))) unsigned __segfold_parameters_##kernel() \
    {                                                                                          \
        return __segfold_count(&kernel);                                                       \
    }
