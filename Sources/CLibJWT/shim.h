#ifndef SIWA_CLIBJWT_SHIM_H
#define SIWA_CLIBJWT_SHIM_H

#include <jwt.h>

#endif
