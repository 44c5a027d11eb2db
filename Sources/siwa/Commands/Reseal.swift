import AppleAccounts
import ArgumentParser
import Cryptography
import Logging

/// `siwa reseal`
struct Reseal: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seal everything with the first sealing key, so that the others can be taken away.",
        discussion: """
            Reads the same configuration as siwa serve. On SQLite the service must be stopped meanwhile. Can be stopped and \
            run again. Values that an earlier version sealed are brought into the form of this one. Ends with status 0 when every \
            value is sealed by the first key and opens, else with 1.
            """)

    @Flag(help: "Only open and count, change nothing.")
    var dryRun = false

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        guard let keys = settings.sealingKeys else {
            Complaint.write(
                "SIWA_SEALING_KEYS is not set, so nothing is sealed. siwa sealing-key makes a key.")
            throw ExitCode.failure
        }
        do {
            let outcome = try await OpenedDatabase.with(settings) { store in
                let bar = ProgressBar(
                    title: dryRun ? "opening" : "resealing", total: try await store.sealedCount())
                let outcome = try await Resealing(store: store, keys: keys, progress: { bar.advance(by: $0) })
                    .run(isDryRun: dryRun)
                bar.end()
                return outcome
            }
            print(Self.words(for: outcome, keys: keys.keys.map(\.name), isDryRun: dryRun))
            if !outcome.isComplete { throw ExitCode.failure }
        } catch let error as MissingDatabase {
            Complaint.write(error.description)
            throw ExitCode.failure
        } catch let error as StorageError where error.code == .busy {
            Complaint.write(
                "siwa reseal cannot go on: siwa serve, or another command, has \(settings.database.place). On SQLite stop the "
                    + "service, run siwa reseal again, and start the service when it is done.")
            throw ExitCode.failure
        } catch let error as StorageError {
            Complaint.write("siwa reseal cannot go on: \(Complaint.words(for: error))")
            throw ExitCode.failure
        }
    }

    static func words(for outcome: Resealing.Outcome, keys: [String], isDryRun: Bool) -> String {
        let first = keys.first ?? ""
        var lines = [
            "\(isDryRun ? "To be resealed" : "Resealed"): \(outcome.resealed). "
                + "Sealed by \(first) already: \(outcome.current + outcome.overtaken)."
        ]
        for (name, count) in outcome.unknownKeys.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(count) sealed by key \(name), which SIWA_SEALING_KEYS does not have: add it and run this again."
            )
        }
        if outcome.damaged > 0 {
            lines.append(
                "\(outcome.damaged) cannot be opened: damaged, or sealed by another key of the same name. "
                    + "Their users are asked to sign in again when the service meets them.")
        }
        let old = keys.dropFirst().joined(separator: ", ")
        if outcome.isComplete, !isDryRun, !old.isEmpty { lines.append("No longer needed: \(old).") }
        return lines.joined(separator: "\n")
    }
}
