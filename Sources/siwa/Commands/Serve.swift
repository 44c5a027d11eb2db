import ArgumentParser
import Foundation
import HTTPAPI

/// `siwa serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            The configuration comes from environment variables, and from a YAML file that SIWA_CONFIG names. \
            Required:

              APPLE_TEAM_ID           the 10 characters of your Apple team ID
              APPLE_CLIENT_IDS        your app's bundle ID, then those that are
                                      grouped with it, comma-separated
              SIWA_API_KEY_HASHES     the callers: name=hash (siwa api-key makes a key
                                      and its hash)

            To store and check refresh tokens, and to revoke them when an account is erased:

              APPLE_PRIVATE_KEY_FILE  AuthKey_<key ID>.p8 from Apple, or a directory of
                                      such files
              SIWA_SEALING_KEYS       the keys that encrypt them: name=key (siwa
                                      sealing-key makes one)

            For sign-in on the web:

              SIWA_PUBLIC_URL         the public URL of this service
              SIWA_WEB_REDIRECT_URL   the page of your site that receives the result
              APPLE_SERVICES_IDS      the Services IDs of the app (comma-separated)

            For OAuth clients (Google account linking, web applications, native apps), in addition to the \
            keys and to sign-in on the web:

              SIWA_CONFIG             a YAML file with the section oauth (siwa client
                                      new prints the lines)

            The same file declares several teams, and API keys that are limited to some apps. Every other \
            setting can be in it too, under its name in lower case; environment variables take precedence.

            Further settings: SIWA_HOST, SIWA_PORT, SIWA_ADDRESS_SHARE, SIWA_TRUSTED_PROXIES, SIWA_ENV, \
            SIWA_ALLOWED_HOSTS, SIWA_LOG_LEVEL, SIWA_CHECK_INTERVAL, SIWA_CHECKS_PER_SECOND, DATABASE_URL, \
            SIWA_DATABASE_CONNECTIONS, SIWA_DRAIN_SECONDS, APPLE_KEY_ID, APPLE_PRIVATE_KEY, APPLE_KEYS_FILE, \
            APPLE_ISSUERS, APPLE_BASE_URL, SIWA_GOOGLE_BASE_URL. siwa doctor checks the configuration.

            SIGTERM or SIGINT stops the service after it has answered all accepted requests. The exit status \
            is 78 for what the operator must correct, such as a mistake in the configuration or a database \
            that cannot be opened as it is configured, and 1 for any other failure.
            """)

    func run() async throws {
        IgnoredSignals.ignoreDuringStart()
        EventLoopCount.limitToUsableCPUs()
        do {
            let settings = try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
            let observation = ProcessObservation.ofProcess(level: settings.logLevel)
            defer { observation.sink.flush() }
            let service = try await observation.sink.writing {
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
