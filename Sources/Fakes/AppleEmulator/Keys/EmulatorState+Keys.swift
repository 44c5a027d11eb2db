public import EmulatorServer
import Synchronization

extension EmulatorState {
    /// Generates a new key. Throws `.keyExists` and `.tooManyKeys`.
    public func addKey(keyID: String?, isPublished: Bool, signs: Bool) async throws -> SigningKey {
        let made = try await SigningKey.generate(count: 1)[0]
        let key = keyID.map { SigningKey(keyID: $0, privateKey: made.privateKey) } ?? made
        try world.withLock { world throws(EmulatorError) in
            try world.keys.add(key, isPublished: isPublished, signs: signs)
        }
        return key
    }

    /// Retires a key: it is not published, and signs only when a forgery names it. Throws `.keyNotFound`.
    public func retireKey(_ keyID: String) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.keys.retire(keyID) }
    }

    /// Changes the use of a key; `nil` means no change. Throws `.keyNotFound`.
    public func useKey(_ keyID: String, isPublished: Bool?, signs: Bool?) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            try world.keys.use(keyID, isPublished: isPublished, signs: signs)
        }
    }

    /// Does the next step of a rotation in Apple's order, and returns the step and its key.
    ///
    /// Throws `.tooManyKeys`, and `JOSEError` when a key cannot be generated.
    public func rotateOneStep() async throws -> (step: KeyRotationStep, keyID: String) {
        let step = try world.withLock { world throws(EmulatorError) in
            let step = world.keys.nextStep(usual: max(1, initialKeys.count))
            switch step {
            case .publish: break
            case .sign(let keyID): try world.keys.use(keyID, isPublished: nil, signs: true)
            case .retire(let keyID): try world.keys.retire(keyID)
            }
            return step
        }
        return switch step {
        case .publish:
            // Outside the lock, because generating a key takes up to a second.
            (step, try await addKey(keyID: nil, isPublished: true, signs: false).keyID)
        case .sign(let keyID), .retire(let keyID): (step, keyID)
        }
    }

    /// Retires all keys and replaces them with the same number of new keys.
    public func replaceKeys() async throws {
        let count = max(1, world.withLock { $0.keys.published.count })
        let keys = try await SigningKey.generate(count: count)
        try world.withLock { world throws(EmulatorError) in try world.keys.replaceAll(with: keys) }
    }
}
