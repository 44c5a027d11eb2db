import EmulatorServer
import Encodings

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

/// The environment of App Attest in which a key is attested.
public enum AttestEnvironment: String, Sendable, CaseIterable, Codable {
    case development, production

    var other: AttestEnvironment {
        switch self {
        case .development: .production
        case .production: .development
        }
    }

    /// 16 bytes in the authenticator data: ASCII, padded with zeros.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }
}

/// The platform of an app that attests. Only keys of Macs have a key policy that services check.
public enum AttestPlatform: String, Sendable, CaseIterable, Codable {
    case iOS = "ios"
    case macOS = "macos"
}

/// The keys of App Attest on all fake devices.
struct DeviceKeyRegistry: Codable {
    static let capacity = 1000

    private(set) var keys: [DeviceKey] = []

    /// Throws `.tooManyDeviceKeys`.
    mutating func add(_ key: DeviceKey) throws(EmulatorError) {
        guard keys.count < Self.capacity else {
            throw EmulatorError(.tooManyDeviceKeys, detail: "at most \(Self.capacity)")
        }
        keys.append(key)
    }

    /// Throws `.deviceKeyNotFound`.
    func key(_ keyID: String) throws(EmulatorError) -> DeviceKey {
        guard let key = keys.first(where: { $0.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.deviceKeyNotFound)
        }
        return key
    }

    /// Throws `.deviceKeyNotFound`, and the errors of `change`.
    mutating func update<Result>(
        _ keyID: String, _ change: (inout DeviceKey) throws(EmulatorError) -> Result
    ) throws(EmulatorError) -> Result {
        guard let index = keys.firstIndex(where: { $0.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.deviceKeyNotFound)
        }
        return try change(&keys[index])
    }

    /// The key and the receipt with this digest.
    func receipt(_ digest: String) -> (key: DeviceKey, receipt: IssuedReceipt)? {
        for key in keys {
            if let receipt = key.receipts.first(where: { $0.digest == digest }) { return (key, receipt) }
        }
        return nil
    }

    /// The number of keys that the app has attested on the device in the last 30 days.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func riskMetric(of key: DeviceKey, at now: Int64) -> Int {
        keys.count(where: {
            $0.device == key.device && $0.appID == key.appID && $0.environment == key.environment
                && now - $0.attestedAt <= Self.memory
        })
    }

    /// 30 days in milliseconds. Apple forgets an attestation afterwards.
    static let memory: Int64 = 30 * 86_400_000
}
