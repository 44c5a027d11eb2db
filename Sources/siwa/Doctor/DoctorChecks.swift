import AppleIDClient
import AsyncHTTPClient
import KeySets

/// Runs all checks of `siwa doctor`. Checks whose errors explain other errors come first.
struct DoctorChecks: Sendable {
    let configuration: @Sendable () async throws -> ServiceSettings
    let secondsSince1970: @Sendable () -> Int64
    let limits: AppleTimeLimits

    init(
        environment: [String: String], limits: AppleTimeLimits = AppleTimeLimits(),
        secondsSince1970: @escaping @Sendable () -> Int64 = {
            SystemKeySetClock().millisecondsSince1970 / 1000
        }
    ) {
        configuration = { try await SettingsReader.read(environment: environment) }
        self.limits = limits
        self.secondsSince1970 = secondsSince1970
    }

    /// Checks settings that were read already: those of a service that runs.
    init(settings: ServiceSettings, secondsSince1970: @escaping @Sendable () -> Int64) {
        configuration = { settings }
        limits = AppleTimeLimits()
        self.secondsSince1970 = secondsSince1970
    }

    func run() async -> DoctorReport {
        let settings: ServiceSettings
        do {
            settings = try await configuration()
        } catch let mistakes as ConfigurationMistakes {
            let rest = Finding.skipped("the rest", "needs a configuration without mistakes")
            return DoctorReport(findings: ConfigurationCheck(settings: .failure(mistakes)).run() + [rest])
        } catch {
            return DoctorReport(findings: [
                .wrong(
                    ConfigurationCheck.name, "cannot be read", advice: "Check that SIWA_CONFIG names a file.")
            ])
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(limits))
        var findings: [Finding] = []
        for check in await checks(of: settings, client: client) { findings += await check.run() }
        try? await client.shutdown()
        return DoctorReport(findings: findings, registrations: Registrations(settings: settings).lines)
    }

    private func checks(of settings: ServiceSettings, client: HTTPClient) async -> [any DoctorCheck] {
        let response = await AppleProbe(endpoints: settings.appleEndpoints, client: client).fetch()
        let now = secondsSince1970()
        let skew = ClockCheck.skew(appleDate: response?.date, ownDate: now)
        return [
            ConfigurationCheck(settings: .success(settings)), CallersCheck(settings: settings),
            AppleReachableCheck(endpoints: settings.appleEndpoints, response: response),
            ClockCheck(appleDate: response?.date, ownDate: now),
            KeySetCheck(source: settings.keySource, response: response), SigningKeyCheck(settings: settings),
            ClientSecretCheck(
                settings: settings, client: client, isReachable: response != nil, skew: skew,
                secondsSince1970: secondsSince1970),
            ServicesIDsCheck(settings: settings, client: client, isReachable: response != nil),
            SealingKeysCheck(settings: settings),
            DatabaseCheck(settings: settings, secondsSince1970: secondsSince1970),
            OAuthClientsCheck(settings: settings), AppCheckClientsCheck(settings: settings),
            GoogleEventsCheck(settings: settings, client: client, secondsSince1970: secondsSince1970),
            PublicURLCheck(settings: settings),
        ]
    }
}
