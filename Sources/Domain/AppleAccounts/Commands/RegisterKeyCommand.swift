public import AppAttestation

/// Registers an App Attest key whose attestation has been verified.
public struct RegisterKeyCommand: Sendable, Hashable {
    /// Maximum number of keys per app. Each key needs a genuine attestation from Apple.
    public static let mostKeys: Int64 = 10_000_000

    /// The key, with counter 0. A known key keeps its counter.
    public let key: AttestedKeyRecord
    /// The attestation challenge, consumed even if the command is refused; `nil` if it has expired. The
    /// command then only finds a key that is already registered.
    public let challenge: UsedNonce?
    public let mostKeys: Int64

    public init(key: AttestedKeyRecord, challenge: UsedNonce?, mostKeys: Int64 = mostKeys) {
        (self.key, self.challenge, self.mostKeys) = (key, challenge, mostKeys)
    }
}

/// The result of a registration.
public struct RegisteredKey: Sendable, Hashable {
    /// The key, as stored.
    public let key: AttestedKeyRecord
    public let isNew: Bool

    public init(key: AttestedKeyRecord, isNew: Bool) {
        (self.key, self.isNew) = (key, isNew)
    }
}

/// Uses an App Attest proof from a call that is not a sign-in: consumes its challenge, and raises its key's
/// counter.
public struct UseProofCommand: Sendable, Hashable {
    public let proof: AppProof
    /// Arrival time, by our clock.
    public let receivedAt: Moment

    public init(proof: AppProof, receivedAt: Moment) {
        (self.proof, self.receivedAt) = (proof, receivedAt)
    }
}

// App Attest keys: the rows that commands need, and the rules that apply to them.
extension WorkingSet {
    /// Keys to load, without duplicates, in the order in which all replicas lock them.
    public var attestedKeyIDs: [AttestedKeyID] {
        guard !namedKeyIDs.isEmpty else { return [] }
        return Set(namedKeyIDs).sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
    }

    /// Apps whose key counts must be loaded, in the order in which all replicas lock them.
    public var countedApps: [AppID] {
        guard !registeringApps.isEmpty else { return [] }
        return Set(registeringApps).sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }

    /// Loads a key of `attestedKeyIDs`.
    public mutating func load(_ key: AttestedKeyRecord) {
        attestedKeys[key.id] = key
    }

    /// Loads the key count of an app in `countedApps`; 0 for an app that has never had a key.
    public mutating func load(keyCount: Int64, of app: AppID) {
        keyCounts[app] = keyCount
    }

    /// Keys to insert.
    public var newAttestedKeys: [AttestedKeyRecord] { records(newKeyIDs) }

    /// Keys whose counter has risen. A store writes the counter only if the stored counter is lower.
    public var raisedAttestedKeys: [AttestedKeyRecord] { records(raisedKeyIDs.subtracting(newKeyIDs)) }

    /// Apps with new keys, and their key counts.
    public var changedKeyCounts: [(app: AppID, count: Int64)] {
        Set(newAttestedKeys.map(\.appID)).compactMap { app in keyCounts[app].map { (app, $0) } }
            .sorted { $0.app.text.utf8.lexicographicallyPrecedes($1.app.text.utf8) }
    }

    /// True if keys or key counts must be saved.
    public var changesAttestedKeys: Bool { !newKeyIDs.isEmpty || !raisedKeyIDs.isEmpty }

    private func records(_ ids: Set<AttestedKeyID>) -> [AttestedKeyRecord] {
        guard !ids.isEmpty else { return [] }
        return ids.sorted { $0.digest.lexicographicallyPrecedes($1.digest) }.compactMap { attestedKeys[$0] }
    }

    /// Registers a key. Repeating this changes nothing: a known key keeps its counter, because resetting the
    /// counter would allow replays.
    ///
    /// When the same app repeats its registration, it also gets its key if the challenge was used or has
    /// expired, because the first response may have been lost and a device attests a key only once.
    mutating func apply(_ command: RegisterKeyCommand) throws(AccountRefusal) -> RegisteredKey {
        let app = command.key.appID
        let known = attestedKeys[command.key.id]
        if let known, known.appID == app {
            if let challenge = command.challenge { try? consume(challenge) }
            return RegisteredKey(key: known, isNew: false)
        }
        guard let challenge = command.challenge else { throw AccountRefusal(.attestationKeyUnknown) }
        try consume(challenge)
        guard known == nil else { throw AccountRefusal(.attestationKeyTaken) }
        let count = keyCounts[app, default: 0]
        guard count < command.mostKeys else { throw AccountRefusal(.attestationKeysFull) }
        keyCounts[app] = count + 1
        attestedKeys[command.key.id] = command.key
        newKeyIDs.insert(command.key.id)
        return RegisteredKey(key: command.key, isNew: true)
    }

    mutating func apply(_ command: UseProofCommand) throws(AccountRefusal) {
        try use(command.proof, at: command.receivedAt)
    }

    /// Consumes the challenge, and then raises the key's counter. Refuses a challenge that was already used.
    /// The challenge is consumed even if the counter does not rise.
    mutating func use(_ proof: AppProof, at moment: Moment) throws(AccountRefusal) {
        try consume(proof.challenge)
        guard let assertion = proof.assertion else { return }
        guard var key = attestedKeys[assertion.keyID], key.appID == assertion.appID else {
            throw AccountRefusal(.attestationKeyUnknown)
        }
        guard assertion.counter > key.counter else { throw AccountRefusal(.counterNotIncreased) }
        key.counter = assertion.counter
        key.facts = assertion.facts
        if moment >= key.usedAt.advanced(byMilliseconds: AttestedKeyRecord.usePrecision) {
            key.usedAt = moment
        }
        attestedKeys[key.id] = key
        raisedKeyIDs.insert(key.id)
    }

    /// Consumes a challenge, even if the command is refused afterwards.
    mutating func consume(_ challenge: UsedNonce) throws(AccountRefusal) {
        guard usedDigests.insert(challenge.digest).inserted else { throw AccountRefusal(.challengeUsed) }
        usedNonces.append(challenge)
    }
}
