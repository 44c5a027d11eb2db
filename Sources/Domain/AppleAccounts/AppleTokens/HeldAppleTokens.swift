/// The codes and tokens of one account.
public struct HeldAppleTokens: Sendable, Hashable {
    public var codes: [AuthorizationCodeRecord]
    public var tokens: [RefreshTokenRecord]
    /// Codes that sign-ins of the same working set brought; they have no row yet.
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

    /// Returns `false` when there is no code with this ID.
    mutating func removeCode(_ id: UniqueID) -> Bool {
        let count = codes.count + newCodes.count
        codes.removeAll { $0.id == id }
        newCodes.removeAll { $0.id == id }
        return codes.count + newCodes.count < count
    }

    /// Removes the ended codes, and returns their IDs and apps.
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

/// A write of a store to codes and tokens at the end of a batch, in this order.
public enum AppleTokenChange: Sendable, Hashable {
    /// Inserts a code, sealed with the hook that the store was opened with. Does nothing when a code with
    /// this ID exists, because the command was repeated.
    case insertCode(NewAuthorizationCode)
    case removeCode(UniqueID)
    /// Replaces the token of the same account and client ID.
    case putToken(RefreshTokenRecord)
    case removeToken(AccountID, ClientID)
    /// Codes and tokens of all client IDs.
    case removeAll(AccountID)
}
