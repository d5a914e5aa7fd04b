// A program that runs Z3. It reads questions from descriptor 0 and writes answers to it until end of file.
//
// The program is embedded in the library (solver_program.cpp) and started from memory. It opens libz3 itself
// and limits its own memory and time, so failures of Z3 cannot harm the parent process.
//
// A message is a length in 4 bytes, followed by that many bytes. The first byte of a question is a command.
// 'g' keeps the earlier messages; 'c' and 'f' discard them. After 'c', Z3 also answers with cores (the
// assumptions that a proof used).
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Handle = void*;

/// The functions of Z3's C interface that this program uses.
struct Z3 {
    Handle (*mk_config)();
    Handle (*mk_context)(Handle);
    void (*del_config)(Handle);
    void (*del_context)(Handle);
    void (*set_error_handler)(Handle, void (*)(Handle, int));
    const char* (*eval)(Handle, const char*);
    void (*global_param_set)(const char*, const char*);
    void (*get_version)(unsigned*, unsigned*, unsigned*, unsigned*);
};

bool read_all(void* into, std::size_t bytes)
{
    auto* at = static_cast<char*>(into);
    while (bytes != 0) {
        const auto count = read(0, at, bytes);
        if (count <= 0)
            return false;
        at += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

bool write_all(const void* from, std::size_t bytes)
{
    const auto* at = static_cast<const char*>(from);
    while (bytes != 0) {
        const auto count = write(0, at, bytes);
        if (count <= 0)
            return false;
        at += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

bool answer(const char* text)
{
    const auto length = static_cast<std::uint32_t>(std::strlen(text));
    return write_all(&length, sizeof length) && write_all(text, length);
}

void limit(int resource, rlim_t most)
{
    const rlimit bound = {most, most};
    setrlimit(resource, &bound);
}

/// Exits if the parent process has ended, even in the middle of a question.
void end_if_alone(int)
{
    pollfd asks = {0, 0, 0};
    if (poll(&asks, 1, 0) > 0 && (asks.revents & (POLLHUP | POLLERR)) != 0)
        _exit(0);
}

/// Requests a signal for every event on the channel, including its end. PR_SET_PDEATHSIG does not suffice: it
/// reports the end of the thread that started this process, while other threads may still use the session.
void watch_channel()
{
    struct sigaction action = {};
    action.sa_handler = end_if_alone;
    action.sa_flags = SA_RESTART;
    sigaction(SIGIO, &action, nullptr);
    fcntl(0, F_SETOWN, getpid());
    fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC);
    end_if_alone(0);
}

template <class Function>
bool find(Handle library, const char* name, Function& function)
{
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

}  // namespace

/// Arguments: file name of the library, memory limit in megabytes, limit of processor time in seconds.
int main(int count, char** arguments)
{
    if (count != 4)
        return 2;
    watch_channel();
    prctl(PR_SET_NAME, "segfold-solver");
    std::signal(SIGINT, SIG_IGN);  // only the parent process ends this one
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, static_cast<rlim_t>(std::atoll(arguments[2])) << 20);
    limit(RLIMIT_CPU, static_cast<rlim_t>(std::atoll(arguments[3])));
    Handle library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* reason = dlerror();
        answer(reason == nullptr ? "!cannot be opened" : reason);
        return 1;
    }
    Z3 z3{};
    if (!find(library, "Z3_mk_config", z3.mk_config) || !find(library, "Z3_mk_context", z3.mk_context) ||
        !find(library, "Z3_del_config", z3.del_config) || !find(library, "Z3_del_context", z3.del_context) ||
        !find(library, "Z3_set_error_handler", z3.set_error_handler) ||
        !find(library, "Z3_global_param_set", z3.global_param_set) ||
        !find(library, "Z3_eval_smtlib2_string", z3.eval) ||
        !find(library, "Z3_get_version", z3.get_version)) {
        answer("it is not Z3 of version 4.8 or later");
        return 1;
    }
    unsigned version[4] = {};
    z3.get_version(&version[0], &version[1], &version[2], &version[3]);
    char hello[64];
    std::snprintf(hello, sizeof hello, "Z3 %u.%u.%u", version[0], version[1], version[2]);
    if (!answer(hello))
        return 0;
    Handle context = nullptr;
    for (std::uint32_t length = 0; read_all(&length, sizeof length);) {
        auto* text = static_cast<char*>(std::malloc(std::size_t{length} + 1));
        if (text == nullptr || length == 0 || !read_all(text, length))
            return 1;
        text[length] = 0;
        if (context == nullptr || text[0] != 'g') {
            if (context != nullptr)
                z3.del_context(context);
            // Sets the option here, because the text of a question cannot set it.
            z3.global_param_set("unsat_core", text[0] == 'c' ? "true" : "false");
            Handle config = z3.mk_config();
            context = z3.mk_context(config);
            z3.del_config(config);
            z3.set_error_handler(context, [](Handle, int) {});  // errors are part of the answer
        }
        const char* reply = z3.eval(context, text + 1);
        if (!answer(reply == nullptr ? "(error \"no answer\")" : reply))
            return 0;
        std::free(text);
    }
    return 0;
}
