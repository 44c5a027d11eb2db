import AppleAccounts
import SignIn

/// Times of the daily checks of a person's refresh tokens at Apple. A check that Apple answers with yes leaves no
/// entry, because there is one for each user and day: its time is concluded from that of the next.
struct CheckTimes {
    /// By the primary client ID of the app.
    let next: [ClientID: Moment]
    let schedule: CheckSchedule
    /// The entries of the history.
    let history: [SeenHistoryEntry]

    func facts(of app: ClientID) -> [PersonValues.Fact] {
        guard let next = next[app] else { return [] }
        return [
            PersonValues.Fact(name: "Last check at Apple", value: last(of: app, before: next)),
            PersonValues.Fact(name: "Next check at Apple", value: next.shown),
        ]
    }

    private func last(of app: ClientID, before next: Moment) -> String {
        let previous = schedule.previous(before: next)
        // The first check is planned when the token comes.
        let came = history.first { $0.kind == .exchange && $0.outcome == .tokenKept && $0.clientID == app }
        if let came, previous.lowerBound <= came.recordedAt { return "none yet" }
        return "from \(previous.lowerBound.shown) to \(previous.upperBound.shown)"
    }
}
