import Encodings

/// Apple's signing keys: the published ones, and the retired ones that forged tokens may still ask for.
///
/// Pure: the shell locks it, and makes the keys, which is slow.
struct KeyRing {
    /// Apple shows 1 to 5; more is for tests of the reader's bounds.
    static let capacity = 16

    private(set) var keys: [HeldKey]

    init(_ keys: [SigningKey]) throws(EmulatorError) {
        self.keys = []
        for key in keys { try add(key, isPublished: true, signs: true) }
    }

    var published: [SigningKey] { keys.filter(\.isPublished).map(\.key) }

    /// Throws `.keyExists` and `.tooManyKeys`. Retired keys make room, the oldest first.
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

    /// Changes what a key is used for; what is `nil` stays. Throws `.keyNotFound`.
    mutating func use(_ keyID: String, isPublished: Bool?, signs: Bool?) throws(EmulatorError) {
        guard let index = keys.firstIndex(where: { $0.key.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.keyNotFound)
        }
        if let isPublished { keys[index].isPublished = isPublished }
        if let signs { keys[index].signs = signs }
    }

    /// What Apple would do next with its keys: a new one is published before it signs, and one old key goes at a time.
    ///
    /// - Parameter usual: how many keys sign between two rotations.
    func nextStep(usual: Int) -> KeyRotationStep {
        if let waiting = keys.first(where: { $0.isPublished && !$0.signs }) {
            return .sign(waiting.key.keyID)
        }
        let signing = keys.filter { $0.isPublished && $0.signs }
        if signing.count > usual { return .retire(signing[0].key.keyID) }
        return .publish
    }

    /// Retires every key and puts the new ones in their place.
    mutating func replaceAll(with newKeys: [SigningKey]) throws(EmulatorError) {
        for index in keys.indices { (keys[index].isPublished, keys[index].signs) = (false, false) }
        for key in newKeys { try add(key, isPublished: true, signs: true) }
    }

    func key(_ keyID: String) -> SigningKey? {
        keys.first { $0.key.keyID.isByteEqual(to: keyID) }?.key
    }

    /// Any of the signing keys, as at Apple, where several sign at the same time. Throws `.noSigningKey`.
    func signingKey() throws(EmulatorError) -> SigningKey {
        guard let held = keys.filter(\.signs).randomElement() else { throw EmulatorError(.noSigningKey) }
        return held.key
    }

    /// Another published key than this one; `nil` when there is none.
    func publishedKey(otherThan key: SigningKey) -> SigningKey? {
        published.filter { !$0.keyID.isByteEqual(to: key.keyID) }.randomElement()
    }
}
