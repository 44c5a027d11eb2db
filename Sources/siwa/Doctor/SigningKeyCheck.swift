import AppleAccounts
import AppleIDClient
import Foundation

/// Checks that each team has a private key that can be read and has the right format.
struct SigningKeyCheck: DoctorCheck {
    static let name = "signing key"

    let settings: ServiceSettings

    func run() -> [Finding] {
        Set(settings.deployment.apps.map(\.team)).sorted().flatMap { examine($0) }
    }

    private func examine(_ team: TeamID) -> [Finding] {
        guard let location = settings.signingKeys[team] else {
            return [
                .note(
                    Self.name,
                    "none for team \(team.rawValue): refresh tokens cannot be obtained, checked, or revoked at erasure",
                    advice: "Create a key for Sign in with Apple at developer.apple.com (Keys), and set "
                        + "APPLE_PRIVATE_KEY_FILE to its AuthKey_<key ID>.p8.")
            ]
        }
        do throws(SigningKeyError) {
            let names = try SigningKeyFiles.read(location).map(\.keyID).joined(separator: ", ")
            return [.good(Self.name, "\(names) of team \(team.rawValue), P-256")] + remarks(on: location)
        } catch {
            return [
                .wrong(
                    Self.name, "team \(team.rawValue): \(error.errorText)",
                    advice: "Download the key again, or create a new one, at developer.apple.com (Keys).")
            ]
        }
    }

    private func remarks(on location: SigningKeyLocation) -> [Finding] {
        guard case .file(let path, let keyID) = location else { return [] }
        var findings: [Finding] = []
        if let keyID, let named = SigningKeyLocation.keyID(inFileName: path), named != keyID {
            findings.append(
                .note(
                    Self.name, "the file name has key ID \(named), the configuration has \(keyID)",
                    advice:
                        "If Apple refuses the client secret, remove APPLE_KEY_ID, so that the ID in the file name is used."
                ))
        }
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        if let mode, mode & 0o004 != 0 {
            findings.append(
                .note(
                    Self.name, "every user of this machine can read the key file",
                    advice: "Set its mode to 600 and its owner to the user that runs siwa."))
        }
        return findings
    }
}
