import AppleIDClient

/// Finds the likely cause of refused client secrets by comparing the responses to several secrets. Apple
/// responds with `invalid_client` for every cause.
struct ClientSecretDiagnosis {
    static let name = "client secret"

    /// The trials of one team.
    let trials: [ClientSecretTrial]
    /// Seconds by which this machine's clock is ahead of Apple's, if known.
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

    /// Finding for a client ID. Apple accepted another secret of the team, so the team ID and the clock are
    /// right.
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

    /// Keys whose secrets are all refused, although secrets of other keys are accepted.
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
        // It is unlikely that several keys are all bad, or that several client IDs are all misspelled.
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
