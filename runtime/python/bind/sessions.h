#pragma once
// The sessions of a process, made when they are first needed.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "dsl/laws/laws.h"
#include "runtime/session/session.h"

namespace segfold::python {

/// Which session serves a call.
struct SessionChoice {
    std::string backend = "auto";
    std::optional<int> device = {};
    std::string kernels = {};
    std::vector<Law> assume = {};

    auto operator<=>(const SessionChoice&) const = default;
    bool operator==(const SessionChoice&) const = default;
};

/// The session of these options; there is one of each. The caller holds the interpreter's lock.
[[nodiscard]] std::shared_ptr<Session> session_of(const SessionChoice& choice);

/// The session of a GPU on which arrays lie.
[[nodiscard]] std::shared_ptr<Session> session_of_gpu(SessionChoice choice, int device);

/// All sessions that there are. The caller holds the interpreter's lock.
[[nodiscard]] std::vector<std::shared_ptr<Session>> all_sessions();

/// What has been warned of an operator: the kind of each, which its first line without numbers says, and all
/// of it.
using ToldWarnings = std::map<std::string, std::string, std::less<>>;

/// Each text as a FoldWarning at the caller's line: its first line, once for a kind and what `told` is of,
/// with a hint at sf.explain() where there is more; all of it where that is null.
void warn(const std::vector<std::string>& texts, ToldWarnings* told = nullptr);

/// Warns, once in a process, where what was compiled cannot be kept for the next one.
void warn_of_caches();

/// Lets NVRTC be found where Python's packages keep it; done once, before the first session.
void look_for_nvrtc();

}  // namespace segfold::python
