import Foundation
import SiwaBinary
import TestSupport

/// Runs the built `siwa` as a separate process until it ends.
struct CommandProcess {
    let status: Int32
    /// The text on standard error.
    let errorText: String

    /// Runs a command in an existing directory.
    static func run(
        _ arguments: [String], _ environment: [String: String], in directory: String
    ) async throws -> CommandProcess {
        let run = try await ProgramRun.of(
            BuiltSiwa.url(), arguments, environment: environment, in: directory, keepsOutput: false)
        return CommandProcess(status: run.status, errorText: run.output)
    }
}
