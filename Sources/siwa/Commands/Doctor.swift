import ArgumentParser
import Composition
import Foundation

/// The `siwa doctor` command.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration against reality, and say what is wrong and what to do.",
        discussion: """
            Reads the same configuration as siwa serve, and changes nothing. The service may be running. It \
            fetches Apple's key set, and for each private key and client ID it tries to exchange a code that \
            does not exist. The exit status is 0 when there is no error, otherwise 1.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let report = await DoctorChecks(environment: ProcessInfo.processInfo.environment).run()
        print(json ? report.json : report.text(in: TerminalStyle.layout))
        if !report.isHealthy, !json { ServiceVariables.writeAdvice() }
        if !report.isHealthy { throw ExitCode.failure }
    }
}
