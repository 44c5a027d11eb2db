import Cryptography
import Encodings

/// The fields of a receipt.
struct ReceiptFields {
    let appID: String
    let leaf: [UInt8]
    let clientDataHash: [UInt8]
    let environment: AttestEnvironment
    /// Milliseconds since 1970.
    let createdAt: Int64
    /// The values of a refreshed receipt; `nil` for the receipt of an attestation.
    var refresh: (metric: Int, notBefore: Int64)?

    /// 90 days.
    static let lifetime: Int64 = 90 * 86_400_000

    /// `SET OF SEQUENCE { type, version, value }`, in Apple's order.
    var content: [UInt8] {
        // Apple forces the hash of a refreshed receipt through UTF-8, which ruins it.
        let ruined = Array(String(decoding: clientDataHash, as: UTF8.self).utf8)
        var fields: [(type: Int, value: [UInt8])] = [
            (2, Array(appID.utf8)), (3, leaf), (4, refresh == nil ? clientDataHash : ruined),
            (5, Array(Base64.encode(SecureRandom.bytes(count: 64)).utf8)),
            (6, Array((refresh == nil ? "ATTEST" : "RECEIPT").utf8)),
            (7, Array((environment == .production ? "production" : "sandbox").utf8)),
            (12, Self.time(createdAt)),
        ]
        if let refresh {
            fields.append((17, Array(String(refresh.metric).utf8)))
            fields.append((19, Self.time(refresh.notBefore)))
        }
        fields.append((21, Self.time(createdAt + Self.lifetime)))
        return DERItem.set(
            fields.map { .sequence([.integer($0.type), .integer(1), .octetString($0.value)]) }
        ).bytes
    }

    /// 1 to 3 decimals, as Apple writes them.
    private static func time(_ milliseconds: Int64) -> [UInt8] {
        var text = RFC3339.text(milliseconds: milliseconds).dropLast()
        while text.hasSuffix("0"), !text.hasSuffix(".0") { text = text.dropLast() }
        return Array("\(text)Z".utf8)
    }
}
