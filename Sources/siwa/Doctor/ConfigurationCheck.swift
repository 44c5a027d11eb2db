import AppleAccounts

/// Checks that the configuration can be read and has no mistakes.
struct ConfigurationCheck: DoctorCheck {
    static let name = "configuration"

    let settings: Result<ServiceSettings, ConfigurationMistakes>

    func run() -> [Finding] {
        switch settings {
        case .success(let settings):
            let apps = settings.deployment.apps
            let counts = [
                Self.count(Set(apps.map(\.team)).count, "team"), Self.count(apps.count, "app"),
                Self.count(settings.deployment.clientIDs.count, "client ID"),
            ]
            var findings = [Finding.good(Self.name, counts.joined(separator: ", "))]
            if settings.environment == .development {
                findings.append(
                    .note(
                        Self.name, "SIWA_ENV is development, which is not safe in production",
                        advice: "In production, do not set SIWA_ENV."))
            }
            return findings
        case .failure(let mistakes):
            return mistakes.list.map { mistake in
                .wrong(
                    Self.name, mistake,
                    advice: "Correct this in the environment or in the file of SIWA_CONFIG.")
            }
        }
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
