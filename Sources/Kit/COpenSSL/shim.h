#ifndef SIWA_COPENSSL_SHIM_H
#define SIWA_COPENSSL_SHIM_H

/*
 Pointers and lifetimes, for every call of C:

 An array, a string or an `inout` that is passed as an argument is valid until that one call returns. Optimized code frees
 the memory right after the call, also in the middle of a function. So what OpenSSL keeps is never passed like that: it is
 used inside `withUnsafeBytes`, `withUTF8` or the like, and what keeps it is freed in there.

 Keep the caller's pointer:      BIO_new_mem_buf, d2i_* and i2d_* (they advance it), OSSL_PARAM_construct_*,
                                 EVP_PKEY_CTX_set0_*, BIO_set_mem_buf, every callback's user data.
 Keep another owner's object:    X509_STORE_CTX_init (the store, the leaf and the list), OPENSSL_sk_push, CMS_get0_signers
                                 (the certificates in its list); X509_STORE_add_cert counts a reference of its own.
 Copy before they return:        BIO_write, BN_bin2bn, EVP_CipherInit_ex2 (key and nonce), EVP_CIPHER_CTX_ctrl with
                                 EVP_CTRL_AEAD_SET_TAG, EVP_PKEY_CTX_set_group_name.
 Read or write only meanwhile:   EVP_DigestUpdate, EVP_DigestVerify, EVP_CipherUpdate, EVP_PKEY_get_*_param.

 A pointer that OpenSSL returns has one owner: a `~Copyable` type or a `defer` in the same scope. Nothing that points into
 what an owner holds leaves a method of that owner.
 */
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#endif
