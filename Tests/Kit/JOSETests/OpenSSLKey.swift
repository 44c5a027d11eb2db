import COpenSSL
import Cryptography

/// An RSA key as OpenSSL uses it: the second opinion about signatures.
final class OpenSSLKey {
    struct Failure: Error {
        let call: String
    }

    private let key: OpaquePointer
    private let verifying: OpaquePointer

    /// - Parameter pem: A private key, which can sign.
    convenience init(pem: String) throws {
        var pem = pem
        let key = pem.withUTF8 { bytes in
            let input = BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count))
            defer { BIO_free(input) }
            return PEM_read_bio_PrivateKey(input, nil, nil, nil)
        }
        guard let key else { throw Failure(call: "PEM_read_bio_PrivateKey") }
        try self.init(owning: key)
    }

    /// A public key. Both numbers are big-endian, without leading zeros.
    convenience init(modulus: [UInt8], exponent: [UInt8]) throws {
        let algorithm: [UInt8] = [
            0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
        ]
        let numbers = Self.encoded(0x30, Self.integer(modulus) + Self.integer(exponent))
        let info = Self.encoded(0x30, algorithm + Self.encoded(0x03, [0] + numbers))
        let key = info.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            return d2i_PUBKEY(nil, &start, bytes.count)
        }
        guard let key else { throw Failure(call: "d2i_PUBKEY") }
        try self.init(owning: key)
    }

    private init(owning key: OpaquePointer) throws {
        self.key = key
        guard let verifying = EVP_PKEY_CTX_new(key, nil) else {
            EVP_PKEY_free(key)
            throw Failure(call: "EVP_PKEY_CTX_new")
        }
        self.verifying = verifying
        guard EVP_PKEY_verify_init(verifying) == 1,
            EVP_PKEY_CTX_set_rsa_padding(verifying, RSA_PKCS1_PADDING) == 1,
            EVP_PKEY_CTX_set_signature_md(verifying, EVP_sha256()) == 1
        else { throw Failure(call: "EVP_PKEY_verify_init") }
    }

    deinit {
        EVP_PKEY_CTX_free(verifying)
        EVP_PKEY_free(key)
    }

    /// `EVP_PKEY_verify`: RSASSA-PKCS1-v1_5 with SHA-256.
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        let digest = Array(SHA256Digest.hash(message))
        let verdict = EVP_PKEY_verify(verifying, signature, signature.count, digest, digest.count)
        if verdict != 1 { ERR_clear_error() }
        return verdict == 1
    }

    /// The private operation alone, on a block of the modulus' size that is less than the modulus.
    func sign(block: [UInt8]) throws -> [UInt8] {
        let signing = EVP_PKEY_CTX_new(key, nil)
        defer { EVP_PKEY_CTX_free(signing) }
        var signature = [UInt8](repeating: 0, count: block.count)
        var count = signature.count
        guard EVP_PKEY_sign_init(signing) == 1, EVP_PKEY_CTX_set_rsa_padding(signing, RSA_NO_PADDING) == 1,
            EVP_PKEY_sign(signing, &signature, &count, block, block.count) == 1, count == block.count
        else { throw Failure(call: "EVP_PKEY_sign") }
        return signature
    }

    private static func integer(_ number: [UInt8]) -> [UInt8] {
        // A first bit that is 1 would make the number negative.
        encoded(0x02, (number.first ?? 0) < 0x80 ? number : [0] + number)
    }

    private static func encoded(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        let length = count < 128 ? [UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 0xFF)]
        return [tag] + length + content
    }
}
