public import AppAttestation

/// A key of App Attest with a verified attestation.
public struct RegisterKeyCommand: Sendable, Hashable {
    /// The largest number of keys of one app. Each needs a genuine attestation of Apple's.
    public static let mostKeys: Int64 = 10_000_000

    /// The key, with the counter 0. A known key keeps its counter.
    public let key: AttestedKeyRecord
    /// The challenge of the attestation. Consumed whatever the result. `nil` for an expired challenge:
    /// the command then only finds a registered key.
    public let challenge: UsedNonce?
    public let mostKeys: Int64

    public init(key: AttestedKeyRecord, challenge: UsedNonce?, mostKeys: Int64 = mostKeys) {
        (self.key, self.challenge, self.mostKeys) = (key, challenge, mostKeys)
    }
}

/// The result of a registration.
public struct RegisteredKey: Sendable, Hashable {
    /// The key as it is stored.
    public let key: AttestedKeyRecord
    public let isNew: Bool

    public init(key: AttestedKeyRecord, isNew: Bool) {
        (self.key, self.isNew) = (key, isNew)
    }
}

/// A proof of App Attest at a call that is not a sign-in: its challenge
/// is consumed, and the counter of its key rises.
public struct UseProofCommand: Sendable, Hashable {
    public let proof: AppProof
    /// Arrival time, by our clock.
    public let receivedAt: Moment

    public init(proof: AppProof, receivedAt: Moment) {
        (self.proof, self.receivedAt) = (proof, receivedAt)
    }
}

// Keys of App Attest: rows that the commands need, and their rules.
extension WorkingSet {
    /// Keys to load, without duplicates, in the order in which all replicas lock them.
    public var attestedKeyIDs: [AttestedKeyID] {
        guard !namedKeyIDs.isEmpty else { return [] }
        return Set(namedKeyIDs).sorted { $0.digest.lexicographicallyPrecedes($1.digest) }
    }

    /// Apps whose number of keys must be loaded, in the order in which all replicas lock them.
    public var countedApps: [AppID] {
        guard !registeringApps.isEmpty else { return [] }
        return Set(registeringApps).sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    }

    /// Loads a key of `attestedKeyIDs`.
    public mutating func load(_ key: AttestedKeyRecord) {
        attestedKeys[key.id] = key
    }

    /// Loads the number of keys of an app in `countedApps`; 0 for an app that has never had a key.
    public mutating func load(keyCount: Int64, of app: AppID) {
        keyCounts[app] = keyCount
    }

    /// Keys to insert.
    public var newAttestedKeys: [AttestedKeyRecord] { records(newKeyIDs) }

    /// Keys whose counter has risen. A store writes the counter only if the stored counter is lower.
    public var raisedAttestedKeys: [AttestedKeyRecord] { records(raisedKeyIDs.subtracting(newKeyIDs)) }

    /// Apps with new keys, with their numbers of keys.
    public var changedKeyCounts: [(app: AppID, count: Int64)] {
        Set(newAttestedKeys.map(\.appID)).compactMap { app in keyCounts[app].map { (app, $0) } }
            .sorted { $0.app.text.utf8.lexicographicallyPrecedes($1.app.text.utf8) }
    }

    /// True if keys or counts must be saved.
    public var changesAttestedKeys: Bool { !newKeyIDs.isEmpty || !raisedKeyIDs.isEmpty }

    private func records(_ ids: Set<AttestedKeyID>) -> [AttestedKeyRecord] {
        guard !ids.isEmpty else { return [] }
        return ids.sorted { $0.digest.lexicographicallyPrecedes($1.digest) }.compactMap { attestedKeys[$0] }
    }

    /// Registers a key. A repetition changes nothing: the key of an app keeps its counter,
    /// because setting it back would allow replays.
    ///
    /// A repetition by the same app also finds its key when its challenge was used or has expired: the
    /// response to the first registration may be lost, and a device attests a key once.
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

    /// Consumes the challenge, and then raises the counter of the key. Refuses a used challenge; consumes the
    /// challenge even if the counter does not rise.
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

    /// Consumes a challenge, even for a command that is refused afterwards.
    mutating func consume(_ challenge: UsedNonce) throws(AccountRefusal) {
        guard usedDigests.insert(challenge.digest).inserted else { throw AccountRefusal(.challengeUsed) }
        usedNonces.append(challenge)
    }
}
