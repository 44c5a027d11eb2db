#ifndef SIWA_CLIBPQ_SHIM_H
#define SIWA_CLIBPQ_SHIM_H

/*
 Pointer lifetimes: see the rules in COpenSSL/shim.h.

 PQconnectdbParams, PQpingParams, PQconninfoParse, PQsendPrepare, PQsendQuery and PQsendQueryPrepared copy their arguments
 even if the connection is non-blocking and the text is sent later. PQsetNoticeReceiver keeps the pointer it is given.
 PQgetvalue, PQcmdTuples, PQcmdStatus and PQresultErrorField return pointers into the result. PQerrorMessage and
 PQparameterStatus return pointers into the connection that are valid only until the next call. So `ResultHandle` and
 `ConnectionHandle` copy all these texts at once.
 */

/* Before the pragma, which must not apply to the functions of the C library. */
#include <stdio.h>

/*
 libpq's functions are weak, so that a program also starts without libpq. The siwa-dev of the Python wheel has no libpq,
 because libpq needs about twenty further libraries (scripts/package-wheel takes libpq out of the program's list).
 */
#pragma clang attribute push(__attribute__((weak)), apply_to = function)
#include <libpq-fe.h>
#pragma clang attribute pop

/* Returns 0 if the process has no libpq. No other function may then be called. */
static inline int siwa_libpq_is_present(void) { return &PQlibVersion != 0; }

#endif
