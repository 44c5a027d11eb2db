#include "build_commit.h"

/* In C, because SwiftPM can pass a string of the build to C only. */
const char *siwa_build_commit(void) { return SIWA_COMMIT; }
