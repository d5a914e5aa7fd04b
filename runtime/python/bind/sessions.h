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

/// The options that select the session of a call.
struct SessionChoice {
    std::string backend = "auto";
    std::optional<int> device = {};
    std::string kernels = {};
    std::vector<Law> assume = {};

    auto operator<=>(const SessionChoice&) const = default;
    bool operator==(const SessionChoice&) const = default;
};

/// Returns the session for these options. Equal options give the same session. The caller holds the
/// interpreter's lock.
[[nodiscard]] std::shared_ptr<Session> session_of(const SessionChoice& choice);

/// Returns the session of the GPU on which arrays lie.
[[nodiscard]] std::shared_ptr<Session> session_of_gpu(SessionChoice choice, int device);

/// Returns all sessions. The caller holds the interpreter's lock.
[[nodiscard]] std::vector<std::shared_ptr<Session>> all_sessions();

/// Warnings given about an operator. Key: the first line of the warning without its numbers (its kind).
/// Value: the full text.
using ToldWarnings = std::map<std::string, std::string, std::less<>>;

/// Raises each text as a FoldWarning at the caller's line. With `told`, raises only one warning of each kind;
/// it shows the first line, and names sf.explain() if the text is longer. Without `told`, shows every full
/// text.
void warn(const std::vector<std::string>& texts, ToldWarnings* told = nullptr);

/// Warns, once in a process, if compiled programs cannot be stored for the next process.
void warn_of_caches();

/// Returns what a stage is chosen for, by the word first=. Throws InputError for another word.
[[nodiscard]] First first_named(const std::string& word);

/// Adds the folders of Python's packages to the places searched for NVRTC. Called once, before the first
/// session.
void look_for_nvrtc();

}  // namespace segfold::python
