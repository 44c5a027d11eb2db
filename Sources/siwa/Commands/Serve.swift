import ArgumentParser
import Foundation
import HTTPAPI

/// `siwa serve`
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the service.",
        discussion: """
            Configured by environment variables, and by a YAML file that SIWA_CONFIG names. At least:

              APPLE_TEAM_ID        the 10 characters of your Apple team
              APPLE_CLIENT_IDS     your app's bundle ID, then its Services IDs (comma-separated)
              SIWA_API_KEY_HASHES  who may call: name=hash (siwa api-key makes both)

            To keep and check refresh tokens, and to erase accounts at Apple too:

              APPLE_PRIVATE_KEY_FILE  AuthKey_<key ID>.p8 from Apple, or a directory of such files
              SIWA_SEALING_KEYS       what seals them in the database: name=key (siwa sealing-key makes one)

            For sign-in on the web:

              SIWA_PUBLIC_URL         where the world reaches this service
              SIWA_WEB_REDIRECT_URL   where your site takes over again

            Further: SIWA_HOST, SIWA_PORT, SIWA_ADDRESS_SHARE, SIWA_TRUSTED_PROXIES, SIWA_ENV, SIWA_ALLOWED_HOSTS, \
            SIWA_LOG_LEVEL, SIWA_CONFIG, SIWA_CHECK_INTERVAL, \
            SIWA_CHECKS_PER_SECOND, DATABASE_URL, SIWA_DATABASE_CONNECTIONS, APPLE_KEY_ID, APPLE_PRIVATE_KEY, APPLE_KEYS_FILE, APPLE_ISSUERS, \
            APPLE_BASE_URL. siwa doctor says whether all that works. Stops at SIGTERM or SIGINT, when everything that \
            was accepted is answered. A mistake in the configuration ends it with status 78, any other failure to start \
            or go on with status 1.
            """)

    func run() async throws {
        do {
            let settings = try await SettingsReader.read(environment: ProcessInfo.processInfo.environment)
            let observation = ProcessObservation.ofProcess(level: settings.logLevel)
            defer { observation.sink.flush() }
            try await ComposedService(settings: settings, observation: observation).run()
        } catch let mistakes as ConfigurationMistakes {
            Complaint.write(mistakes.description)
            throw ExitCode(78)
        } catch {
            Complaint.write("The service cannot go on: \(Complaint.words(for: error))")
            throw ExitCode.failure
        }
    }
}
