public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Encodings
public import JOSE
public import Logging
public import StrictJSON
import Synchronization

/// No signing key is usable: this replica's sealing keys do not open the stored keys, so it makes no new key.
/// The operator must restore the right sealing key, or retire the stored keys.
public struct SigningKeysShut: Error, Sendable, Equatable, CustomStringConvertible {
    public var description: String { "the keys that sign tokens do not open" }

    public init() {}
}

/// The keys that sign this service's tokens. They are held in memory, and shared between replicas through the
/// store.
///
/// `SigningKeySchedule` decides when keys change; this type makes the changes. Keys are made when they are
/// first needed, or by `refresh`, which `OAuthMaintenance` calls every minute.
public final class SigningKeys: Sendable {
    /// Minimum time in milliseconds between two store reads for unknown key IDs. This limits the reads that
    /// invented key IDs can cause to one per second.
    static let shortestInterval: Int64 = 1000

    private struct Held {
        let record: SigningKeyRecord
        let verification: TokenVerificationKey
        /// The private key; `nil` if the sealing keys do not open it.
        let signing: TokenSigningKey?
    }

    private struct State {
        var held: [Held] = []
        var readAt: Moment?
        /// Time of the last store read that an unknown key ID caused.
        var askedAt: Moment?
        var reading: Task<Void, any Error>?
        var isFaultLogged = false
    }

    public typealias MakePEM = @Sendable (SignatureAlgorithm) throws(JOSEError) -> String

    private let store: any AuthorizationStore
    private let makePEM: MakePEM
    private let sealer: SigningKeySealer
    private let algorithms: [SignatureAlgorithm]
    private let schedule: SigningKeySchedule
    private let now: @Sendable () -> Moment
    private let logger: Logger
    private let state = Mutex(State())

    /// - Parameters:
    ///   - algorithms: The algorithms of the configured clients. No key is made for any other algorithm.
    ///   - sealingKeys: Keys that seal the private keys in the database. All replicas need the same keys.
    ///   - makePEM: Makes a private key.
    public init(
        store: any AuthorizationStore, sealingKeys: SealingKeyRing, algorithms: Set<SignatureAlgorithm>,
        schedule: SigningKeySchedule, makePEM: @escaping MakePEM = TokenSigningKey.makePEM,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.store = store
        self.makePEM = makePEM
        sealer = SigningKeySealer(keys: sealingKeys)
        self.algorithms = SignatureAlgorithm.allCases.filter { algorithms.contains($0) }
        self.schedule = schedule
        self.now = now
        self.logger = logger
    }

    /// Returns the current signing key. Makes a key if there is none.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` if a key cannot be made.
    func signingKey(_ algorithm: SignatureAlgorithm) async throws -> TokenSigningKey {
        if let key = heldSigningKey(algorithm) { return key }
        try await refresh()
        guard let key = heldSigningKey(algorithm) else {
            if isShut(at: now()) { throw SigningKeysShut() }
            throw JOSEError(.keyUnusable, detail: "no usable \(algorithm.rawValue) key")
        }
        return key
    }

    /// Checks that a key can sign, or that a key can be made. Does not make the first key, because the
    /// request may still be refused. If the sealing keys do not open the stored keys, all requests together
    /// cause at most one read per second.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` if a key cannot be made.
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

    /// Returns the current signing key for security event tokens to receivers.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` if a key cannot be made.
    public func eventSigningKey() async throws -> TokenSigningKey { try await signingKey(.ES256) }

    /// Returns the current signing key for security event tokens to Google, which accepts only RS256.
    ///
    /// - Throws: `StorageError`; `SigningKeysShut`; `JOSEError` if a key cannot be made.
    public func googleSigningKey() async throws -> TokenSigningKey { try await signingKey(.RS256) }

    /// Returns the published key with this ID; `nil` if it does not exist. Waits only for an unknown ID.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func verificationKey(_ keyID: String) async throws -> TokenVerificationKey? {
        if let key = heldVerificationKey(keyID) { return key }
        // The loop can read twice, because a read that is already running may have started before another
        // replica made the key.
        for _ in 0..<2 {
            guard let reading = readingForUnknownKey() else { return nil }
            try await reading.value
            if let key = heldVerificationKey(keyID) { return key }
        }
        return nil
    }

    /// The origin of an ID token in a hint.
    enum HintOrigin: Sendable, Equatable {
        case genuine(IDTokenHint)
        /// This process does not hold the key, so it cannot tell whether this service issued the token.
        case unknown
        /// This service did not issue the token.
        case foreign
    }

    /// Determines the origin of a hint. Waits only for an unknown key ID.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func origin(of hint: IDTokenHint.Unverified, issuer: Issuer) async throws -> HintOrigin {
        guard let key = try await verificationKey(ofHint: hint.keyID) else { return .unknown }
        return IDTokenHint(hint, issuer: issuer.text, key: key).map { .genuine($0) } ?? .foreign
    }

    /// Returns the key with this ID if this process holds it. The key may be unpublished, because a hint can
    /// be older than every valid token. Waits only for an unknown ID.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func verificationKey(ofHint keyID: String) async throws -> TokenVerificationKey? {
        if let key = try await verificationKey(keyID) { return key }
        return state.withLock { state in
            state.held.first { $0.record.keyID.isByteEqual(to: keyID) }?.verification
        }
    }

    /// Returns the keys in the published key set, the oldest key first.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    public func published() async throws -> [JSONObject] {
        // The result must include a key that is being made, because caches store the key set for an hour.
        if !isComplete { try await refresh() }
        let moment = now()
        return state.withLock { state in
            publishedRecords(of: state, at: moment).compactMap { record in
                state.held.first { $0.record.keyID == record.keyID }?.verification.jwk
            }
        }
    }

    /// Reads the keys, makes due keys, and removes retired keys. A call made during a refresh waits for its
    /// result.
    ///
    /// - Throws: `StorageError`, `JOSEError`.
    public func refresh() async throws {
        try await state.withLock { begin(&$0) }.value
    }

    private func begin(_ state: inout State) -> Task<Void, any Error> {
        if let reading = state.reading { return reading }
        // The task is unstructured, so that cancelling one caller does not cancel other callers' refresh.
        let reading = Task {
            defer { self.state.withLock { $0.reading = nil } }
            try await self.read()
        }
        state.reading = reading
        return reading
    }

    /// Returns the running read or starts a read. Returns `nil` if another unknown key ID has just caused a
    /// read.
    private func readingForUnknownKey() -> Task<Void, any Error>? {
        let moment = now()
        return state.withLock { state in
            if let reading = state.reading { return reading }
            // Before the first read, `nil` would not mean that the key does not exist.
            if state.readAt != nil, let askedAt = state.askedAt {
                let elapsed = moment.milliseconds - askedAt.milliseconds
                // A clock that was set back must not delay the discovery of other replicas' keys.
                guard elapsed < 0 || elapsed >= Self.shortestInterval else { return nil }
            }
            state.askedAt = moment
            return begin(&state)
        }
    }

    private func read() async throws {
        let moment = now()
        adopt(try await store.signingKeys(), at: moment)
        // A replica with a wrong sealing key would make keys that other replicas cannot open, and that it
        // cannot open itself once its sealing key is corrected. An operator can retire keys that will never
        // open.
        let isShut = isShut(at: moment)
        for algorithm in algorithms where !isShut {
            guard let dates = dueKey(algorithm, at: moment) else { continue }
            let record = try sealer.seal(try makePEM(algorithm), for: algorithm, dates, at: moment)
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
            // Opening and parsing a private key is slow, so the result is reused.
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

    /// Returns the current signing key, if it is in memory.
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

/// Seals and opens the private keys that sign this service's tokens.
///
/// Sealed keys have their own purpose, and are bound to their key ID and algorithm, so that an attacker
/// cannot swap rows.
public struct SigningKeySealer: Sendable {
    private static let purpose = SealingPurpose("oauth_signing_key")

    private let keys: SealingKeyRing

    public init(keys: SealingKeyRing) {
        self.keys = keys
    }

    /// Seals a new key. Throws `.keyUnusable` unless it is a key for this algorithm.
    func seal(
        _ pem: String, for algorithm: SignatureAlgorithm, _ dates: SigningKeySchedule.NewKey, at now: Moment
    ) throws(JOSEError) -> SigningKeyRecord {
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

    /// Opens a stored key. Throws `SealError`, and `JOSEError` if the key does not match its row.
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

    /// Seals a key again with the first key of the ring; returns `nil` if the first key has already sealed it
    /// in the current format. Throws `SealError`, even for a value in the current format that does not open.
    public func resealed(_ record: SigningKeyRecord) throws(SealError) -> SealedSecret? {
        let associatedData = Self.associatedData(of: record)
        let plaintext = try keys.open(record.sealed.bytes, for: Self.purpose, associatedData: associatedData)
        guard !keys.isCurrent(record.sealed.bytes) else { return nil }
        return SealedSecret(keys.seal(plaintext, for: Self.purpose, associatedData: associatedData))
    }

    private static func associatedData(of record: SigningKeyRecord) -> [UInt8] {
        associatedData(keyID: record.keyID, algorithm: record.algorithm)
    }

    /// Returns the associated data. Neither part can contain a line feed, so different pairs yield different
    /// data.
    private static func associatedData(keyID: String, algorithm: String) -> [UInt8] {
        Array("\(purpose.rawValue)\n\(keyID)\n\(algorithm)".utf8)
    }
}
