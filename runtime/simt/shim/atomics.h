// CUDA's atomic functions. Each is atomic on the host too, because blocks may run on several cores. This list
// is used twice: every text declares the functions from it, and hooks.h defines them. The third argument of F
// is an expression for the new value; in it, `old` is the old value.

#define __segfold_atomics_of_integers(F, type)           \
    F(atomicExch, type, (static_cast<void>(old), value)) \
    F(atomicMin, type, old < value ? old : value)        \
    F(atomicMax, type, old < value ? value : old)        \
    F(atomicAnd, type, old& value)                       \
    F(atomicOr, type, old | value)                       \
    F(atomicXor, type, old ^ value)

#define __segfold_atomics(F)                                                                               \
    __segfold_atomics_of_integers(F, int) __segfold_atomics_of_integers(                                   \
        F, unsigned) __segfold_atomics_of_integers(F, unsigned long long) F(atomicMin, long long,          \
                                                                            old < value ? old : value)     \
        F(atomicMax, long long, old < value ? value : old) F(                                              \
            atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))   \
            F(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value))) \
                F(atomicAdd, unsigned, old + value) F(atomicSub, unsigned, old - value)                    \
                    F(atomicInc, unsigned, old >= value ? 0u : old + 1)                                    \
                        F(atomicDec, unsigned, old == 0 || old > value ? value : old - 1)                  \
                            F(atomicAdd, unsigned long long, old + value) F(atomicAdd, float, old + value) \
                                F(atomicAdd, double, old + value)                                          \
                                    F(atomicExch, float, (static_cast<void>(old), value))

#define __segfold_declare_atomic(name, type, result) \
    type name(type* address, type value);            \
    type name##_block(type* address, type value);    \
    type name##_system(type* address, type value);
__segfold_atomics(__segfold_declare_atomic)

int atomicCAS(int* address, int compare, int value);
unsigned atomicCAS(unsigned* address, unsigned compare, unsigned value);
unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                             unsigned long long value);
unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value);
