import AppleAccounts
import JOSE
import SignIn

/// Seals again with the first key what another key has sealed.
///
/// It can be stopped at any moment and run again: what is done stays done. Nothing is lost when a value cannot be opened;
/// it stays as it is and is counted.
struct Resealing {
    let store: any GrantStore
    let keys: SealingKeyRing
    /// Called for each value that was looked at.
    let progress: (Int) -> Void

    struct Outcome: Equatable {
        var resealed = 0
        /// Sealed by the first key already.
        var current = 0
        /// Changed or gone while it was looked at: the service has sealed it anew.
        var overtaken = 0
        /// Sealed by keys that are not configured, by their names.
        var unknownKeys: [String: Int] = [:]
        /// Damaged, or sealed by another key of the same name.
        var damaged = 0

        var isComplete: Bool { unknownKeys.isEmpty && damaged == 0 }
    }

    private static let page = 500

    func run(isDryRun: Bool = false) async throws -> Outcome {
        var outcome = Outcome()
        var cursor: SealedCursor?
        while true {
            let rows = try await store.sealedSecrets(after: cursor, limit: Self.page)
            guard let last = rows.last else { return outcome }
            for row in rows {
                try await reseal(row, isDryRun: isDryRun, into: &outcome)
                progress(1)
            }
            cursor = last.cursor
            try Task.checkCancellation()
        }
    }

    private func reseal(_ row: SealedRow, isDryRun: Bool, into outcome: inout Outcome) async throws {
        let associatedData = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
        let plaintext: [UInt8]
        do throws(SealError) {
            // Also what the first key sealed is opened: a damaged value should be found by this and not in need.
            plaintext = try keys.open(row.sealed.bytes, associatedData: associatedData)
        } catch {
            switch error.code {
            case .unknownKey:
                outcome.unknownKeys[SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?", default: 0] += 1
            case .malformed, .authenticationFailed: outcome.damaged += 1
            }
            return
        }
        guard !keys.isSealedByFirst(row.sealed.bytes) else { return outcome.current += 1 }
        guard !isDryRun else { return outcome.resealed += 1 }
        guard let sealed = SealedSecret(keys.seal(plaintext, associatedData: associatedData)) else {
            return outcome.damaged += 1
        }
        if try await store.replaceSealed(row, with: sealed) {
            outcome.resealed += 1
        } else {
            outcome.overtaken += 1
        }
    }
}
