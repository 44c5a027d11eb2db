import AppleAccounts
import AuthorizationServer

/// Ends the grants of credentials that account commands have ended, in their transaction, which has locked the
/// subjects.
struct EndedGrants {
    /// Of the transaction, with those of grants in their places.
    let events: [AccountEvent]
    /// What is to be written.
    let calls: [PostgresCall]

    /// Reads in one round trip, and only when a credential has ended.
    init(of set: WorkingSet, _ names: PostgresNames, in session: PostgresSession) throws {
        guard var ending = GrantEnding(of: set) else {
            (events, calls) = (set.events, [])
            return
        }
        let results = try session.pipeline(HeldGrantRows.calls(for: ending.accountIDs))
        let held = try HeldGrantRows(results[...], names, in: session)
        ending.load(grants: held.grants, lines: held.lines, codes: held.codes)
        var generator = SystemRandomNumberGenerator()
        events = ending.carryOut(set.events, using: &generator)
        calls =
            GrantChangeWriter.calls(for: ending.changes)
            + GrantChangeWriter.forgetCalls(googleSubjects: ending.forgottenGoogleSubjects)
    }
}
