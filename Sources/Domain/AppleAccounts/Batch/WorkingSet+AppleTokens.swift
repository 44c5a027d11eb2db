extension WorkingSet {
    mutating func insert(_ code: NewAuthorizationCode) {
        tokens[code.accountID, default: HeldAppleTokens()].newCodes.append(code)
        appleTokenChanges.append(.insertCode(code))
    }

    mutating func removeCode(_ id: UniqueID, of account: AccountID) -> Bool {
        guard tokens[account]?.removeCode(id) == true else { return false }
        appleTokenChanges.append(.removeCode(id))
        return true
    }

    mutating func put(_ token: RefreshTokenRecord) {
        var held = tokens[token.accountID] ?? HeldAppleTokens()
        held.tokens.removeAll { $0.clientID == token.clientID }
        held.tokens.append(token)
        tokens[token.accountID] = held
        appleTokenChanges.append(.putToken(token))
    }

    /// Drops the codes and tokens of an app, or of all apps, that were authorized up to a moment, as Apple
    /// does.
    mutating func dropAppleTokens(of position: Int, app: ClientID?, upTo moment: Moment) {
        guard let accountID = subjects[position].accountID, let before = tokens[accountID] else { return }
        var held = before
        func isEnded(_ primaryClientID: ClientID, _ authorizedAt: Moment) -> Bool {
            (app == nil || primaryClientID == app) && authorizedAt <= moment
        }
        var touched: Set<ClientID> = []
        for code in held.removeCodes(where: isEnded) {
            appleTokenChanges.append(.removeCode(code.id))
            touched.insert(code.primaryClientID)
        }
        for token in before.tokens where isEnded(token.primaryClientID, token.authorizedAt) {
            held.tokens.removeAll { $0.id == token.id }
            appleTokenChanges.append(.removeToken(accountID, token.clientID))
            touched.insert(token.primaryClientID)
        }
        tokens[accountID] = held
        for clientID in touched.sorted() {
            subjects[position].setRefreshToken(
                held.status(of: clientID) ?? .unavailable(.credentialRevoked), of: clientID)
        }
    }
}
