import Cryptography

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
                item(
                    0x30, item(0x02, [UInt8(field.type)]) + item(0x02, [1]) + item(0x04, field.value))
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
