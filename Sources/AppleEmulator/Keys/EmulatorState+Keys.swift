import Synchronization

extension EmulatorState {
    /// Makes a new key. Throws `.keyExists` and `.tooManyKeys`.
    public func addKey(keyID: String?, isPublished: Bool, signs: Bool) async throws -> SigningKey {
        let made = try await SigningKey.generate(count: 1)[0]
        let key = keyID.map { SigningKey(keyID: $0, privateKey: made.privateKey) } ?? made
        try world.withLock { world throws(EmulatorError) in
            try world.keys.add(key, isPublished: isPublished, signs: signs)
        }
        return key
    }

    /// The key is shown no longer and signs no more, unless a forgery asks for it. Throws `.keyNotFound`.
    public func retireKey(_ keyID: String) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.keys.retire(keyID) }
    }

    /// Retires all keys and puts as many new ones in their place.
    public func replaceKeys() async throws {
        let count = max(1, world.withLock { $0.keys.published.count })
        let keys = try await SigningKey.generate(count: count)
        try world.withLock { world throws(EmulatorError) in try world.keys.replaceAll(with: keys) }
    }
}
