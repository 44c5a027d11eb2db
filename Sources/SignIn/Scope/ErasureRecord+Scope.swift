import AppleAccounts

extension ErasureRecord {
    /// The record without the apps, and their grants, that the caller may not see.
    func narrowed(to scope: AppScope) -> ErasureRecord {
        ErasureRecord(
            id: id, accountID: accountID, team: team, requestedAt: requestedAt, deadline: deadline,
            finishedAt: finishedAt, apps: apps.filter { scope.allows($0.clientID) },
            grants: grants.filter { scope.allows($0.primaryClientID) })
    }
}
