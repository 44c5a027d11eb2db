import HTTPAPI

/// Who may call the service.
struct CallersCheck: DoctorCheck {
    static let name = "API keys"

    let settings: ServiceSettings

    func examine() -> [Finding] {
        // Production without a key is a mistake in the configuration already.
        guard !settings.apiKeys.isEmpty else {
            return [
                .note(
                    Self.name, "none: whoever reaches the port may call",
                    advice: "siwa api-key makes a key; put its hash into SIWA_API_KEY_HASHES.")
            ]
        }
        return [.good(Self.name, settings.apiKeys.map(\.name).joined(separator: ", "))]
    }
}
