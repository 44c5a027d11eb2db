import AppleAccounts
import ArgumentParser

extension OpenedDatabase {
    /// Prints errors of the database, and ends the command.
    ///
    /// - Parameters:
    ///   - command: For example "siwa reseal".
    ///   - busy: Text for a database that is open in another process.
    static func reportingFailures(
        of command: String, busy: String, _ body: () async throws -> Void
    ) async throws {
        do {
            try await body()
        } catch let error as MissingDatabase {
            ErrorMessage.write(error.description)
            ServiceVariables.writeAdvice()
            throw ExitCode.failure
        } catch let error as StorageError {
            let reason = error.code == .busy ? busy : ErrorMessage.text(for: error)
            ErrorMessage.write("\(command) has failed: \(reason)")
            throw ExitCode.failure
        }
    }
}
