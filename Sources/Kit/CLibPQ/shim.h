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
#include <libpq-fe.h>

#endif
