public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Encodings
public import JOSE
public import Logging
public import StrictJSON
import Synchronization

/// No key can sign: stored keys do not open with the sealing keys of this replica, and no new key is made.
/// Put the right sealing key back, or retire the keys.
public struct SigningKeysShut: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String { "the keys that sign tokens do not open" }

    public init() {}
}

/// The keys that sign this service's tokens, in memory, shared with other replicas through the store.
///
/// `SigningKeySchedule` decides; this type carries its decisions out. Keys are made at the first need or by
/// `refresh`, which `OAuthMaintenance` calls every minute.
public final class SigningKeys: Sendable {
    /// Milliseconds between two reads of the store for unknown key IDs, so that all invented IDs together
    /// cost one read a second.
    static let shortestInterval: Int64 = 1000

    private struct Held {
        let record: SigningKeyRecord
        let verification: TokenVerificationKey
        /// `nil` when the private key does not open.
        let signing: TokenSigningKey?
    }

    private struct State {
        var held: [Held] = []
        var readAt: Moment?
        /// Time at which an unknown key ID last caused a read of the store.
        var askedAt: Moment?
        var reading: Task<Void, any Error>?
        var isFaultLogged = false
    }

    private let store: any AuthorizationStore
    private let sealer: SigningKeySealer
    private let algorithms: [SignatureAlgorithm]
    private let schedule: SigningKeySchedule
    private let now: @Sendable () -> Moment
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - algorithms: The algorithms that clients are configured for. No key is made for other algorithms.
    ///   - sealingKeys: Seal the private keys at rest. The same in all replicas.
    public init(
        store: any AuthorizationStore, sealingKeys: SealingKeyRing, algorithms: Set<SignatureAlgorithm>,
        schedule: SigningKeySchedule, now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.store = store
        sealer = SigningKeySealer(keys: sealingKeys)
        self.algorithms = SignatureAlgorithm.allCases.filter { algorithms.contains($0) }
        self.schedule = schedule
        self.now = now
        self.logger = logger
    }

    /// Returns the key that signs at this moment. Makes a key when there is none.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` when no key can be made.
    func signingKey(_ algorithm: SignatureAlgorithm) async throws -> TokenSigningKey {
        if let key = heldSigningKey(algorithm) { return key }
        try await refresh()
        guard let key = heldSigningKey(algorithm) else {
            if isShut(at: now()) { throw SigningKeysShut() }
            throw JOSEError(.keyUnusable, detail: "no usable \(algorithm.rawValue) key")
        }
        return key
    }

    /// Checks that a key can sign at this moment, or be made. Makes no first key, because the request may be
    /// refused. While the keys are shut, all requests together cost one read a second.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` when no key can be made.
    func requireKey(_ algorithm: SignatureAlgorithm) async throws {
        guard heldSigningKey(algorithm) == nil else { return }
        let moment = now()
        if let readAt = state.withLock({ $0.readAt }) {
            guard isShut(at: moment) else { return }
            let elapsed = moment.milliseconds - readAt.milliseconds
            if elapsed < 0 || elapsed >= Self.shortestInterval { try await refresh() }
        } else {
            guard try await !store.signingKeys().isEmpty else { return }
            try await refresh()
        }
        if heldSigningKey(algorithm) == nil, isShut(at: moment) { throw SigningKeysShut() }
    }

    /// Returns the key that signs security event tokens for receivers at this moment.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` when no key can be made.
    public func eventSigningKey() async throws -> TokenSigningKey { try await signingKey(.ES256) }

    /// Returns the key that signs security event tokens for Google, which accepts RS256 only.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` when no key can be made.
    public func googleSigningKey() async throws -> TokenSigningKey { try await signingKey(.RS256) }

    /// Returns the published key with this ID; `nil` if there is no such key. Waits only for an unknown ID.
    ///
    /// - Throws: `StorageError`.
    func verificationKey(_ keyID: String) async throws -> TokenVerificationKey? {
        if let key = heldVerificationKey(keyID) { return key }
        // A running read may have begun before another replica made the key.
        for _ in 0..<2 {
            guard let reading = readingForUnknownKey() else { return nil }
            try await reading.value
            if let key = heldVerificationKey(keyID) { return key }
        }
        return nil
    }

    /// Origin of an ID token in a hint.
    enum HintOrigin: Sendable, Equatable {
        case genuine(IDTokenHint)
        /// The key is not held any more, or never was. This service may have issued the token.
        case unknown
        /// This service has not issued the token.
        case foreign
    }

    /// Judges a hint. Waits only for an unknown key ID.
    ///
    /// - Throws: `StorageError`.
    func origin(of hint: IDTokenHint.Unverified, issuer: Issuer) async throws -> HintOrigin {
        guard let key = try await verificationKey(ofHint: hint.keyID) else { return .unknown }
        return IDTokenHint(hint, issuer: issuer.text, key: key).map { .genuine($0) } ?? .foreign
    }

    /// Returns the key with this ID while it is held, even if it is no longer published: a hint may be older
    /// than every valid token. Waits only for an unknown ID.
    ///
    /// - Throws: `StorageError`.
    func verificationKey(ofHint keyID: String) async throws -> TokenVerificationKey? {
        if let key = try await verificationKey(keyID) { return key }
        return state.withLock { state in
            state.held.first { $0.record.keyID.isByteEqual(to: keyID) }?.verification
        }
    }

    /// Returns the entries of the key set, the oldest first.
    ///
    /// - Throws: `StorageError`.
    public func published() async throws -> [JSONObject] {
        // Caches keep the set for an hour, so it must include a key that is being made.
        if !isComplete { try await refresh() }
        let moment = now()
        return state.withLock { state in
            publishedRecords(of: state, at: moment).compactMap { record in
                state.held.first { $0.record.keyID == record.keyID }?.verification.jwk
            }
        }
    }

    /// Reads the keys, makes keys that are due, and removes retired keys. Calls during a refresh wait for its
    /// result.
    ///
    /// - Throws: `StorageError`, `JOSEError`.
    public func refresh() async throws {
        try await state.withLock { begin(&$0) }.value
    }

    private func begin(_ state: inout State) -> Task<Void, any Error> {
        if let reading = state.reading { return reading }
        // Unstructured, so that the cancellation of one caller does not cancel the refresh for other callers.
        let reading = Task {
            defer { self.state.withLock { $0.reading = nil } }
            try await self.read()
        }
        state.reading = reading
        return reading
    }

    /// Returns the running read, or a new read; `nil` if another unknown key ID caused a read shortly before.
    private func readingForUnknownKey() -> Task<Void, any Error>? {
        let moment = now()
        return state.withLock { state in
            if let reading = state.reading { return reading }
            // Before the first read no key is known, so `nil` would not be certain.
            if state.readAt != nil, let askedAt = state.askedAt {
                let elapsed = moment.milliseconds - askedAt.milliseconds
                // A clock that was set back must not hide the keys of other replicas.
                guard elapsed < 0 || elapsed >= Self.shortestInterval else { return nil }
            }
            state.askedAt = moment
            return begin(&state)
        }
    }

    private func read() async throws {
        let moment = now()
        adopt(try await store.signingKeys(), at: moment)
        // A replica with a wrong sealing key would make keys that other replicas cannot open, and these keys
        // would stay shut after the right key is back. An operator retires keys that will never open.
        let isShut = isShut(at: moment)
        for algorithm in algorithms where !isShut {
            guard let dates = dueKey(algorithm, at: moment) else { continue }
            let record = try sealer.makeKey(for: algorithm, dates, at: moment)
            adopt(
                try await store.offerSigningKey(record, unlessMadeAfter: dates.unlessMadeAfter), at: moment)
            logger.notice(
                "a signing key is due", metadata: ["algorithm": "\(algorithm.rawValue)"])
        }
        _ = try await store.removeSigningKeys(retiredBefore: moment)
    }

    private func adopt(_ records: [SigningKeyRecord], at moment: Moment) {
        let known = state.withLock { $0.held }
        var faults: [any Error] = []
        let held = records.compactMap { record -> Held? in
            // Opening and parsing a private key takes long, so it is done once.
            if let held = known.first(where: { $0.record == record && $0.signing != nil }) { return held }
            guard let jwk = try? JSONValue(parsing: record.publicKey),
                let verification = try? TokenVerificationKey(jwk: jwk), verification.keyID == record.keyID
            else { return nil }
            do {
                return Held(record: record, verification: verification, signing: try sealer.open(record))
            } catch {
                faults.append(error)
                return Held(record: record, verification: verification, signing: nil)
            }
        }
        let isNew = state.withLock { state in
            defer { state.isFaultLogged = !faults.isEmpty }
            state.held = held
            state.readAt = moment
            return !state.isFaultLogged
        }
        if let fault = faults.first, isNew {
            let shut = held.filter { $0.signing == nil }.map(\.record.keyID).joined(separator: " ")
            logger.error(
                "a signing key does not open", metadata: ["key_ids": "\(shut)", "error": "\(fault)"])
        }
    }

    private func isShut(at moment: Moment) -> Bool {
        state.withLock { $0.held.contains { $0.signing == nil && moment < $0.record.retiresAt } }
    }

    private var isComplete: Bool {
        let moment = now()
        return state.withLock { state in
            let published = Set(publishedRecords(of: state, at: moment).map(\.algorithm))
            return state.readAt != nil && algorithms.allSatisfy { published.contains($0.rawValue) }
        }
    }

    private func dueKey(_ algorithm: SignatureAlgorithm, at moment: Moment) -> SigningKeySchedule.NewKey? {
        state.withLock { state in
            let records = state.held.filter { $0.verification.algorithm == algorithm }
            let signing = schedule.signing(
                records.filter { $0.signing != nil }.map(\.record), at: moment)
            return schedule.newKey(after: records.map(\.record), signing: signing, at: moment)
        }
    }

    /// Returns the key that signs at this moment, if it is in memory.
    func heldSigningKey(_ algorithm: SignatureAlgorithm) -> TokenSigningKey? {
        let moment = now()
        return state.withLock { state in
            let usable = state.held.filter { $0.signing != nil && $0.verification.algorithm == algorithm }
            let record = schedule.signing(usable.map(\.record), at: moment)
            return usable.first { $0.record.keyID == record?.keyID }?.signing
        }
    }

    private func heldVerificationKey(_ keyID: String) -> TokenVerificationKey? {
        let moment = now()
        return state.withLock { state in
            guard publishedRecords(of: state, at: moment).contains(where: { $0.keyID.isByteEqual(to: keyID) })
            else {
                return nil
            }
            return state.held.first { $0.record.keyID.isByteEqual(to: keyID) }?.verification
        }
    }

    private func publishedRecords(of state: State, at moment: Moment) -> [SigningKeyRecord] {
        SignatureAlgorithm.allCases.flatMap { algorithm in
            let held = state.held.filter { $0.verification.algorithm == algorithm }
            return schedule.published(
                held.map(\.record), usable: held.filter { $0.signing != nil }.map(\.record), at: moment)
        }
    }
}

/// Seals the private keys that sign this service's tokens, and opens them.
///
/// The sealed keys have their own purpose, and are bound to
/// their key ID and algorithm, so that rows cannot be exchanged.
public struct SigningKeySealer: Sendable {
    private static let purpose = SealingPurpose("oauth_signing_key")

    private let keys: SealingKeyRing

    public init(keys: SealingKeyRing) {
        self.keys = keys
    }

    /// Makes and seals a new key. Throws `.keyUnusable`.
    func makeKey(
        for algorithm: SignatureAlgorithm, _ dates: SigningKeySchedule.NewKey, at now: Moment
    ) throws(JOSEError) -> SigningKeyRecord {
        let pem = try TokenSigningKey.makePEM(for: algorithm)
        let key = try TokenSigningKey(pem: pem, algorithm: algorithm)
        let bytes = keys.seal(
            Array(pem.utf8), for: Self.purpose,
            associatedData: Self.associatedData(keyID: key.keyID, algorithm: algorithm.rawValue))
        guard let sealed = SealedSecret(bytes) else {
            throw JOSEError(.keyUnusable, detail: "too long to keep")
        }
        return SigningKeyRecord(
            keyID: key.keyID, algorithm: algorithm.rawValue, sealed: sealed,
            publicKey: JSONValue.object(key.verificationKey.jwk).serialized(), createdAt: now,
            signsFrom: dates.signsFrom, retiresAt: dates.retiresAt)
    }

    /// Throws `SealError`, and `JOSEError` for a key that does not match its row.
    public func open(_ record: SigningKeyRecord) throws -> TokenSigningKey {
        guard let algorithm = SignatureAlgorithm(rawValue: record.algorithm) else {
            throw JOSEError(.keyUnusable, detail: "algorithm")
        }
        let plaintext = try keys.open(
            record.sealed.bytes, for: Self.purpose, associatedData: Self.associatedData(of: record))
        let key = try TokenSigningKey(
            pem: String(decoding: plaintext, as: UTF8.self), algorithm: algorithm)
        guard key.keyID == record.keyID else { throw JOSEError(.keyUnusable, detail: "another key") }
        return key
    }

    /// Seals a value again with the first key of the ring; `nil` when the first key has sealed it in the
    /// current format. Throws `SealError`, also for a value in the current format that does not open.
    public func resealed(_ record: SigningKeyRecord) throws(SealError) -> SealedSecret? {
        let associatedData = Self.associatedData(of: record)
        let plaintext = try keys.open(record.sealed.bytes, for: Self.purpose, associatedData: associatedData)
        guard !keys.isCurrent(record.sealed.bytes) else { return nil }
        return SealedSecret(keys.seal(plaintext, for: Self.purpose, associatedData: associatedData))
    }

    private static func associatedData(of record: SigningKeyRecord) -> [UInt8] {
        associatedData(keyID: record.keyID, algorithm: record.algorithm)
    }

    /// Neither part can contain a line feed, so no two pairs are equal.
    private static func associatedData(keyID: String, algorithm: String) -> [UInt8] {
        Array("\(purpose.rawValue)\n\(keyID)\n\(algorithm)".utf8)
    }
}
