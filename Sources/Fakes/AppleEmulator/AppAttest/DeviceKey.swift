import EmulatorServer
import Encodings

/// A key that an app created with App Attest on a fake device.
public struct DeviceKey: Sendable, Codable {
    /// Device name. The risk metric counts an app's keys on one device.
    public let device: String
    public let teamID: String
    public let bundleID: String
    public let environment: AttestEnvironment
    public let platform: AttestPlatform
    /// Key ID: base64 of the public key's SHA-256.
    public let keyID: String
    /// Private key in PKCS #8.
    let pem: String
    /// Counter value in the last assertion; 0 before the first assertion.
    public internal(set) var counter: UInt32 = 0
    /// Time of the last attestation, in milliseconds since 1970.
    public internal(set) var attestedAt: Int64
    /// The key's latest receipts, newest last.
    var receipts: [IssuedReceipt] = []

    /// Number of receipts that the fake Apple keeps for each key.
    static let rememberedReceipts = 8

    public var appID: String { "\(teamID).\(bundleID)" }

    mutating func remember(_ receipt: IssuedReceipt) {
        receipts.append(receipt)
        receipts = receipts.suffix(Self.rememberedReceipts)
    }
}

/// A receipt that the fake Apple has signed, with the values needed to exchange it.
struct IssuedReceipt: Sendable, Codable, Equatable {
    /// The receipt's SHA-256 in hexadecimal.
    let digest: String
    /// Earliest exchange time in milliseconds since 1970; `nil` for an attestation's receipt, which can be
    /// exchanged immediately.
    let notBefore: Int64?
    /// Expiry in milliseconds since 1970.
    let expiresAt: Int64
    /// Leaf certificate: base64 of DER.
    let leaf: String
    /// Client data hash in base64.
    let clientDataHash: String
}

/// The App Attest environment that a key belongs to.
public enum AttestEnvironment: String, Sendable, CaseIterable, Codable {
    case development, production

    var other: AttestEnvironment {
        switch self {
        case .development: .production
        case .production: .development
        }
    }

    /// The AAGUID: 16 bytes in the authenticator data, ASCII padded with zeros.
    var aaguid: [UInt8] {
        switch self {
        case .development: Array("appattestdevelop".utf8)
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        }
    }
}

/// Platform that an attesting app runs on. Only Mac keys have a key policy that services check.
public enum AttestPlatform: String, Sendable, CaseIterable, Codable {
    case iOS = "ios"
    case macOS = "macos"
}

/// App Attest keys of all fake devices.
struct DeviceKeyRegistry: Codable {
    static let capacity = 1000

    private(set) var keys: [DeviceKey] = []

    /// Adds a key. Throws `.tooManyDeviceKeys`.
    mutating func add(_ key: DeviceKey) throws(EmulatorError) {
        guard keys.count < Self.capacity else {
            throw EmulatorError(.tooManyDeviceKeys, detail: "at most \(Self.capacity)")
        }
        keys.append(key)
    }

    /// Returns a key. Throws `.deviceKeyNotFound`.
    func key(_ keyID: String) throws(EmulatorError) -> DeviceKey {
        guard let key = keys.first(where: { $0.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.deviceKeyNotFound)
        }
        return key
    }

    /// Changes a key. Throws `.deviceKeyNotFound`, and the errors of `change`.
    mutating func update<Result>(
        _ keyID: String, _ change: (inout DeviceKey) throws(EmulatorError) -> Result
    ) throws(EmulatorError) -> Result {
        guard let index = keys.firstIndex(where: { $0.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.deviceKeyNotFound)
        }
        return try change(&keys[index])
    }

    /// Returns the receipt with this digest, and the key that it belongs to; `nil` if there is none.
    func receipt(_ digest: String) -> (key: DeviceKey, receipt: IssuedReceipt)? {
        for key in keys {
            if let receipt = key.receipts.first(where: { $0.digest == digest }) { return (key, receipt) }
        }
        return nil
    }

    /// Returns the number of keys that the app has attested on the device in the last 30 days.
    ///
    /// - Parameter now: Current time in milliseconds since 1970.
    func riskMetric(of key: DeviceKey, at now: Int64) -> Int {
        keys.count(where: {
            $0.device == key.device && $0.appID == key.appID && $0.environment == key.environment
                && now - $0.attestedAt <= Self.memory
        })
    }

    /// Period that the risk metric covers: 30 days in milliseconds. Apple ignores older attestations.
    static let memory: Int64 = 30 * 86_400_000
}
