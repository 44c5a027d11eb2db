import AppleAccounts
import Cryptography
import SignIn

/// Seals again, with the first key and in the form of today, what another key has sealed, or an earlier version.
///
/// It can be stopped at any moment and run again: what is done stays done. Nothing is lost when a value cannot be opened;
/// it stays as it is and is counted.
struct Resealing {
    let store: any GrantStore
    let keys: SealingKeyRing
    /// Called with how many values more were looked at.
    let progress: (Int) -> Void

    struct Outcome: Equatable {
        var resealed = 0
        /// Sealed by the first key already, in the form of today.
        var current = 0
        /// Changed or gone while it was looked at: the service has sealed it anew.
        var overtaken = 0
        /// Sealed by keys that are not configured, by their names.
        var unknownKeys: [String: Int] = [:]
        /// Damaged, or sealed by another key of the same name.
        var damaged = 0

        var isComplete: Bool { unknownKeys.isEmpty && damaged == 0 }
    }

    /// As many are written in one transaction: what costs time is that each of these is on the disk before the next.
    private static let page = 256

    func run(isDryRun: Bool = false) async throws -> Outcome {
        var outcome = Outcome()
        var cursor: SealedCursor?
        while true {
            let rows = try await store.sealedSecrets(after: cursor, limit: Self.page)
            guard let last = rows.last else { return outcome }
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

    /// `nil` for what the first key has sealed and for what does not open, which are counted here.
    private func change(of row: SealedRow, into outcome: inout Outcome) -> SealedChange? {
        let associatedData = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
        let plaintext: [UInt8]
        do throws(SealError) {
            // Also what the first key sealed is opened: a damaged value should be found by this and not in need.
            plaintext = try keys.open(
                row.sealed.bytes, for: row.purpose.sealingPurpose, associatedData: associatedData)
        } catch {
            switch error.code {
            case .unknownKey:
                outcome.unknownKeys[SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?", default: 0] += 1
            case .malformed, .authenticationFailed: outcome.damaged += 1
            }
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
