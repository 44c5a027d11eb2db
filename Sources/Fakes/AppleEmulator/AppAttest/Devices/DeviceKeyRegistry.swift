import EmulatorServer
import Encodings

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
