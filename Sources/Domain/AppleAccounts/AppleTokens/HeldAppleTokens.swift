/// An account's codes and tokens.
public struct HeldAppleTokens: Sendable, Hashable {
    public var codes: [AuthorizationCodeRecord]
    public var tokens: [RefreshTokenRecord]
    /// Codes from sign-ins in the same working set, which have no rows yet.
    var newCodes: [NewAuthorizationCode] = []

    public init(codes: [AuthorizationCodeRecord] = [], tokens: [RefreshTokenRecord] = []) {
        (self.codes, self.tokens) = (codes, tokens)
    }

    /// Returns the status for one app; `nil` when there is neither a code nor a token.
    func status(of clientID: ClientID) -> RefreshTokenStatus? {
        if tokens.contains(where: { $0.primaryClientID == clientID }) { return .held }
        let isPending =
            codes.contains { $0.primaryClientID == clientID }
            || newCodes.contains { $0.primaryClientID == clientID }
        return isPending ? .pending : nil
    }

    /// Removes a code. Returns false when there is no code with this ID.
    mutating func removeCode(_ id: UniqueID) -> Bool {
        let count = codes.count + newCodes.count
        codes.removeAll { $0.id == id }
        newCodes.removeAll { $0.id == id }
        return codes.count + newCodes.count < count
    }

    /// Removes the codes that have ended, and returns their IDs and apps.
    mutating func removeCodes(
        where isEnded: (_ primaryClientID: ClientID, _ authorizedAt: Moment) -> Bool
    ) -> [(id: UniqueID, primaryClientID: ClientID)] {
        var removed: [(id: UniqueID, primaryClientID: ClientID)] = []
        codes.removeAll { code in
            guard isEnded(code.primaryClientID, code.authorizedAt) else { return false }
            removed.append((code.id, code.primaryClientID))
            return true
        }
        newCodes.removeAll { code in
            guard isEnded(code.primaryClientID, code.authorizedAt) else { return false }
            removed.append((code.id, code.primaryClientID))
            return true
        }
        return removed
    }
}

/// A change to codes and tokens. A store writes the changes in order, at the end of the batch.
public enum AppleTokenChange: Sendable, Hashable {
    /// Inserts a code, sealed by the store's sealer. Does nothing if a code with this ID exists, because
    /// then the command is a repetition.
    case insertCode(NewAuthorizationCode)
    case removeCode(UniqueID)
    /// Replaces the token for the same account and client ID.
    case putToken(RefreshTokenRecord)
    case removeToken(AccountID, ClientID)
    /// Removes the codes and tokens for all client IDs.
    case removeAll(AccountID)
}

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

    /// Drops the codes and tokens for one app, or for all apps, that were authorized up to a moment, because
    /// Apple has revoked them too.
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
