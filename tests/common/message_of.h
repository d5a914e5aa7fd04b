#pragma once
// The message of the exception that a call throws.
#include <string>

#include "dsl/error.h"

namespace segfold::test {

/// Returns the message of the `Thrown` that `call` throws; "nothing was thrown" if it throws nothing.
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
