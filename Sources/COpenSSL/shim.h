#ifndef SIWA_COPENSSL_SHIM_H
#define SIWA_COPENSSL_SHIM_H

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

/* A macro of bit sets, which Swift cannot import. */
static const int SIWA_EVP_PKEY_PUBLIC_KEY = EVP_PKEY_PUBLIC_KEY;

/* OSSL_PARAM_BLD keeps the pointer to a name: it must outlive the call, which a Swift string does not. */
static const char *const SIWA_RSA_MODULUS = OSSL_PKEY_PARAM_RSA_N;
static const char *const SIWA_RSA_EXPONENT = OSSL_PKEY_PARAM_RSA_E;

#endif
