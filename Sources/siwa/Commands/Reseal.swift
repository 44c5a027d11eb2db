import AppleAccounts
import ArgumentParser
import Cryptography
import KeySets
import Logging

/// `siwa reseal`
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

    /// Exit status for scripts. After `--dry-run` the old keys can be removed only if the status is 0.
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
