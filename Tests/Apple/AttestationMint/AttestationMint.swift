import Cryptography

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
    public init(under other: AttestationMint) throws {
        try self.init(other.root, other.rootKey)
    }

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
    func signerCertificate(
        of key: MintedKey, validity: ClosedRange<Int64>?
    ) throws -> MintedCertificate {
        try MintedCertificate(
            of: key, name: "receipt signer", by: (Self.intermediateName, intermediateKey),
            validity: validity ?? Self.authorityValidity, isAuthority: false)
    }

    /// The nonce of an object: SHA-256 of the authenticator data and the hash of the client data.
    static func nonce(_ authenticatorData: [UInt8], _ clientData: [UInt8]) -> [UInt8] {
        SHA256Digest.hash(authenticatorData + SHA256Digest.hash(clientData).bytes).bytes
    }
}
