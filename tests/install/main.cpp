// Uses the installed headers and libraries as a stranger would.
#include <codegen/embedded_kernels.h>
#include <dsl/type.h>

#include <iostream>

int main()
{
    const auto kernels = segfold::embedded_kernels();
    std::cout << name(segfold::Type::f32) << " has " << size_bytes(segfold::Type::f32) << " bytes; " << kernels.size()
              << " kernels\n";
}
