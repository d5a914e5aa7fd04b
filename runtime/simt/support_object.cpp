#include "runtime/simt/support_object.h"

// GCC 12 has no #embed.
asm(".pushsection .rodata\n"
    ".hidden segfold_simt_support\n"
    ".hidden segfold_simt_support_end\n"
    ".globl segfold_simt_support\n"
    ".globl segfold_simt_support_end\n"
    "segfold_simt_support:\n"
    ".incbin \"" SEGFOLD_SIMT_SUPPORT
    "\"\n"
    "segfold_simt_support_end:\n"
    ".popsection\n");

extern "C" const char segfold_simt_support[], segfold_simt_support_end[];

namespace segfold::simt {

std::string_view support_object() { return {segfold_simt_support, segfold_simt_support_end}; }

}  // namespace segfold::simt
