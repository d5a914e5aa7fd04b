#include "runtime/laws/prove/solver_program.h"

// Embeds the program with an assembler directive, because GCC 12 has no #embed.
asm(".pushsection .rodata\n"
    ".hidden segfold_solver_program\n"
    ".hidden segfold_solver_program_end\n"
    ".globl segfold_solver_program\n"
    ".globl segfold_solver_program_end\n"
    "segfold_solver_program:\n"
    ".incbin \"" SEGFOLD_SOLVER_PROGRAM
    "\"\n"
    "segfold_solver_program_end:\n"
    ".popsection\n");

extern "C" const char segfold_solver_program[], segfold_solver_program_end[];

namespace segfold::prove {

std::string_view solver_program() { return {segfold_solver_program, segfold_solver_program_end}; }

}  // namespace segfold::prove
