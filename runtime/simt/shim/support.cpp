// Builds the one object that is linked with every text. It is compiled with segfold and not with the texts,
// because that takes several times as long as most texts. Each of these headers needs the headers before it.
// clang-format off
#include "protocol.h"
#include "language.h"
#include "math.h"
#include "warp.h"
#include "atomics.h"
#include "call.h"
#include "hooks.h"
#include "accesses.h"
