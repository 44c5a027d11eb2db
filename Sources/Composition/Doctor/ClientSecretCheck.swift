import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import Foundation

/// Checks that Apple accepts the client secrets. For each client ID and each key of its team, it exchanges an
/// invalid code, which works because Apple checks the secret before the code.
struct ClientSecretCheck: DoctorCheck {
    let settings: ServiceSettings
    let client: HTTPClient
    let isReachable: Bool
    let skew: Int64?
    let secondsSince1970: @Sendable () -> Int64

    func run() async -> [Finding] {
        let name = ClientSecretDiagnosis.name
        guard !settings.signingKeys.isEmpty else { return [.skipped(name, "there is no signing key")] }
        guard isReachable else { return [.skipped(name, "Apple has not answered")] }
        var findings: [Finding] = []
        for (team, location) in settings.signingKeys.sorted(by: { $0.key < $1.key }) {
            // `SigningKeyCheck` reports unreadable key files.
            guard let keys = try? SigningKeyFiles.read(location) else { continue }
            let clientIDs = settings.deployment.apps.filter { $0.team == team }.flatMap(\.clientIDs)
            var trials: [ClientSecretTrial] = []
            for key in keys {
                for clientID in clientIDs {
                    trials.append(await attempt(key, team: team, clientID: clientID))
                }
            }
            findings += ClientSecretDiagnosis(trials: trials, skew: skew).findings
        }
        return findings
    }

    private func attempt(_ key: ClientSigningKey, team: TeamID, clientID: ClientID) async -> ClientSecretTrial
    {
        let secrets = SignedClientSecrets(
            teams: [clientID.rawValue: team.rawValue],
            keys: SigningKeyFiles([team.rawValue: .key(key)]), secondsSince1970: secondsSince1970)
        let apple = AppleTokenClient(client: client, endpoints: settings.appleEndpoints, secrets: secrets)
        var refusal: AppleCallError?
        do throws(AppleCallError) {
            _ = try await apple.exchange(
                code: ClientSecretTrial.bogusCode, clientID: clientID.rawValue, redirectURI: nil)
        } catch {
            refusal = error
        }
        return ClientSecretTrial(
            team: team.rawValue, keyID: key.keyID, clientID: clientID.rawValue,
            outcome: ClientSecretTrial.outcome(of: refusal))
    }
}

/// Finds the probable cause of refused client secrets by comparing the responses to several secrets, because
/// Apple responds with `invalid_client` in all cases.
struct ClientSecretDiagnosis {
    static let name = "client secret"

    /// One team's trials.
    let trials: [ClientSecretTrial]
    /// Number of seconds that this machine's clock is ahead of Apple's; `nil` if unknown.
    let skew: Int64?

    var findings: [Finding] {
        for case .unanswered(let code) in trials.map(\.outcome) {
            return [.skipped(Self.name, "Apple's token endpoint has not answered (\(code.rawValue))")]
        }
        guard trials.contains(where: { $0.outcome != .refused }) else { return [nothingAccepted] }
        return clientIDs.map { finding(forClientID: $0) } + findingsForKeys
    }

    private var clientIDs: [String] { unique(trials.map(\.clientID)) }
    private var keyIDs: [String] { unique(trials.map(\.keyID)) }
    private var team: String { trials.first?.team ?? "" }

    /// Returns the finding for a client ID. Apple accepted another of the team's secrets, so the team ID and
    /// the clock are correct.
    private func finding(forClientID clientID: String) -> Finding {
        let own = trials.filter { $0.clientID == clientID }
        if let accepted = own.first(where: { $0.outcome == .accepted }) {
            return .good(Self.name, "\(clientID) is accepted with key \(accepted.keyID)")
        }
        if own.contains(where: { $0.outcome == .unauthorized }) {
            return .wrong(
                Self.name, "\(clientID) may not do this (unauthorized_client)",
                advice: "Turn on Sign in with Apple for it at developer.apple.com (Identifiers).")
        }
        return .wrong(
            Self.name, "\(clientID) is refused (invalid_client), and others of team \(team) are not",
            advice:
                "It is misspelled, belongs to another team, or is not grouped under the primary App ID that "
                + "the key is for: look at developer.apple.com (Identifiers), Services IDs included.")
    }

    /// Findings for keys whose secrets Apple always refused, although it accepted other keys' secrets.
    private var findingsForKeys: [Finding] {
        keyIDs.filter { keyID in
            trials.filter { $0.keyID == keyID }.allSatisfy { $0.outcome == .refused }
        }.map { keyID in
            .wrong(
                Self.name,
                "key \(keyID) is refused for every client ID (invalid_client), and another key is not",
                advice:
                    "It was revoked at Apple, belongs to another team, or the file has another key than that ID. If "
                    + "it was revoked, remove its file.")
        }
    }

    private var nothingAccepted: Finding {
        let everything = "every client ID of team \(team) (\(clientIDs.joined(separator: ", ")))"
        let text = "Apple refuses \(clientIDs.count == 1 ? clientIDs[0] : everything): invalid_client"
        if let skew, skew.magnitude >= ClockCheck.wrong {
            return .wrong(
                Self.name, "\(text), because the clock of this machine is \(skew.magnitude) s off",
                advice:
                    "Correct the clock: Apple refuses a client secret from the future or with an old date.")
        }
        var causes = [
            "The team ID is not \(team): compare with developer.apple.com (Membership details).",
            "The key was revoked, or is not for Sign in with Apple: look for "
                + "\(keyIDs.joined(separator: ", ")) at developer.apple.com (Keys).",
            "The key ID and the file do not belong together: Apple names the file AuthKey_<key ID>.p8.",
        ]
        // Several invalid keys are improbable, and so are several misspelled client IDs.
        if keyIDs.count == 1 { causes.swapAt(0, 1) }
        if clientIDs.count == 1 {
            causes.append(
                "The client ID is misspelled or another team's: look at developer.apple.com (Identifiers).")
        }
        let numbered = causes.enumerated().map { "\($0 + 1). \($1)" }
        let clock =
            skew == nil ? "The clock may be the cause, or one of these:" : "One of these, the likelier first:"
        return .wrong(Self.name, text, advice: ([clock] + numbered).joined(separator: "\n"))
    }

    private func unique(_ texts: [String]) -> [String] {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }
    }
}

/// Apple's response to the client secret for one client ID and one key.
struct ClientSecretTrial: Equatable, Sendable {
    enum Outcome: Equatable, Sendable {
        /// Apple checked the code after the secret, so the secret is valid.
        case accepted
        /// Apple responded with `invalid_client`: the secret is wrong. Apple does not say why.
        case refused
        /// Apple responded with `unauthorized_client`: the secret is valid, but the client ID must not use
        /// this endpoint.
        case unauthorized
        /// No usable response arrived.
        case unanswered(AppleCallError.Code)
    }

    let team: String
    let keyID: String
    let clientID: String
    let outcome: Outcome

    /// An invalid code in a format that Apple does not use, so that the check cannot consume a real code.
    static let bogusCode = "siwa-doctor-asks-with-a-code-that-cannot-be"

    /// - Parameter error: The error from exchanging the invalid code; `nil` if Apple accepted the code, which
    ///   never happens.
    static func outcome(of error: AppleCallError?) -> Outcome {
        guard let error else { return .accepted }
        guard error.code == .rejected else { return .unanswered(error.code) }
        switch error.appleError {
        case .invalidClient: return .refused
        case .unauthorizedClient: return .unauthorized
        case .invalidRequest, .invalidGrant, .unsupportedGrantType, .invalidScope, .other, nil:
            return .accepted
        }
    }
}

/// Checks that each team has a readable private key in the correct format.
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
