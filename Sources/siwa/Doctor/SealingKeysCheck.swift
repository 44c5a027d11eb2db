import Cryptography

/// Checks that there is a sealing key.
struct SealingKeysCheck: DoctorCheck {
    static let name = "sealing keys"

    let settings: ServiceSettings

    func run() -> [Finding] {
        guard let keys = settings.sealingKeys else {
            let advice = "siwa sealing-key creates one for SIWA_SEALING_KEYS."
            return [
                settings.signingKeys.isEmpty
                    ? .note(Self.name, "none: no refresh token is stored", advice: advice)
                    : .wrong(
                        Self.name,
                        "none: no refresh token is stored, although there is a signing key for calls to Apple",
                        advice: advice)
            ]
        }
        let names = keys.keys.map(\.name)
        let others = names.count > 1 ? "; \(names.dropFirst().joined(separator: ", ")) can only open" : ""
        return [.good(Self.name, "\(names[0]) seals\(others)")]
    }
}
