#pragma once
// Child processes that do work for this process.
#include <sys/types.h>

namespace segfold {

/// While this object lives, a signal that ends this process is also sent to the child. So the child writes no
/// more files after temporary files (see Leftover) are removed.
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
