#ifndef SIWA_CLIBJWT_SHIM_H
#define SIWA_CLIBJWT_SHIM_H

/*
 Pointer lifetimes: see the rules in COpenSSL/shim.h.

 jwt_set_alg copies the key; jwt_add_header, jwt_add_headers_json and jwt_add_grants_json copy their text. jwt_encode_str
 returns memory from `malloc`, so `free` releases it. jwt_get_grant and jwt_get_header return pointers into the token.
 */
#include <jwt.h>

#endif
