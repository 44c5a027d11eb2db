import AppleAccounts
import AppleIDClient
import ArgumentParser
import Composition
import StrictJSON

/// A transfer step's output.
struct TransferReport: Equatable {
    let text: String
    let isComplete: Bool

    init(_ outcome: TransferPreparation.Outcome, file: String, isDryRun: Bool) {
        var lines = [
            "\(outcome.total) accounts: \(outcome.alreadyPrepared) prepared before, \(outcome.prepared) "
                + (isDryRun ? "tried and not written" : "prepared now")
                + ", \(outcome.failures.count) failed."
        ]
        lines += Self.words(forFailures: outcome.failures, file: isDryRun ? nil : file)
        lines += outcome.stopped.map { [Self.words(for: $0)] } ?? []
        text = lines.joined(separator: "\n")
        isComplete = outcome.failures.isEmpty && outcome.stopped == nil
    }

    /// - Parameter moved: The moved accounts; `nil` for a dry run.
    init(_ asked: TransferApplication.Asked, moved: TransferApplication.Moved?, file: String) {
        var lines = [
            "\(asked.total) accounts: \(asked.alreadyKnown) results of earlier runs, \(asked.learned) new results, "
                + "\(asked.failures.count) failed."
        ]
        if let moved {
            lines.append("\(moved.moved) moved, \(moved.made) created, \(moved.alreadyDone) done before.")
        }
        lines += Self.words(
            forFailures: asked.failures + (moved?.failures ?? []), file: moved == nil ? nil : file)
        lines += asked.stopped.map { [Self.words(for: $0)] } ?? []
        text = lines.joined(separator: "\n")
        isComplete = asked.failures.isEmpty && asked.stopped == nil && moved?.failures.isEmpty ?? true
    }

    /// Runs a step, prints its report or error, and ends the process with the matching exit status.
    static func ending(
        on database: DatabaseLocation, _ step: () async throws -> TransferReport
    ) async throws {
        let report: TransferReport
        do {
            report = try await step()
        } catch let error as StorageError {
            if case .sqlite = database, error.code == .busy {
                ErrorMessage.write(
                    "The service has the database open: stop it and run this again. Requests to Apple are not repeated."
                )
            } else {
                ErrorMessage.write("siwa transfer has failed: \(ErrorMessage.text(for: error))")
            }
            throw ExitCode.failure
        } catch let error as MissingDatabase {
            ErrorMessage.write(error.description)
            throw ExitCode.failure
        } catch let error as LineFile.Unusable {
            ErrorMessage.write(error.description)
            throw ExitCode.failure
        }
        print(report.text)
        if !report.isComplete { throw ExitCode.failure }
    }

    private static func words(forFailures failures: [TransferFailure], file: String?) -> [String] {
        let counts = Dictionary(grouping: failures, by: \.cause).mapValues(\.count)
        let causes = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        guard !failures.isEmpty else { return [] }
        return [
            "Failed: \(causes)."
                + (file.map { " Listed in \($0).failures; run this again to try them again." } ?? "")
        ]
    }

    private static func words(for error: AppleCallError) -> String {
        error.isOfConfiguration
            ? "Stopped: Apple refuses the client secret (\(error.appleError?.rawValue ?? error.code.rawValue)). "
                + "Run siwa doctor to find the cause."
            : "Stopped: Apple does not answer (\(error.code.rawValue)). Run this again later."
    }
}

/// An account that could not be transferred in this run: one line of the failures file. The next run retries
/// it.
struct TransferFailure: Equatable, Sendable {
    let accountID: AccountID
    /// An error code from this service or from Apple.
    let cause: String

    init(accountID: AccountID, cause: String) {
        (self.accountID, self.cause) = (accountID, cause)
    }

    init(accountID: AccountID, error: AppleCallError) {
        self.init(accountID: accountID, cause: error.appleError?.rawValue ?? error.code.rawValue)
    }

    var json: JSONObject {
        JSONObject([("account_id", .string(accountID.rawValue)), ("cause", .string(cause))])
    }
}
