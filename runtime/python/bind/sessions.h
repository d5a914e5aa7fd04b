#pragma once
// The sessions of a process, made when they are first needed.
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "dsl/laws.h"
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

/// Lets NVRTC be found where Python's packages keep it; done once, before the first session.
void look_for_nvrtc();

}  // namespace segfold::python
