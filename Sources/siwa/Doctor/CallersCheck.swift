import HTTPAPI

/// Checks that there are API keys.
struct CallersCheck: DoctorCheck {
    static let name = "API keys"

    let settings: ServiceSettings

    func run() -> [Finding] {
        // In production, a missing key is a mistake of the configuration.
        guard !settings.apiKeys.isEmpty else {
            return [
                .note(
                    Self.name, "none: every client that can reach the port may call",
                    advice: "siwa api-key creates a key; add its hash to SIWA_API_KEY_HASHES.")
            ]
        }
        return [.good(Self.name, settings.apiKeys.map(\.name).joined(separator: ", "))]
    }
}
