import AppleAccounts

/// Whether the configuration can be read and has no mistake.
struct ConfigurationCheck: DoctorCheck {
    static let name = "configuration"

    let settings: Result<ServiceSettings, ConfigurationMistakes>

    func examine() -> [Finding] {
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
                        Self.name, "SIWA_ENV is development, which allows what is not safe",
                        advice: "In production leave SIWA_ENV out."))
            }
            return findings
        case .failure(let mistakes):
            return mistakes.list.map { mistake in
                .wrong(
                    Self.name, mistake,
                    advice: "Put this right in the environment or the file of SIWA_CONFIG.")
            }
        }
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
