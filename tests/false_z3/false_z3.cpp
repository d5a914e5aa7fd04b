// Stands in for libz3 where a test wants a solver that misbehaves: SEGFOLD_FALSE_Z3 says how.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

bool does(const char* what)
{
    const char* asked = std::getenv("SEGFOLD_FALSE_Z3");
    return asked != nullptr && std::strcmp(asked, what) == 0;
}

[[noreturn]] void sleep_for_ever()
{
    for (;;)
        pause();
}

}  // namespace

extern "C" {

void* Z3_mk_config() { return nullptr; }
void* Z3_mk_context(void*)
{
    static int context;
    return &context;
}
void Z3_del_config(void*) {}
void Z3_del_context(void*) {}
void Z3_set_error_handler(void*, void (*)(void*, int)) {}
void Z3_global_param_set(const char*, const char*) {}

void Z3_get_version(unsigned* major, unsigned* minor, unsigned* build, unsigned* revision)
{
    if (does("hang at start"))
        sleep_for_ever();
    if (does("crash at start"))
        std::abort();
    *major = *minor = *build = *revision = 0;
}

const char* Z3_eval_smtlib2_string(void*, const char*)
{
    if (does("hang"))
        sleep_for_ever();
    if (does("crash"))
        raise(SIGSEGV);
    if (does("be killed"))
        raise(SIGKILL);
    if (does("end"))
        std::exit(0);
    if (does("take memory"))
        for (;;)
            *static_cast<char*>(std::malloc(1 << 24)) = 1;  // of what the limit counts, little is touched
    if (does("say nothing"))
        return "";
    if (does("say unknown"))
        return "unknown\n";
    if (does("say timeout"))
        return "timeout\n";
    if (does("say an error"))
        return "(error \"line 1 column 1: unsat\")\nunsat\n";
    if (does("say sat"))
        return "sat\n((a1.x #b))\n";
    return "unsatisfactory\n";
}
}
