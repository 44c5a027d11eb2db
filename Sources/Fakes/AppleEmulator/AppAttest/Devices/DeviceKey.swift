/// A key that an app has made on a fake device with App Attest.
public struct DeviceKey: Sendable, Codable {
    /// A name. The risk metric counts the keys of an app on one device.
    public let device: String
    public let teamID: String
    public let bundleID: String
    public let environment: AttestEnvironment
    public let platform: AttestPlatform
    /// In base64: SHA-256 of the public key.
    public let keyID: String
    /// PKCS #8.
    let pem: String
    /// The counter of the last assertion; 0 before the first.
    public internal(set) var counter: UInt32 = 0
    /// Milliseconds since 1970 of the last attestation.
    public internal(set) var attestedAt: Int64
    /// The last receipts of the key, the newest at the end.
    var receipts: [IssuedReceipt] = []

    /// The number of receipts that the fake Apple remembers for a key.
    static let rememberedReceipts = 8

    public var appID: String { "\(teamID).\(bundleID)" }

    mutating func remember(_ receipt: IssuedReceipt) {
        receipts.append(receipt)
        receipts = receipts.suffix(Self.rememberedReceipts)
    }
}

/// A receipt that the fake Apple has signed, and what it needs for an exchange.
struct IssuedReceipt: Sendable, Codable, Equatable {
    /// In hexadecimal: SHA-256 of the receipt.
    let digest: String
    /// Milliseconds since 1970; `nil` for the receipt of an attestation, which can be exchanged at once.
    let notBefore: Int64?
    /// Milliseconds since 1970.
    let expiresAt: Int64
    /// In base64, DER.
    let leaf: String
    /// In base64.
    let clientDataHash: String
}
