import AppAttestation
import ArgumentParser
import Composition

/// The `siwa serve` command.
struct Serve: AsyncParsableCommand {
    static let configuration = ServiceRun.configuration

    func run() async throws {
        try await ServiceRun.run { settings throws(ConfigurationMistakes) in
            try Self.refuseTrial(settings)
        }
    }

    /// Refuses settings that only the trial needs. The keys of the fake Apple's roots are public, so anyone
    /// could attest under them.
    static func refuseTrial(_ settings: ServiceSettings) throws(ConfigurationMistakes) {
        guard settings.isWithFakeApple, !settings.appCheck.all.isEmpty else { return }
        var mistakes = ConfigurationMistakes()
        mistakes.add(
            "app_check",
            "needs Apple's App Attest, and \(Setting.baseURL.name) names a fake Apple, whose roots siwa does not have; "
                + "start siwa-dev serve for tests with it")
        throw mistakes
    }
}
