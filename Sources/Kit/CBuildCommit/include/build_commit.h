#ifndef SIWA_BUILD_COMMIT_H
#define SIWA_BUILD_COMMIT_H

/* Returns the commit from which the program was built, or an empty string. The string is part of the program. */
const char *siwa_build_commit(void);

#endif
