import AppleAccounts
import AppleIDClient
import Foundation

/// Whether each team has a private key that can be read and is what Apple gives out.
struct SigningKeyCheck: DoctorCheck {
    static let name = "signing key"

    let settings: ServiceSettings

    func examine() -> [Finding] {
        Set(settings.deployment.apps.map(\.team)).sorted().flatMap { examine($0) }
    }

    private func examine(_ team: TeamID) -> [Finding] {
        guard let location = settings.signingKeys[team] else {
            return [
                .note(
                    Self.name,
                    "none for team \(team.rawValue): no refresh token can be had, checked, or revoked at erasure",
                    advice: "Make a key for Sign in with Apple at developer.apple.com (Keys), and set "
                        + "APPLE_PRIVATE_KEY_FILE to its AuthKey_<key ID>.p8.")
            ]
        }
        do throws(SigningKeyError) {
            let names = try SigningKeyFiles.read(location).map(\.keyID).joined(separator: ", ")
            return [.good(Self.name, "\(names) of team \(team.rawValue), P-256")] + remarks(on: location)
        } catch {
            return [
                .wrong(
                    Self.name, "team \(team.rawValue): \(error.complaint)",
                    advice: "Download the key again, or make a new one, at developer.apple.com (Keys).")
            ]
        }
    }

    private func remarks(on location: SigningKeyLocation) -> [Finding] {
        guard case .file(let path, let keyID) = location else { return [] }
        var findings: [Finding] = []
        if let keyID, let named = SigningKeyLocation.keyID(inFileName: path), named != keyID {
            findings.append(
                .note(
                    Self.name, "the file is named for key \(named), the configuration says \(keyID)",
                    advice:
                        "If Apple refuses the client secret, this is why: leave APPLE_KEY_ID out to use the file's."
                ))
        }
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        if let mode, mode & 0o004 != 0 {
            findings.append(
                .note(
                    Self.name, "every user of this machine may read the key file",
                    advice: "chmod 600, and let it belong to the user that runs siwa."))
        }
        return findings
    }
}
