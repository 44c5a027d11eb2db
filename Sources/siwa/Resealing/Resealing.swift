import AppleAccounts
import AuthorizationServer
import Cryptography
import OAuth
import SignIn

/// Seals stored values again with the first key, also the service's own signing keys, if another key sealed them.
///
/// Can be stopped at any time and run again; finished values are kept. A value that cannot be opened is
/// counted and not changed.
struct Resealing {
    let store: any AppleTokenStore & AuthorizationStore
    let keys: SealingKeyRing
    /// Called with the number of further values that were processed.
    let progress: (Int) -> Void
    /// The moment of the audit entries where keys that sign tokens and do not open are removed; otherwise `nil`.
    var retiresSigningKeysAt: Moment?

    struct Outcome: Equatable {
        var resealed = 0
        /// Already sealed by the first key in the current format.
        var current = 0
        /// Changed or deleted by the service in the meantime.
        var overtaken = 0
        /// Sealed by keys that are not configured, by their names.
        var unknownKeys: [String: Int] = [:]
        /// Damaged, or sealed by another key of the same name.
        var damaged = 0
        /// Damaged keys that sign this service's tokens.
        var damagedSigningKeys = 0
        /// Removed keys that sign this service's tokens.
        var retired = 0

        var isComplete: Bool { unknownKeys.isEmpty && damaged == 0 && damagedSigningKeys == 0 }
    }

    /// The number of values per transaction. Most of the time is the wait for the disk at each commit.
    private static let page = 256

    /// Number of stored values and signing keys.
    func total() async throws -> Int {
        try await store.sealedCount() + store.signingKeys().count
    }

    func run(isDryRun: Bool = false) async throws -> Outcome {
        var outcome = Outcome()
        try await resealSigningKeys(isDryRun: isDryRun, into: &outcome)
        try await resealAppleTokens(isDryRun: isDryRun, into: &outcome)
        return outcome
    }

    /// Reseals the keys that sign tokens, one at a time, because there are few.
    private func resealSigningKeys(isDryRun: Bool, into outcome: inout Outcome) async throws {
        let sealer = SigningKeySealer(keys: keys)
        for key in try await store.signingKeys() {
            progress(1)
            let sealed: SealedSecret?
            do throws(SealError) {
                sealed = try sealer.resealed(key)
            } catch {
                if let moment = retiresSigningKeysAt {
                    let origin = AuditOrigin(.command("reseal"))
                    let isRemoved = try await store.removeSigningKey(key, by: origin, at: moment)
                    if isRemoved { outcome.retired += 1 } else { outcome.overtaken += 1 }
                } else {
                    outcome.count(error, of: key.sealed, as: \.damagedSigningKeys)
                }
                continue
            }
            guard let sealed else {
                outcome.current += 1
                continue
            }
            if isDryRun {
                outcome.resealed += 1
            } else if try await store.replaceSealed(key, with: sealed) {
                outcome.resealed += 1
            } else {
                outcome.overtaken += 1
            }
        }
    }

    private func resealAppleTokens(isDryRun: Bool, into outcome: inout Outcome) async throws {
        var cursor: SealedCursor?
        while true {
            let rows = try await store.sealedSecrets(after: cursor, limit: Self.page)
            guard let last = rows.last else { return }
            let changes = rows.compactMap { change(of: $0, into: &outcome) }
            if isDryRun {
                outcome.resealed += changes.count
            } else if !changes.isEmpty {
                let replaced = try await store.replaceSealed(changes)
                outcome.resealed += replaced
                outcome.overtaken += changes.count - replaced
            }
            progress(rows.count)
            cursor = last.cursor
            try Task.checkCancellation()
        }
    }

    /// Returns `nil`, and counts the value, when the first key has sealed it or when it cannot be opened.
    private func change(of row: SealedRow, into outcome: inout Outcome) -> SealedChange? {
        let associatedData = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
        let plaintext: [UInt8]
        do throws(SealError) {
            // Values of the first key are opened too, so that a damaged value is found here and not when it
            // is needed.
            plaintext = try keys.open(
                row.sealed.bytes, for: row.purpose.sealingPurpose, associatedData: associatedData)
        } catch {
            outcome.count(error, of: row.sealed, as: \.damaged)
            return nil
        }
        guard !keys.isCurrent(row.sealed.bytes) else {
            outcome.current += 1
            return nil
        }
        let resealed = keys.seal(
            plaintext, for: row.purpose.sealingPurpose, associatedData: associatedData)
        guard let sealed = SealedSecret(resealed) else {
            outcome.damaged += 1
            return nil
        }
        return SealedChange(row, to: sealed)
    }
}

extension Resealing.Outcome {
    fileprivate mutating func count(
        _ error: SealError, of sealed: SealedSecret, as damage: WritableKeyPath<Self, Int>
    ) {
        switch error.code {
        case .unknownKey: unknownKeys[SealingKeyRing.keyName(of: sealed.bytes) ?? "?", default: 0] += 1
        case .malformed, .authenticationFailed: self[keyPath: damage] += 1
        }
    }
}
