#ifndef SIWA_CLIBJWT_SHIM_H
#define SIWA_CLIBJWT_SHIM_H

/*
 Pointers and lifetimes: the rule stands in COpenSSL/shim.h.

 jwt_set_alg copies the key; jwt_add_header, jwt_add_headers_json and jwt_add_grants_json copy their text. jwt_encode_str
 returns memory of the C library's, which `free` frees. jwt_get_grant and jwt_get_header return pointers into the token.
 */
#include <jwt.h>

#endif
