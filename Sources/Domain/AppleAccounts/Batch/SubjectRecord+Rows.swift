extension SubjectRecord {
    /// Marks the row that holds everything except the credentials. A subject without a row gets a new row.
    mutating func touchRow() {
        if rowChange == .none { rowChange = isStored ? .update : .insert }
    }

    /// Leaves the tombstone alone and begins a new row, because the user came back.
    mutating func leaveTombstone() {
        guard isTombstone else { return }
        isTombstone = false
        isStored = false
        rowChange = .insert
    }

    /// The record as it is loaded after its changes are saved; `nil` when the store has no row of it, or a
    /// tombstone.
    public var saved: SubjectRecord? {
        guard !isTombstone, isStored || rowChange == .insert else { return nil }
        var record = self
        record.isStored = true
        record.hasRowOfAllApps = hasRowOfAllApps || hasFactsOfAllApps
        record.rowChange = .none
        for index in record.credentials.indices { record.credentials[index].rowChange = .none }
        return record
    }

    /// Marks the row of one app's credential, and creates the credential if it is missing. Returns its index.
    mutating func touchCredential(of clientID: ClientID) -> Int {
        let (index, isPresent) = position(of: clientID)
        if isPresent {
            if credentials[index].rowChange == .none { credentials[index].rowChange = .update }
        } else {
            credentials.insert(AppCredential(clientID: clientID), at: index)
            credentials[index].rowChange = .insert
            // A credential refers to its subject's row.
            if !isStored { touchRow() }
        }
        return index
    }

    /// Sets the refresh token status of an app's credential.
    mutating func setRefreshToken(_ status: RefreshTokenStatus, of clientID: ClientID) {
        let (index, isPresent) = position(of: clientID)
        guard !isPresent || credentials[index].refreshToken != status else { return }
        credentials[touchCredential(of: clientID)].refreshToken = status
    }

    func refreshToken(of clientID: ClientID) -> RefreshTokenStatus? {
        credentials.first { $0.clientID == clientID }?.refreshToken
    }
}
