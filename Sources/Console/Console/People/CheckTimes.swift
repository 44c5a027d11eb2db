import AppleAccounts
import SignIn

/// Times of the daily checks of a person's refresh tokens at Apple. A check that Apple answers with yes leaves no
/// entry, because there is one for each user and day: its time is concluded from that of the next.
struct CheckTimes {
    /// By the primary client ID of the app.
    let next: [ClientID: PlannedCheck]
    let schedule: CheckSchedule
    /// The entries of the history.
    let history: [SeenHistoryEntry]

    func facts(of app: ClientID) -> [PersonValues.Fact] {
        guard let planned = next[app] else { return [] }
        return [
            PersonValues.Fact(
                name: "Last check at Apple",
                value: planned.uncheckedSince.map { "due since \($0.shown), none has succeeded" }
                    ?? last(of: app, before: planned.next)),
            PersonValues.Fact(name: "Next check at Apple", value: planned.next.shown),
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
