#pragma once
// The sessions of a process. Each is created when it is first needed.
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

/// The options that determine the session of a call.
struct SessionChoice {
    std::string backend = "auto";
    std::optional<int> device = {};
    std::string kernels = {};
    std::vector<Law> assume = {};

    auto operator<=>(const SessionChoice&) const = default;
    bool operator==(const SessionChoice&) const = default;
};

/// Returns the session for these options; equal options give the same session. The caller must hold the
/// interpreter's lock.
[[nodiscard]] std::shared_ptr<Session> session_of(const SessionChoice& choice);

/// Returns the session for the GPU with ordinal `device`.
[[nodiscard]] std::shared_ptr<Session> session_of_gpu(SessionChoice choice, int device);

/// Returns all sessions. The caller must hold the interpreter's lock.
[[nodiscard]] std::vector<std::shared_ptr<Session>> all_sessions();

/// The warnings given about an operator. The key is the first line of a warning without its numbers; the
/// value is the full text.
using ToldWarnings = std::map<std::string, std::string, std::less<>>;

/// Raises each text as a FoldWarning at the caller's line. Without `told`, shows the full texts. With `told`,
/// shows only the first line of each text, names sf.explain() if there are more lines, and skips texts that
/// differ only in numbers from earlier ones.
void warn(const std::vector<std::string>& texts, ToldWarnings* told = nullptr);

/// Warns, once per process, if compiled programs cannot be stored for later processes.
void warn_of_caches();

/// Returns the goal by which a stage is chosen, given the value of first=. Throws InputError for unknown
/// values.
[[nodiscard]] First first_named(const std::string& word);

/// Adds the folders of Python packages to the places where NVRTC is searched. Called once, before the first
/// session is created.
void look_for_nvrtc();

}  // namespace segfold::python
