#pragma once
// Helpers for tests of Session: a session on a back end, values, and the message of a thrown error.
#include <string>
#include <vector>

#include "segfold/segfold.h"
#include "tests/common/message_of.h"

namespace segfold::test {

inline const std::vector<int> kValues = {3, 1, 4, 1, 5, 9, 2, 6, 5};
inline const std::vector<int> kOffsets = {0, 3, 5, 5, 9};

inline Session session_on(const std::string& backend)
{
    SessionOptions options;
    options.backend = backend;
    return Session(options);
}

}  // namespace segfold::test
