// Functions that compilers call with -fsanitize=thread and -fsanitize=undefined. The sanitizers' own
// libraries are not linked; these functions pass every access to the executor.

extern "C" {
#define __segfold_access(name, function, bytes)                   \
    __segfold_support void __tsan_##name(const void* address)     \
    {                                                             \
        __segfold_hooks.function(address, bytes, __segfold_site); \
    }
#define __segfold_accesses(bytes)                                                                    \
    __segfold_access(read##bytes, read, bytes) __segfold_access(write##bytes, write, bytes)          \
        __segfold_access(volatile_read##bytes, volatile_read, bytes)                                 \
            __segfold_access(volatile_write##bytes, volatile_write, bytes)                           \
                __segfold_access(unaligned_read##bytes, read, bytes)                                 \
                    __segfold_access(unaligned_write##bytes, write, bytes)                           \
                        __segfold_access(unaligned_volatile_read##bytes, volatile_read, bytes)       \
                            __segfold_access(unaligned_volatile_write##bytes, volatile_write, bytes) \
                                __segfold_support void __tsan_read_write##bytes(const void* address) \
    {                                                                                                \
        __segfold_hooks.read(address, bytes, __segfold_site);                                        \
        __segfold_hooks.write(address, bytes, __segfold_site);                                       \
    }
__segfold_accesses(1) __segfold_accesses(2) __segfold_accesses(4) __segfold_accesses(8) __segfold_accesses(16)

    __segfold_support void __tsan_init()
{}
__segfold_support void __tsan_func_entry(void*) {}
__segfold_support void __tsan_func_exit() {}
__segfold_support void __tsan_read_range(const void* address, unsigned long bytes)
{
    __segfold_hooks.read(address, bytes, __segfold_site);
}
__segfold_support void __tsan_write_range(const void* address, unsigned long bytes)
{
    __segfold_hooks.write(address, bytes, __segfold_site);
}
__segfold_support void* __tsan_memcpy(void* to, const void* from, unsigned long bytes)
{
    __segfold_hooks.read(from, bytes, __segfold_site);
    __segfold_hooks.write(to, bytes, __segfold_site);
    return __builtin_memcpy(to, from, bytes);
}
__segfold_support void* __tsan_memmove(void* to, const void* from, unsigned long bytes)
{
    __segfold_hooks.read(from, bytes, __segfold_site);
    __segfold_hooks.write(to, bytes, __segfold_site);
    return __builtin_memmove(to, from, bytes);
}
__segfold_support void* __tsan_memset(void* to, int value, unsigned long bytes)
{
    __segfold_hooks.write(to, bytes, __segfold_site);
    return __builtin_memset(to, value, bytes);
}

__segfold_support void __ubsan_handle_type_mismatch_v1(const void* data, const void* address)
{
    __segfold_hooks.misaligned(data, address, __segfold_site);
}
__segfold_support void __ubsan_handle_out_of_bounds(const void* data, unsigned long index)
{
    __segfold_hooks.outside_array(data, index, __segfold_site);
}
#define __segfold_undefined(name, what)                            \
    __segfold_support void __ubsan_handle_##name(const void* data) \
    {                                                              \
        __segfold_hooks.undefined(what, data, __segfold_site);     \
    }
__segfold_undefined(add_overflow, "signed addition overflows")
    __segfold_undefined(sub_overflow, "signed subtraction overflows") __segfold_undefined(
        mul_overflow, "signed multiplication overflows") __segfold_undefined(negate_overflow,
                                                                             "signed negation overflows")
        __segfold_undefined(divrem_overflow, "division by zero or of the lowest value by -1")
            __segfold_undefined(shift_out_of_bounds, "shift by a negative or too wide amount")
                __segfold_undefined(vla_bound_not_positive, "array length is not positive")
                    __segfold_undefined(load_invalid_value, "bool or enumeration holds another value")
                        __segfold_undefined(float_cast_overflow, "float is out of the integer type's range")
                            __segfold_undefined(pointer_overflow, "pointer arithmetic overflows")
                                __segfold_undefined(builtin_unreachable, "unreachable code is reached")
                                    __segfold_undefined(missing_return, "function ends without its value")
                                        __segfold_undefined(nonnull_arg, "null pointer where none is allowed")
}
