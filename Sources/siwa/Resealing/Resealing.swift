import AppleAccounts
import Cryptography
import SignIn

/// Seals stored values again with the first key and in the current format, if another key or an earlier
/// version sealed them.
///
/// It can be stopped at any time and run again; values that are done stay done. A value that cannot be opened
/// is not changed, only counted.
struct Resealing {
    let store: any GrantStore
    let keys: SealingKeyRing
    /// Called with the number of further values that were processed.
    let progress: (Int) -> Void

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

        var isComplete: Bool { unknownKeys.isEmpty && damaged == 0 }
    }

    /// The number of values per transaction. Most of the time is the wait for the disk at each commit.
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
