#pragma once
// The message of what a call throws.
#include <string>

#include "dsl/error.h"

namespace segfold::test {

/// The message of what `call` throws, which must be a `Thrown`; "nothing was thrown" where it throws nothing.
template <class Thrown = Error, class Call>
std::string message_of(Call&& call)
{
    try {
        (void)call();
    } catch (const Thrown& error) {
        return error.what();
    }
    return "nothing was thrown";
}

}  // namespace segfold::test
