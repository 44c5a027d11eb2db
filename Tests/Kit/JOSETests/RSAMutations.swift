import COpenSSL
import Cryptography
import TestSupport

/// Random changes to genuine RSA signatures, to the signed messages, and to the padded blocks.
struct RSAMutations {
    struct Sample {
        let kind: String
        var message: [UInt8]
        var signature: [UInt8]
    }

    /// EMSA-PKCS1-v1_5 (RFC 8017 §9.2) up to the digest.
    private static let digestInfo: [UInt8] = [
        0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
        0x04, 0x20,
    ]

    private let key: OpenSSLKey
    private let modulus: [UInt8]
    private let honest: [Sample]
    private var random: SeededGenerator

    init(_ key: OpenSSLKey, modulus: [UInt8], seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        honest = try (0..<32).map { _ in
            let message = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let block = Self.block(of: message, size: modulus.count)
            return Sample(kind: "honest", message: message, signature: try key.sign(block: block))
        }
        (self.key, self.modulus, self.random) = (key, modulus, random)
    }

    /// Returns the next sample. One in ten has a changed block, because signing takes thirty times as long as
    /// verifying.
    mutating func next() throws -> Sample {
        let sample = honest[Int.random(in: honest.indices, using: &random)]
        switch Int.random(in: 0..<100, using: &random) {
        case 0: return sample
        case 1...10: return try withChangedBlock(sample)
        case 11...30: return withChangedMessage(sample)
        case 31...45: return withAnotherNumber(sample)
        default: return withChangedSignature(sample)
        }
    }

    private mutating func withChangedMessage(_ sample: Sample) -> Sample {
        var message = sample.message
        change(&message)
        return Sample(kind: "message", message: message, signature: sample.signature)
    }

    private mutating func withChangedSignature(_ sample: Sample) -> Sample {
        var signature = sample.signature
        change(&signature)
        // Most changes keep the size, because another size is refused at once.
        if Bool.random(using: &random), signature.count != modulus.count {
            signature = Array(signature.suffix(modulus.count))
            signature = [UInt8](repeating: 0, count: modulus.count - signature.count) + signature
        }
        return Sample(kind: "signature", message: sample.message, signature: signature)
    }

    /// Replaces the signature by another number of the same residue, or by a derived number.
    private mutating func withAnotherNumber(_ sample: Sample) -> Sample {
        var signature = sample.signature
        switch Int.random(in: 0..<5, using: &random) {
        case 0: signature = sum(signature, modulus)
        case 1: signature = difference(modulus, signature)
        case 2: signature = sum(signature, [UInt8](repeating: 0, count: signature.count - 1) + [1])
        case 3: signature = difference(signature, [UInt8](repeating: 0, count: signature.count - 1) + [1])
        default: signature = [0] + sum(signature, modulus)
        }
        return Sample(kind: "number", message: sample.message, signature: signature)
    }

    private mutating func withChangedBlock(_ sample: Sample) throws -> Sample {
        var block = Self.block(of: sample.message, size: modulus.count)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            // In front of the digest: the padding and what names the algorithm.
            let end = block.count - 32
            let place = Int.random(in: (Bool.random(using: &random) ? 0 : end - 24)..<end, using: &random)
            block[place] = UInt8.random(in: 0...255, using: &random)
        case 1:
            // A short run, and the rest of the block behind the digest.
            let tail = Int.random(in: 1...(block.count - 60), using: &random)
            let start = block.count - Self.digestInfo.count - 33
            let info = block[start...]
            let run = [UInt8](repeating: 0xFF, count: start - 2 - tail)
            let rest = (0..<tail).map { _ in UInt8.random(in: 0...255, using: &random) }
            block = [0, 1] + run + info + rest
        default: change(&block)
        }
        block = Array(block.prefix(modulus.count))
        block += [UInt8](repeating: 0, count: modulus.count - block.count)
        // Larger numbers than the modulus cannot be signed.
        if !block.lexicographicallyPrecedes(modulus) { block[0] = 0 }
        return Sample(kind: "block", message: sample.message, signature: try key.sign(block: block))
    }

    /// One to three changes of bits, bytes, ranges or the length.
    private mutating func change(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard !bytes.isEmpty else {
                bytes.append(UInt8.random(in: 0...255, using: &random))
                continue
            }
            let place = Int.random(in: bytes.indices, using: &random)
            let end = min(bytes.count, place + Int.random(in: 1...16, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 3: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 4: bytes[place..<end].withEach { $0 = 0 }
            case 5: bytes[place..<end].withEach { $0 = 0xFF }
            case 6: bytes.swapAt(place, Int.random(in: bytes.indices, using: &random))
            case 7: bytes.remove(at: place)
            case 8: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default: bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
    }

    private static func block(of message: [UInt8], size: Int) -> [UInt8] {
        let info = digestInfo + SHA256Digest.hash(message)
        return [0, 1] + [UInt8](repeating: 0xFF, count: size - 3 - info.count) + [0] + info
    }

    /// Returns the sum of two numbers of the same size, without the carry out.
    private func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var (result, carry) = (left, 0)
        for index in result.indices.reversed() {
            let sum = Int(left[index]) + Int(right[index]) + carry
            (result[index], carry) = (UInt8(truncatingIfNeeded: sum), sum >> 8)
        }
        return result
    }

    private func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var (result, borrow) = (left, 0)
        for index in result.indices.reversed() {
            let difference = Int(left[index]) - Int(right[index]) - borrow
            (result[index], borrow) = (UInt8(truncatingIfNeeded: difference), difference < 0 ? 1 : 0)
        }
        return result
    }
}

extension ArraySlice {
    fileprivate mutating func withEach(_ change: (inout Element) -> Void) {
        for index in indices { change(&self[index]) }
    }
}

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
