import COpenSSL

/// Verifies RSASSA-PKCS1-v1_5 signatures with SHA-256 and the exponent 65537 (RFC 8017 §8.2.2). It is created
/// once and reused: it contains memory for the numbers and the digest. It is used by one thread at a time.
///
/// It uses OpenSSL's big-number arithmetic, but not `EVP_PKEY_verify`, which needs a new setup for every
/// signature, uses general exponentiation, and takes 25% longer. All values are public, so constant time is
/// not needed. The result is compared with the complete expected encoded message for the digest. The padding
/// is not parsed, because lenient parsers of the padding allow forged signatures.
struct VerificationContext: ~Copyable {
    private let digestContext: OpaquePointer
    private let numberContext: OpaquePointer
    private let signature: BigNumber
    private let power: BigNumber

    private static let digestSize = 32

    init?(digest: OpaquePointer) {
        guard let signature = BigNumber(), let power = BigNumber() else { return nil }
        let digestContext = EVP_MD_CTX_new()
        let numberContext = BN_CTX_new()
        guard let digestContext, let numberContext, EVP_DigestInit_ex(digestContext, digest, nil) == 1 else {
            EVP_MD_CTX_free(digestContext)
            BN_CTX_free(numberContext)
            return nil
        }
        self.digestContext = digestContext
        self.numberContext = numberContext
        self.signature = signature
        self.power = power
    }

    borrowing func isValid(
        _ signature: [UInt8], for message: ArraySlice<UInt8>, of modulus: borrowing RSAModulus
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * Self.digestSize) { memory in
            let signed = UnsafeMutableBufferPointer(rebasing: memory[..<Self.digestSize])
            let digest = UnsafeMutableBufferPointer(rebasing: memory[Self.digestSize...])
            return readSignedDigest(of: signature, modulus, into: signed) && hash(message, into: digest)
                && signed.elementsEqual(digest)
        }
    }

    /// Returns `false` when the signature does not contain an encoded digest.
    private borrowing func readSignedDigest(
        of bytes: [UInt8], _ modulus: borrowing RSAModulus, into digest: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        // RFC 8017 §5.2.2: a number not smaller than the modulus would be a second encoding of the same
        // signature.
        guard BN_bin2bn(bytes, Int32(bytes.count), signature.pointer) != nil,
            BN_ucmp(signature.pointer, modulus.number.pointer) < 0, raiseSignature(modulus)
        else { return false }
        // After subtracting the rest of the message, the remainder must fit into the size of the digest.
        // BN_bn2binpad refuses larger numbers, and ignores the sign.
        let power = power.pointer
        return BN_sub(power, power, modulus.emptyMessage.pointer) == 1 && BN_is_negative(power) == 0
            && BN_bn2binpad(power, digest.baseAddress, Int32(Self.digestSize)) == Int32(Self.digestSize)
    }

    /// The signature to the power of 65537 = 2¹⁶ + 1.
    private borrowing func raiseSignature(_ modulus: borrowing RSAModulus) -> Bool {
        let (power, signature) = (power.pointer, signature.pointer)
        guard BN_to_montgomery(power, signature, modulus.montgomery, numberContext) == 1 else { return false }
        for _ in 0..<16 {
            guard BN_mod_mul_montgomery(power, power, power, modulus.montgomery, numberContext) == 1 else {
                return false
            }
        }
        // Multiplies by the plain signature, so that the result is converted back from Montgomery form.
        return BN_mod_mul_montgomery(power, power, signature, modulus.montgomery, numberContext) == 1
    }

    private borrowing func hash(
        _ message: ArraySlice<UInt8>, into digest: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        message.withUnsafeBufferPointer { message in
            EVP_DigestInit_ex(digestContext, nil, nil) == 1
                && EVP_DigestUpdate(digestContext, message.baseAddress, message.count) == 1
                && EVP_DigestFinal_ex(digestContext, digest.baseAddress, nil) == 1
        }
    }

    deinit {
        EVP_MD_CTX_free(digestContext)
        BN_CTX_free(numberContext)
    }
}
