import AppleAccounts
import ArgumentParser
import AuthorizationServer
import Composition
import Cryptography
import KeySets
import Logging
import OAuth
import SignIn

/// The `siwa reseal` command.
struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Encrypt all sealed values with the first sealing key, so that the other keys can be removed.",
        discussion: """
            Reads the same configuration as siwa serve. With SQLite, the service must be stopped first. The \
            command can be interrupted and run again. The exit status is 0 when every value is sealed by the first key and can be \
            decrypted, 2 when --dry-run has found values to be resealed, otherwise 1.
            """)

    @Flag(help: "Only decrypt and count; change nothing.")
    var dryRun = false

    @Flag(
        name: .customLong("retire-signing-keys"),
        help:
            "Delete the keys that sign tokens and cannot be decrypted. Tokens that they have signed end, and the service makes new keys."
    )
    var retiresSigningKeys = false

    func validate() throws {
        guard !dryRun || !retiresSigningKeys else {
            throw ValidationError("--dry-run changes nothing, so it goes without --retire-signing-keys.")
        }
    }

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        guard let keys = settings.sealingKeys else {
            ErrorMessage.write(
                "SIWA_SEALING_KEYS is not set, so there is nothing to reseal. siwa sealing-key creates a key."
            )
            throw ExitCode.failure
        }
        let busy =
            "siwa serve or another command has \(settings.database.place) open. With SQLite, stop the service, run "
            + "siwa reseal again, and start the service when it is done."
        try await OpenedDatabase.reportingFailures(of: "siwa reseal", busy: busy) {
            let outcome = try await OpenedDatabase.with(settings) { store in
                let title = dryRun ? "opening" : "resealing"
                let total = try await Resealing(store: store, keys: keys, progress: { _ in }).total()
                let bar = ProgressBar(title: title, total: total)
                var resealing = Resealing(store: store, keys: keys, progress: { bar.advance(by: $0) })
                if retiresSigningKeys { resealing.retiresSigningKeysAt = Deliveries.now }
                let outcome = try await resealing.run(isDryRun: dryRun)
                bar.end()
                if !dryRun { try await store.appendAudit([Self.entry(for: outcome, keys: keys)]) }
                return outcome
            }
            print(Self.words(for: outcome, keys: keys.keys.map(\.name), isDryRun: dryRun))
            let status = Self.status(for: outcome, isDryRun: dryRun)
            if status != .success { throw status }
        }
    }

    private static func entry(for outcome: Resealing.Outcome, keys: SealingKeyRing) -> AuditEntry {
        AuditEntry(
            .secretsResealed, by: AuditOrigin(.command("reseal")),
            at: Moment(milliseconds: SystemKeySetClock().millisecondsSince1970),
            detail: "\(outcome.resealed) with \(keys.keys.first?.name ?? "")")
    }

    /// Returns the exit status for scripts. After `--dry-run`, status 0 means that the old keys can be
    /// removed.
    static func status(for outcome: Resealing.Outcome, isDryRun: Bool) -> ExitCode {
        guard outcome.isComplete else { return .failure }
        return isDryRun && outcome.resealed > 0 ? ExitCode(2) : .success
    }

    static func words(for outcome: Resealing.Outcome, keys: [String], isDryRun: Bool) -> String {
        let first = keys.first ?? ""
        var lines = [
            "\(isDryRun ? "To be resealed" : "Resealed"): \(outcome.resealed). "
                + "Sealed by \(first) already: \(outcome.current + outcome.overtaken)."
        ]
        for (name, count) in outcome.unknownKeys.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(count) sealed by key \(name), which is not in SIWA_SEALING_KEYS: add it and run this again."
            )
        }
        if outcome.damaged > 0 {
            lines.append(
                "\(outcome.damaged) cannot be opened: damaged, or sealed by another key with the same name. "
                    + "The service will ask these users to sign in again.")
        }
        if outcome.damagedSigningKeys > 0 {
            lines.append(
                "\(outcome.damagedSigningKeys) of the keys that sign tokens cannot be opened: damaged, or sealed by "
                    + "another key with the same name. Their tokens stay valid, and the service makes no new key: put "
                    + "the right sealing key back, or run siwa reseal --retire-signing-keys."
            )
        }
        if outcome.retired > 0 {
            lines.append("Keys that sign tokens and were retired: \(outcome.retired). Their tokens end.")
        }
        let old = keys.dropFirst().joined(separator: ", ")
        if outcome.isComplete, !isDryRun, !old.isEmpty { lines.append("No longer needed: \(old).") }
        return lines.joined(separator: "\n")
    }
}

/// Reseals all stored values that were not sealed with the first key, including the service's own signing
/// keys.
///
/// A run can be stopped at any time and repeated, because values stay resealed. A value that cannot be opened
/// is counted but not changed.
struct Resealing {
    let store: any AppleTokenStore & AuthorizationStore
    let keys: SealingKeyRing
    /// Called with the number of values processed since the last call.
    let progress: (Int) -> Void
    /// Time of the audit entries if the run removes signing keys that cannot be opened; otherwise `nil`.
    var retiresSigningKeysAt: Moment?

    struct Outcome: Equatable {
        var resealed = 0
        /// Number of values that the first key has already sealed in the current format.
        var current = 0
        /// Number of values that the service changed or deleted during the run.
        var overtaken = 0
        /// Number of values sealed by keys that are not configured, by key name.
        var unknownKeys: [String: Int] = [:]
        /// Number of values that are damaged, or sealed by another key with the same name.
        var damaged = 0
        /// Number of damaged keys that sign this service's tokens.
        var damagedSigningKeys = 0
        /// Number of removed signing keys.
        var retired = 0

        var isComplete: Bool { unknownKeys.isEmpty && damaged == 0 && damagedSigningKeys == 0 }
    }

    /// Number of values per transaction. Large batches are faster, because each commit waits for the disk.
    private static let page = 256

    /// Returns the number of stored values and signing keys.
    func total() async throws -> Int {
        try await store.sealedCount() + store.signingKeys().count
    }

    func run(isDryRun: Bool = false) async throws -> Outcome {
        var outcome = Outcome()
        try await resealSigningKeys(isDryRun: isDryRun, into: &outcome)
        try await resealAppleTokens(isDryRun: isDryRun, into: &outcome)
        return outcome
    }

    /// Reseals the keys that sign tokens, one at a time, because there are only a few.
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

    /// Returns the resealed value. If the first key has sealed it or it cannot be opened, counts it and
    /// returns `nil`.
    private func change(of row: SealedRow, into outcome: inout Outcome) -> SealedChange? {
        let associatedData = row.purpose.associatedData(of: row.accountID, clientID: row.clientID)
        let plaintext: [UInt8]
        do throws(SealError) {
            // Also opens values sealed by the first key, so that damage is found now and not when the value
            // is next used.
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
