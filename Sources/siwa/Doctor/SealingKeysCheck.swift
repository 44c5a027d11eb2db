import Cryptography

/// Whether there is a key that seals what is stored.
struct SealingKeysCheck: DoctorCheck {
    static let name = "sealing keys"

    let settings: ServiceSettings

    func examine() -> [Finding] {
        guard let keys = settings.sealingKeys else {
            let advice = "siwa sealing-key makes one for SIWA_SEALING_KEYS."
            return [
                settings.signingKeys.isEmpty
                    ? .note(Self.name, "none: no refresh token is kept", advice: advice)
                    : .wrong(
                        Self.name,
                        "none: no refresh token is kept, although there is a key to call Apple with",
                        advice: advice)
            ]
        }
        let names = keys.keys.map(\.name)
        let others = names.count > 1 ? ", also \(names.dropFirst().joined(separator: ", ")) can open" : ""
        return [.good(Self.name, "\(names[0]) seals\(others)")]
    }
}
