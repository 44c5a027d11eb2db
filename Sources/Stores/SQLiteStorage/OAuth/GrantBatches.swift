import AppleAccounts
import AuthorizationServer
import GRDB

/// The writing connection's grant statements, prepared at first use, because a deployment without OAuth
/// clients uses them only when a credential ends. Must stay on the connection's queue, and must not be used
/// again after an error.
final class GrantBatches {
    private let question: GrantSelectionRows
    private let devices: DeviceRows
    private let held: StoredGrantRows
    private let writer: GrantChangeWriter
    private let subjects: SubjectRows

    init(_ names: Names, _ subjects: SubjectRows, in database: Database) throws {
        self.subjects = subjects
        question = try GrantSelectionRows(in: database)
        devices = try DeviceRows(in: database)
        held = try StoredGrantRows(names, in: database)
        writer = try GrantChangeWriter(names, in: database)
    }

    /// Loads the rows for a batch of grant commands, applies the commands and saves the changes, inside a
    /// transaction.
    ///
    /// - Returns: The results, the events to append with their subjects' rows, and the audit log entries.
    func applyAndSave(
        _ commands: [GrantCommand], using generator: inout some RandomNumberGenerator
    ) throws -> (
        results: [Result<GrantOutcome, any Error>], events: [(event: AccountEvent, rowID: Int64)],
        audit: [AuditEntry]
    ) {
        var set = GrantWorkingSet(commands)
        let accounts = try question.accounts(set.question)
        var rowIDs: [AccountID: Int64] = [:]
        for id in accounts {
            guard let found = try subjects.find(id) else {
                if try question.wasErased(id) { set.load(erased: id) }
                continue
            }
            set.load(found.record)
            rowIDs[id] = found.place.rowID
        }
        for id in set.question.accountsOfPaces(among: accounts) {
            for pace in try question.paces(of: id) { set.load(pace) }
        }
        for jti in set.question.eventIdentifiers where try question.isKept(googleEvent: jti) {
            set.load(googleEvent: jti)
        }
        for subject in set.question.googleSubjects {
            if let account = try question.googleAccount(subject) { set.load(account) }
        }
        try devices.load(into: &set)
        let results = try loadGrantsAndApply(&set, of: accounts, using: &generator)
        try writer.save(set.changes)
        try writer.save(set.deviceChanges)
        try writer.save(set.changedPaces)
        try writer.save(set.newGoogleEvents, set.changedGoogleAccounts)
        let events = try set.events.map { event in
            guard let rowID = event.accountID.flatMap({ rowIDs[$0] }) else {
                throw StorageError(
                    .corrupted,
                    detail: "expected a row for the user of a grant, found none; restore a backup")
            }
            return (event, rowID)
        }
        return (results, events, set.audit)
    }

    /// Loads and applies one group. Reads only the codes that the group needs, because a user may have a
    /// hundred codes from the last days, and most commands need none of them.
    private func loadGrantsAndApply(
        _ set: inout GrantWorkingSet, of accounts: [AccountID],
        using generator: inout some RandomNumberGenerator
    ) throws -> [Result<GrantOutcome, any Error>] {
        let empty = set
        if !set.question.needsAllCodes {
            let held = try held.load(accounts, codes: set.question.codeDigests)
            set.load(grants: held.grants, families: held.families, codes: held.codes, hasAllCodes: false)
            let results = set.applyCommands(using: &generator)
            guard set.isMissingCodes else { return results }
            set = empty
        }
        let held = try held.load(accounts)
        set.load(grants: held.grants, families: held.families, codes: held.codes)
        return set.applyCommands(using: &generator)
    }

    /// Ends the grants of credentials that have ended, inside the account commands' transaction.
    ///
    /// - Returns: The transaction's events, with the grant events at their positions, and the audit log
    ///   entries about the grants.
    func carryOut(
        _ ending: GrantEnding, _ events: [AccountEvent], using generator: inout some RandomNumberGenerator
    ) throws -> (events: [AccountEvent], audit: [AuditEntry]) {
        var ending = ending
        let held = try held.load(ending.accountIDs)
        guard !held.grants.isEmpty else { return (events, []) }
        ending.load(grants: held.grants, families: held.families, codes: held.codes)
        let all = ending.carryOut(events, using: &generator)
        try writer.save(ending.changes)
        try writer.forget(googleSubjects: ending.forgottenGoogleSubjects)
        return (all, ending.audit)
    }
}
