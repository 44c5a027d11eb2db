package import ArgumentParser
import Foundation
import HTTPAPI

/// The `serve` command of both programs, which runs the service in this process.
package enum ServiceRun {
    package static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the service.",
        discussion: """
            The configuration comes from environment variables, and from a YAML file that SIWA_CONFIG names. \
            Required:

            \(Setting.help(of: .required))

            To store and check refresh tokens, and to revoke them when an account is erased:

            \(Setting.help(of: .keys))

            For sign-in on the web:

            \(Setting.help(of: .web))

            For OAuth clients (Google account linking, web applications, native apps), in addition to the \
            keys and to sign-in on the web:

            \(Setting.help(of: .oauth))

            The same file declares several teams, and API keys that are limited to some apps. Every other \
            setting can be in it too, under its name in lower case; environment variables take precedence.

            Further settings, which siwa doctor checks as well:

            \(Setting.help(of: .others))

            SIGTERM or SIGINT stops the service after it has answered all accepted requests. The exit status \
            is 78 for what the operator must correct, such as a mistake in the configuration or a database \
            that cannot be opened as it is configured, and 1 for any other failure, also for a PostgreSQL database \
            that does not exist yet.
            """)

    /// Runs the service until it is stopped.
    ///
    /// - Parameter program: Changes the settings for this program, or refuses settings that the program does
    ///   not support.
    /// - Throws: `ExitCode`, after writing a message to standard error.
    package static func run(
        _ program: (inout ServiceSettings) throws(ConfigurationMistakes) -> Void
    ) async throws {
        IgnoredSignals.ignoreDuringStart()
        EventLoopCount.limitToUsableCPUs()
        do {
            var settings = try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
            try program(&settings)
            let console = settings.numbers[.consolePort]
            try await ListenTrial.run(on: [
                (settings.host, settings.numbers[.port]), (settings.consoleHost, console),
            ])
            let observation = ProcessObservation.ofProcess(
                level: settings.logLevel, format: settings.logFormat, traces: settings.traces)
            defer { observation.sink.flush() }
            let service = try await observation.sink.writing { [settings] in
                do {
                    return try await ComposedService(settings: settings, observation: observation)
                } catch {
                    throw OperatorMistake(error, database: settings.database) ?? error
                }
            }
            try await service.run()
        } catch let mistakes as ConfigurationMistakes {
            ErrorMessage.write(mistakes.description)
            throw OperatorMistake.exitStatus
        } catch {
            ErrorMessage.write("The service has failed: \(ErrorMessage.text(for: error))")
            throw OperatorMistake.isOne(error) ? OperatorMistake.exitStatus : ExitCode.failure
        }
    }
}
