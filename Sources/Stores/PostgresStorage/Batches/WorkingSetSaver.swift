import AppleAccounts

/// Turns what a working set has changed into statements. Their number does not depend on its size.
struct WorkingSetSaver {
    let names: PostgresNames
    let ids: SubjectIDs
    let sealing: any AppleTokenSealing

    /// Returns the statements without the events, which belong at the end of the transaction.
    ///
    /// - Parameters:
    ///   - order: Positions of the subjects in the order in which all replicas insert new rows.
    ///   - rowIDs: Row IDs of the subjects; new subjects get an ID here.
    func calls(
        for set: WorkingSet, order: [Int], rowIDs: inout [Int64?], in session: PostgresSession
    ) throws -> [PostgresCall] {
        var (newSubjects, changedSubjects) = (SubjectArrays(), SubjectArrays())
        var (putCredentials, changedCredentials) = (CredentialArrays(), CredentialArrays())
        for position in order {
            let record = set.subjects[position]
            if record.rowChange == .insert {
                let rowID = try ids.next(in: session)
                rowIDs[position] = rowID
                newSubjects.add(record, rowID: rowID)
            }
            guard let rowID = rowIDs[position] else { continue }
            if record.rowChange == .update, !record.isTombstone { changedSubjects.add(record, rowID: rowID) }
            // An erasure leaves a new revocation under a row that is otherwise finished.
            if record.rowChange != .none || !set.erasures.isEmpty, let facts = record.factsOfAllApps {
                putCredentials.add(facts, rowID: rowID)
            }
            for credential in record.credentials {
                let app = try names.apps.ensuredNumber(of: credential.clientID)
                let email = record.email?.moment
                switch credential.rowChange {
                case .insert: putCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .update: changedCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .none where record.rowChange == .update:
                    // Rewritten, so that a sign-in that another transaction processes without a lock, from
                    // the old state of the subject, finds its credential changed.
                    changedCredentials.add(credential, app: app, email: email, rowID: rowID)
                case .none: break
                }
            }
        }
        let subjectCalls = [
            try newSubjects.insertCall(names), changedSubjects.updateCall(), changedCredentials.updateCall(),
            putCredentials.putCall(),
        ]
        let inboxCall = try InboxRows(names: names).insertCall(set.keptNotifications)
        let grantCalls = try PostgresAppleTokenWriter.calls(for: set.appleTokenChanges, sealing: sealing)
        return subjectCalls.compactMap { $0 } + grantCalls
            + AttestedKeyRows.saveCalls(set)
            + [NonceRows.insertCall(set), inboxCall, try HistoryRows.appendCall(set, names)]
            .compactMap { $0 }
    }
}
