import Dispatch
public import EmulatorServer
import Encodings
public import JOSE
import Synchronization

/// Apple's signing keys: the published keys, and retired keys that can still sign forged tokens.
///
/// Not thread-safe, so its owner locks it.
struct KeyRing {
    /// Maximum number of keys. Apple publishes 1 to 5, but tests of limits need more.
    static let capacity = 16

    private(set) var keys: [HeldKey]

    init(_ keys: [SigningKey]) throws(EmulatorError) {
        self.keys = []
        for key in keys { try add(key, isPublished: true, signs: true) }
    }

    var published: [SigningKey] { keys.filter(\.isPublished).map(\.key) }

    /// Adds a key. Throws `.keyExists` and `.tooManyKeys`. A full ring removes the oldest retired key.
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

    /// Retires a key. Throws `.keyNotFound`.
    mutating func retire(_ keyID: String) throws(EmulatorError) {
        try use(keyID, isPublished: false, signs: false)
    }

    /// Changes how a key is used; `nil` means no change. Throws `.keyNotFound`.
    mutating func use(_ keyID: String, isPublished: Bool?, signs: Bool?) throws(EmulatorError) {
        guard let index = keys.firstIndex(where: { $0.key.keyID.isByteEqual(to: keyID) }) else {
            throw EmulatorError(.keyNotFound)
        }
        if let isPublished { keys[index].isPublished = isPublished }
        if let signs { keys[index].signs = signs }
    }

    /// Returns the next rotation step in Apple's order: a new key is published before it signs, and old keys
    /// are retired one at a time.
    ///
    /// - Parameter usual: Number of signing keys between two rotations.
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

    /// Returns a random signing key, because several of Apple's keys sign at the same time. Throws
    /// `.noSigningKey`.
    func signingKey() throws(EmulatorError) -> SigningKey {
        guard let held = keys.filter(\.signs).randomElement() else { throw EmulatorError(.noSigningKey) }
        return held.key
    }

    /// Returns another published key; `nil` if there is none.
    func publishedKey(otherThan key: SigningKey) -> SigningKey? {
        published.filter { !$0.keyID.isByteEqual(to: key.keyID) }.randomElement()
    }
}

/// One of the emulator's signing keys, with its current use.
public struct HeldKey: Sendable {
    public let key: SigningKey
    /// True if `/auth/keys` contains the key.
    public internal(set) var isPublished: Bool
    /// True if the key signs valid tokens.
    public internal(set) var signs: Bool

    /// True if the key is neither published nor used. A retired key still signs forged tokens that name its
    /// ID.
    public var isRetired: Bool { !isPublished && !signs }
}

/// A private key, with the ID under which its public key is published.
public struct SigningKey: Sendable {
    /// Key ID. It has no meaning; Apple's IDs have 6 to 10 letters and digits.
    public let keyID: String
    private let deferred: DeferredKey

    public init(keyID: String, privateKey: RSAPrivateKey) {
        self.init(keyID: keyID, DeferredKey { privateKey })
    }

    /// Creates a key that is generated when it is first used.
    init(keyID: String = newKeyID(), _ deferred: DeferredKey = DeferredKey()) {
        (self.keyID, self.deferred) = (keyID, deferred)
    }

    /// The private key. Generates it if this is its first use. Throws `.keyGenerationFailed`.
    public var privateKey: RSAPrivateKey {
        get async throws(EmulatorError) { try await deferred.value }
    }

    /// Generates keys in parallel. Throws `.keyGenerationFailed`.
    public static func generate(count: Int) async throws -> [SigningKey] {
        let keys = (0..<count).map { _ in SigningKey() }
        try await generate(keys)
        return keys
    }

    /// Generates the keys that have not been used yet, in parallel.
    static func generate(_ keys: [SigningKey]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys { group.addTask { _ = try await key.privateKey } }
            try await group.waitForAll()
        }
    }

    static func newKeyID() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        return String(
            (0..<Int.random(in: 6...10)).map { _ in characters[Int.random(in: characters.indices)] })
    }
}

/// A 2048-bit RSA key that is generated when it is first used, because generating takes a twentieth of a second of
/// CPU time on average. A fake Apple that starts for each test run is ready without the key.
final class DeferredKey: Sendable {
    private let generate: @Sendable () throws -> RSAPrivateKey
    private let generation = Mutex<Task<RSAPrivateKey, any Error>?>(nil)

    init(
        generate: @escaping @Sendable () throws -> RSAPrivateKey = { try RSAPrivateKey.generate(primes: 3) }
    ) {
        self.generate = generate
    }

    /// Throws `.keyGenerationFailed`. The next use tries again.
    var value: RSAPrivateKey {
        get async throws(EmulatorError) {
            let task = generation.withLock { generation in
                // A task of its own, because a cancelled request must not cancel the others that wait for the key.
                let task = generation ?? Task { try await generated() }
                generation = task
                return task
            }
            do {
                return try await task.value
            } catch {
                generation.withLock { if $0 == task { $0 = nil } }
                throw EmulatorError(.keyGenerationFailed, detail: "OpenSSL cannot generate an RSA key")
            }
        }
    }

    /// Generates the key on a thread of Dispatch, so that the threads of Swift's tasks answer other requests
    /// in the meantime.
    private func generated() async throws -> RSAPrivateKey {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try self.generate() }) }
        }
    }
}

/// A key rotation step in Apple's order.
public enum KeyRotationStep: Sendable, Equatable {
    /// Publishes a new key without signing with it yet, so that cached key sets contain the key before it is
    /// first used.
    case publish
    /// Starts signing with the new key, in addition to the other keys.
    case sign(String)
    /// Retires the oldest key.
    case retire(String)

    /// The step's name in the control API.
    var word: String {
        switch self {
        case .publish: "publish"
        case .sign: "sign"
        case .retire: "retire"
        }
    }
}

/// The way in which `/emulator/keys/rotate` changes the signing keys.
public enum KeyRotationMode: String, Sendable, CaseIterable {
    /// Replaces all keys at once, which is the hardest case for clients that cache keys.
    case atOnce = "at_once"
    /// Performs one step per request, in Apple's order: publish, sign, retire.
    case apple
}

extension EmulatorState {
    /// Generates a new key. Throws `.keyExists`, `.tooManyKeys` and `.keyGenerationFailed`.
    public func addKey(keyID: String?, isPublished: Bool, signs: Bool) async throws -> SigningKey {
        let key = keyID.map { SigningKey(keyID: $0) } ?? SigningKey()
        try await SigningKey.generate([key])
        try world.withLock { world throws(EmulatorError) in
            try world.keys.add(key, isPublished: isPublished, signs: signs)
        }
        return key
    }

    /// Retires a key. It is then unpublished, and signs only forged tokens that name it. Throws
    /// `.keyNotFound`.
    public func retireKey(_ keyID: String) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in try world.keys.retire(keyID) }
    }

    /// Changes how a key is used; `nil` means no change. Throws `.keyNotFound`.
    public func useKey(_ keyID: String, isPublished: Bool?, signs: Bool?) throws(EmulatorError) {
        try world.withLock { world throws(EmulatorError) in
            try world.keys.use(keyID, isPublished: isPublished, signs: signs)
        }
    }

    /// Performs the next rotation step in Apple's order, and returns the step and its key.
    ///
    /// Throws `.tooManyKeys`, and `.keyGenerationFailed`.
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
            // Runs outside the lock, because generating a key takes up to half a second.
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
