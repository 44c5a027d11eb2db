import COpenSSL
import Cryptography
import Encodings
import JOSE

/// Makes attestations and assertions as Apple and its devices do, under a root of its own.
public struct AttestationMint: Sendable {
    public static let teamID = "A1B2C3D4E5"
    public static let bundleID = "com.example.app"
    /// 2026-01-01T00:00:00Z: a time at which all certificates are valid, in seconds since 1970.
    public static let sampleTime: Int64 = 1_767_225_600
    /// The validity of leaf certificates.
    public static let leafValidity = (sampleTime - 86_400)...(sampleTime + 2 * 86_400)
    public static let clientData = Array("a challenge of the service".utf8)

    /// The validity of the other certificates.
    public static let authorityValidity = (sampleTime - 86_400 * 365)...(sampleTime + 86_400 * 365)

    private static let rootName = "Root CA of a test"
    private static let intermediateName = "CA of a test"

    public let root: MintedCertificate
    public let intermediate: MintedCertificate
    private let rootKey: MintedKey
    private let intermediateKey: MintedKey

    public init() throws {
        let rootKey = try MintedKey(group: "secp384r1")
        let root = try MintedCertificate(
            of: rootKey, name: Self.rootName, by: (Self.rootName, rootKey), validity: Self.authorityValidity,
            isAuthority: true)
        try self.init(root, rootKey)
    }

    /// Makes a mint with another intermediate certificate under the same root.
    public init(under other: AttestationMint) throws { try self.init(other.root, other.rootKey) }

    private init(_ root: MintedCertificate, _ rootKey: MintedKey) throws {
        (self.root, self.rootKey) = (root, rootKey)
        intermediateKey = try MintedKey(group: "secp384r1")
        intermediate = try MintedCertificate(
            of: intermediateKey, name: Self.intermediateName, by: (Self.rootName, rootKey),
            validity: Self.authorityValidity, isAuthority: true)
    }

    /// Makes an attestation object in CBOR.
    public func attestation(_ parts: AttestationParts) throws -> [UInt8] {
        CBORItem.map(try members(of: parts)).encoded
    }

    /// The members of an attestation object, in Apple's order.
    public func members(of parts: AttestationParts) throws -> [(CBORItem, CBORItem)] {
        let leaf = try self.leaf(of: parts)
        let certificates = parts.certificates ?? [.bytes(leaf.der), .bytes(intermediate.der)]
        let statement = CBORItem.map([
            (.text("x5c"), .array(certificates)), (.text("receipt"), .bytes(parts.receipt)),
        ])
        return [
            (.text("fmt"), .text(parts.format)), (.text("attStmt"), statement),
            (.text("authData"), .bytes(parts.authenticatorData)),
        ]
    }

    public func leaf(of parts: AttestationParts) throws -> MintedCertificate {
        try MintedCertificate(
            of: parts.leafKey ?? parts.key, name: "leaf", by: (Self.intermediateName, intermediateKey),
            validity: parts.leafValidity, isAuthority: false,
            extensions: (parts.nonces ?? [parts.nonce]).map { ("1.2.840.113635.100.8.2", $0) }
                + parts.keyPolicies.map { ("1.2.840.113635.100.8.6", $0) })
    }

    /// The certificate of a signer of receipts.
    func signerCertificate(of key: MintedKey, validity: ClosedRange<Int64>?) throws -> MintedCertificate {
        try MintedCertificate(
            of: key, name: "receipt signer", by: (Self.intermediateName, intermediateKey),
            validity: validity ?? Self.authorityValidity, isAuthority: false)
    }

    /// The nonce of an object: SHA-256 of the authenticator data and the hash of the client data.
    static func nonce(_ authenticatorData: [UInt8], _ clientData: [UInt8]) -> [UInt8] {
        SHA256Digest.hash(authenticatorData + SHA256Digest.hash(clientData).bytes).bytes
    }
}

extension AttestationMint {
    /// Signs a receipt with OpenSSL, under the root of the mint.
    public func receipt(_ parts: ReceiptParts) throws -> [UInt8] {
        let key = try MintedKey()
        let signer = try signerCertificate(of: key, validity: parts.signerValidity)
        let leaf = try parts.leaf ?? self.leaf(of: AttestationParts(key: parts.key)).der
        let content = parts.content ?? ReceiptParts.encoded(parts.fields(leaf: leaf))
        return try Self.sign(
            content, by: signer, key, through: intermediate, isStreamed: parts.isStreamed,
            hasAttributes: parts.hasSignedAttributes)
    }

    private static func sign(
        _ content: [UInt8], by certificate: MintedCertificate, _ key: MintedKey,
        through authority: MintedCertificate, isStreamed: Bool, hasAttributes: Bool
    ) throws -> [UInt8] {
        let error = MintError(failed: "a receipt")
        guard let signer = PEMText.read(certificate.pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw error
        }
        defer { X509_free(signer) }
        guard let other = PEMText.read(authority.pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw error
        }
        defer { X509_free(other) }
        guard let list = OPENSSL_sk_new_null() else { throw error }
        defer { OPENSSL_sk_free(list) }
        let (input, output) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        defer {
            BIO_free(input)
            BIO_free(output)
        }
        let count = Int32(content.count)
        guard OPENSSL_sk_push(list, UnsafeRawPointer(other)) > 0, BIO_write(input, content, count) == count
        else { throw error }
        let flags = CMS_BINARY | (hasAttributes ? 0 : CMS_NOATTR) | (isStreamed ? CMS_STREAM : 0)
        try key.withKey { key in
            guard let message = CMS_sign(signer, key, list, input, UInt32(flags)) else { throw error }
            defer { CMS_ContentInfo_free(message) }
            let isWritten =
                isStreamed
                ? i2d_CMS_bio_stream(output, message, input, flags) : i2d_CMS_bio(output, message)
            guard isWritten == 1 else { throw error }
        }
        let size = Int(BIO_ctrl_pending(output))
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            count = max(0, Int(BIO_read(output, bytes.baseAddress, Int32(size))))
        }
    }
}

/// A device of a test with one key, as an app uses it: all values are the texts that go over the wire.
public struct AttestedDevice: Sendable {
    public let mint: AttestationMint
    public let key: MintedKey

    public init(_ mint: AttestationMint) throws {
        self.mint = mint
        key = try MintedKey()
    }

    public var keyID: String { Base64.encode(SHA256Digest.hash(key.point).bytes) }

    /// The attestation object for a challenge, in base64.
    public func attestation(
        for challenge: String, _ change: (inout AttestationParts) -> Void = { _ in }
    ) throws -> String {
        var parts = AttestationParts(key: key)
        parts.clientData = Array(challenge.utf8)
        change(&parts)
        return Base64.encode(try mint.attestation(parts))
    }

    /// The client data that vouches for a text.
    public static func clientData(_ challenge: String, for text: String) -> String {
        #"{"challenge":"\#(challenge)","sha256":"\#(Base64URL.encode(SHA256Digest.hash(text).bytes))"}"#
    }

    /// The assertion of client data, in base64.
    public func assertion(
        of clientData: String, counter: UInt32, _ change: (inout AssertionParts) -> Void = { _ in }
    ) throws -> String {
        var parts = AssertionParts(key: key)
        parts.clientData = Array(clientData.utf8)
        parts.counter = counter
        change(&parts)
        return Base64.encode(try parts.assertion())
    }
}
