import Cryptography

/// All that an attestation is made of. The initial values make an attestation that passes every check.
public struct AttestationParts: Sendable {
    public static let development = Array("appattestdevelop".utf8)
    public static let production = Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)

    public let key: MintedKey
    public var format = "apple-appattest"
    public var appID = "\(AttestationMint.teamID).\(AttestationMint.bundleID)"
    public var clientData = AttestationMint.clientData
    public var flags: UInt8 = 0x40
    public var counter: UInt32 = 0
    public var aaguid = production
    public var receipt = Array("a receipt".utf8)
    /// `nil` for the hash of the key.
    public var credentialID: [UInt8]?
    /// `nil` for the key.
    public var coseKey: CBORItem?
    /// Bytes after the key.
    public var extensions: [UInt8] = []
    /// `nil` for the key.
    public var leafKey: MintedKey?
    /// In seconds since 1970.
    public var leafValidity = AttestationMint.leafValidity
    /// The contents of the leaf's nonce extensions; `nil` for the correct extension.
    public var nonces: [[UInt8]]?
    /// The contents of the leaf's extensions with a key policy.
    public var keyPolicies: [[UInt8]] = []
    /// The entries of `x5c`; `nil` for the leaf and the intermediate certificate.
    public var certificates: [CBORItem]?

    public init(key: MintedKey) { self.key = key }

    /// The content of the correct nonce extension.
    public var nonce: [UInt8] {
        [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + AttestationMint.nonce(authenticatorData, clientData)
    }

    public var authenticatorData: [UInt8] {
        let credentialID = self.credentialID ?? SHA256Digest.hash(key.point).bytes
        let size = [
            UInt8(truncatingIfNeeded: credentialID.count >> 8), UInt8(truncatingIfNeeded: credentialID.count),
        ]
        return Self.fixed(appID, flags, counter) + aaguid + size + credentialID
            + (coseKey ?? Self.coseKey(key.point)).encoded + extensions
    }

    public static func coseKey(_ point: [UInt8]) -> CBORItem {
        .map([
            (.unsigned(1), .unsigned(2)), (.unsigned(3), .negative(6)), (.negative(0), .unsigned(1)),
            (.negative(1), .bytes(Array(point[1..<33]))), (.negative(2), .bytes(Array(point[33...]))),
        ])
    }

    /// The first 37 bytes of authenticator data.
    static func fixed(_ appID: String, _ flags: UInt8, _ counter: UInt32) -> [UInt8] {
        SHA256Digest.hash(appID).bytes + [flags]
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
    }
}

/// All that an assertion is made of. The initial values make an assertion that passes every check.
public struct AssertionParts: Sendable {
    public let key: MintedKey
    public var appID = "\(AttestationMint.teamID).\(AttestationMint.bundleID)"
    public var clientData = AttestationMint.clientData
    public var flags: UInt8 = 0x40
    public var counter: UInt32 = 1
    /// Bytes after the counter.
    public var extensions: [UInt8] = []

    public init(key: MintedKey) { self.key = key }

    public var authenticatorData: [UInt8] { AttestationParts.fixed(appID, flags, counter) + extensions }

    /// The members in Apple's order.
    public func members() throws -> [(CBORItem, CBORItem)] {
        let signature = try key.sign(AttestationMint.nonce(authenticatorData, clientData))
        return [
            (.text("signature"), .bytes(signature)),
            (.text("authenticatorData"), .bytes(authenticatorData)),
        ]
    }

    /// The assertion in CBOR.
    public func assertion() throws -> [UInt8] { CBORItem.map(try members()).encoded }
}

/// All that a receipt is made of. The initial values make the receipt of an attestation that passes every
/// check.
public struct ReceiptParts: Sendable {
    /// The key that the receipt is for.
    public let key: MintedKey
    public var appID = "\(AttestationMint.teamID).\(AttestationMint.bundleID)"
    public var clientHash = SHA256Digest.hash(AttestationMint.clientData).bytes
    public var kind = "ATTEST"
    public var environment = "production"
    /// One second before the sample time.
    public var createdAt = "2025-12-31T23:59:59.61Z"
    public var riskMetric: String?
    public var notBefore: String?
    public var expiresAt = "2026-03-31T23:59:59.61Z"
    /// The leaf certificate; `nil` for the leaf of the key.
    public var leaf: [UInt8]?
    /// All content, instead of the fields.
    public var content: [UInt8]?
    /// Fields after the others.
    public var moreFields: [(type: Int, value: [UInt8])] = []
    /// False for DER, true for indefinite lengths and parts, as Apple signs receipts of attestations.
    public var isStreamed = true
    public var hasSignedAttributes = false
    /// The validity of the signer's certificate; `nil` for a year around the sample time.
    public var signerValidity: ClosedRange<Int64>?

    public init(key: MintedKey) { self.key = key }

    /// A refreshed receipt with this metric.
    public static func refreshed(_ key: MintedKey, metric: String = "3") -> ReceiptParts {
        var parts = ReceiptParts(key: key)
        (parts.kind, parts.riskMetric, parts.notBefore) = ("RECEIPT", metric, "2026-01-01T23:59:59.61Z")
        // Apple forces the hash through UTF-8.
        parts.clientHash = Array(String(decoding: parts.clientHash, as: UTF8.self).utf8)
        parts.isStreamed = false
        return parts
    }

    func fields(leaf: [UInt8]) -> [(type: Int, value: [UInt8])] {
        var fields: [(type: Int, value: [UInt8])] = [
            (2, Array(appID.utf8)), (3, leaf), (4, clientHash), (5, Array("token".utf8)),
            (6, Array(kind.utf8)), (7, Array(environment.utf8)), (12, Array(createdAt.utf8)),
        ]
        if let riskMetric { fields.append((17, Array(riskMetric.utf8))) }
        if let notBefore { fields.append((19, Array(notBefore.utf8))) }
        fields.append((21, Array(expiresAt.utf8)))
        return fields + moreFields
    }

    /// `SET OF SEQUENCE { INTEGER, INTEGER, OCTET STRING }`.
    public static func encoded(_ fields: [(type: Int, value: [UInt8])]) -> [UInt8] {
        item(
            0x31,
            fields.flatMap { field in
                item(0x30, item(0x02, [UInt8(field.type)]) + item(0x02, [1]) + item(0x04, field.value))
            })
    }

    public static func item(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let size: [UInt8] =
            switch content.count {
            case ..<0x80: [UInt8(content.count)]
            case ..<0x100: [0x81, UInt8(content.count)]
            default: [0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
            }
        return [tag] + size + content
    }
}

/// An item of CBOR to be written (RFC 8949). It can also be written in ways that are not allowed.
public indirect enum CBORItem: Sendable {
    case unsigned(UInt64)
    /// The integer -1 - n.
    case negative(UInt64)
    case bytes([UInt8])
    case text(String)
    case array([CBORItem])
    case map([(CBORItem, CBORItem)])
    /// Bytes that are written as they are.
    case raw([UInt8])

    public var encoded: [UInt8] {
        switch self {
        case .unsigned(let value): Self.head(0, value)
        case .negative(let value): Self.head(1, value)
        case .bytes(let bytes): Self.head(2, UInt64(bytes.count)) + bytes
        case .text(let text): Self.head(3, UInt64(text.utf8.count)) + Array(text.utf8)
        case .array(let items): Self.head(4, UInt64(items.count)) + items.flatMap(\.encoded)
        case .map(let entries):
            Self.head(5, UInt64(entries.count)) + entries.flatMap { $0.0.encoded + $0.1.encoded }
        case .raw(let bytes): bytes
        }
    }

    /// The first byte and the argument in the fewest bytes.
    private static func head(_ type: UInt8, _ argument: UInt64) -> [UInt8] {
        if argument < 24 { return [type << 5 | UInt8(argument)] }
        let size = argument < 1 << 8 ? 0 : argument < 1 << 16 ? 1 : argument < 1 << 32 ? 2 : 3
        return [type << 5 | UInt8(24 + size)]
            + (0..<(1 << size)).reversed().map { UInt8(truncatingIfNeeded: argument >> (8 * UInt64($0))) }
    }
}
