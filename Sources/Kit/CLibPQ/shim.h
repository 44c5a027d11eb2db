#ifndef SIWA_CLIBPQ_SHIM_H
#define SIWA_CLIBPQ_SHIM_H

/*
 Pointers and lifetimes: the rule stands in COpenSSL/shim.h.

 PQconnectdbParams, PQpingParams, PQconninfoParse, PQsendPrepare, PQsendQuery and PQsendQueryPrepared copy what they are
 given, also when the connection does not block and the text is sent later. PQsetNoticeReceiver keeps its argument.
 PQgetvalue, PQcmdTuples, PQcmdStatus and PQresultErrorField point into the result, PQerrorMessage and PQparameterStatus
 into the connection, the latter two only until the next call: `ResultHandle` and `ConnectionHandle` copy them at once.
 */
#include <libpq-fe.h>

#endif
