#pragma once
// Processes that work for this one.
#include <sys/types.h>

namespace segfold {

/// Names a child that gets the signal which ends this process while this lives, so that it writes no file
/// after those of Leftovers were removed.
class Child {
public:
    explicit Child(pid_t process);
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

private:
    int place_ = -1;
};

}  // namespace segfold
