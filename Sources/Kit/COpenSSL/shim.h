#ifndef SIWA_COPENSSL_SHIM_H
#define SIWA_COPENSSL_SHIM_H

/*
 Pointer lifetimes in calls from Swift to C:

 When an array, a string or an `inout` value is passed as a pointer argument, the pointer is valid only until that call
 returns. Optimized code may free the memory right after the call, even in the middle of a function. So if OpenSSL keeps a
 pointer, the calls run inside `withUnsafeBytes`, `withUTF8` or the like, and the object that keeps the pointer is freed
 before the closure returns.

 Keep the caller's pointer:      BIO_new_mem_buf, d2i_* and i2d_* (they advance it), OSSL_PARAM_construct_*,
                                 EVP_PKEY_CTX_set0_*, BIO_set_mem_buf, every callback's user data.
 Borrow another owner's object:  X509_STORE_CTX_init (the store, the leaf and the list), OPENSSL_sk_push, CMS_get0_signers
                                 (the certificates in its list). X509_STORE_add_cert instead takes its own reference.
 Copy before they return:        BIO_write, BN_bin2bn, EVP_CipherInit_ex2 (key and nonce), EVP_CIPHER_CTX_ctrl with
                                 EVP_CTRL_AEAD_SET_TAG, EVP_PKEY_CTX_set_group_name.
 Use pointers during the call:   EVP_DigestUpdate, EVP_DigestVerify, EVP_CipherUpdate, EVP_PKEY_get_*_param.

 Each pointer that OpenSSL returns has exactly one owner: a `~Copyable` type, or a `defer` in the same scope. A pointer
 into an owned object never leaves the methods of its owner.
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
