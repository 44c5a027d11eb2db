import EmulatorServer
import Encodings

/// Apple's signing keys: published keys, and retired keys that forged tokens may still use.
///
/// Pure: its owner locks it and generates the keys, which is slow.
struct KeyRing {
    /// Largest number of keys. Apple publishes 1 to 5; more are for tests of limits.
    static let capacity = 16

    private(set) var keys: [HeldKey]

    init(_ keys: [SigningKey]) throws(EmulatorError) {
        self.keys = []
        for key in keys { try add(key, isPublished: true, signs: true) }
    }

    var published: [SigningKey] { keys.filter(\.isPublished).map(\.key) }

    /// Throws `.keyExists` and `.tooManyKeys`. When the ring is full, the oldest retired key is removed.
    mutating func add(_ key: SigningKey, isPublished: Bool, signs: Bool) throws(EmulatorError) {
        guard !keys.contains(where: { $0.key.keyID.isByteEqual(to: key.keyID) }) else {
            throw EmulatorError(.keyExists)
        }
        if keys.count >= Self.capacity, let oldest = keys.firstIndex(where: \.isRetired) {
            keys.remove(at: oldest)
        }
        guard keys.count < Self.capacity else {
            throw EmulatorError(.tooManyKeys, detail: "at most \(Self.capacity)")
        }
        keys.append(HeldKey(key: key, isPublished: isPublished, signs: signs))
    }

    /// Throws `.keyNotFound`.
    mutating func retire(_ keyID: String) throws(EmulatorError) {
        try use(keyID, isPublished: false, signs: false)
    }

    /// Changes the use of a key; `nil` means no change. Throws `.keyNotFound`.
    mutating func use(_ keyID: String, isPublished: Bool?, signs: Bool?) throws(EmulatorError) {
        guard let index = keys.firstIndex(where: { $0.key.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.keyNotFound)
        }
        if let isPublished { keys[index].isPublished = isPublished }
        if let signs { keys[index].signs = signs }
    }

    /// The next step of a rotation in Apple's order: a new key is published before it signs, and old keys are
    /// retired one at a time.
    ///
    /// - Parameter usual: The number of signing keys between two rotations.
    func nextStep(usual: Int) -> KeyRotationStep {
        if let waiting = keys.first(where: { $0.isPublished && !$0.signs }) {
            return .sign(waiting.key.keyID)
        }
        let signing = keys.filter { $0.isPublished && $0.signs }
        if signing.count > usual { return .retire(signing[0].key.keyID) }
        return .publish
    }

    /// Retires all keys and adds the new keys.
    mutating func replaceAll(with newKeys: [SigningKey]) throws(EmulatorError) {
        for index in keys.indices { (keys[index].isPublished, keys[index].signs) = (false, false) }
        for key in newKeys { try add(key, isPublished: true, signs: true) }
    }

    func key(_ keyID: String) -> SigningKey? {
        keys.first { $0.key.keyID.isByteEqual(to: keyID) }?.key
    }

    /// Returns a random signing key, because at Apple several keys sign at the same time. Throws
    /// `.noSigningKey`.
    func signingKey() throws(EmulatorError) -> SigningKey {
        guard let held = keys.filter(\.signs).randomElement() else { throw EmulatorError(.noSigningKey) }
        return held.key
    }

    /// Returns another published key; `nil` when there is none.
    func publishedKey(otherThan key: SigningKey) -> SigningKey? {
        published.filter { !$0.keyID.isByteEqual(to: key.keyID) }.randomElement()
    }
}

/// A signing key of the emulator, and its use.
public struct HeldKey: Sendable {
    public let key: SigningKey
    /// True if `/auth/keys` contains the key.
    public internal(set) var isPublished: Bool
    /// True if valid tokens are signed with the key.
    public internal(set) var signs: Bool

    /// True if the key is neither published nor used. A retired key still signs forged tokens that name its
    /// ID.
    public var isRetired: Bool { !isPublished && !signs }
}
