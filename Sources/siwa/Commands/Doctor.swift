import ArgumentParser
import Foundation

/// `siwa doctor`
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the configuration against reality, and say what is wrong and what to do.",
        discussion: """
            Reads the same configuration as siwa serve, and changes nothing. The service may be running. Apple is asked for \
            its keys, and to exchange a code that does not exist, once for each private key and client ID. Ends with \
            status 0 when nothing is wrong, else with 1.
            """)

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let examination = await Physician(environment: ProcessInfo.processInfo.environment).examine()
        print(json ? examination.json : examination.text)
        if !examination.isHealthy { throw ExitCode.failure }
    }
}
