/// Records that Apple refused a refresh token: it responded to a daily check with `invalid_grant`.
public struct RejectionCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// The client ID that the token was issued to.
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let tokenID: UniqueID
    /// Time of the request to Apple, by our clock.
    public let moment: Moment

    public init(
        key: SubjectKey, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        tokenID: UniqueID, moment: Moment
    ) {
        self.key = key
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.tokenID = tokenID
        self.moment = moment
    }
}

/// The result after a refresh token was refused.
public enum RejectionReceipt: Sendable, Hashable {
    /// The credential is now revoked, and its tokens were removed.
    case revoked
    /// The token was removed. Its authorization had already been revoked, so the refusal changes no state.
    case dropped
    /// The refused token is not the held token, so the credential does not change.
    case ignored
}

extension WorkingSet {
    /// Applies Apple's refusal of a refresh token. Only a refusal of the held token counts, because a refusal
    /// of a replaced token proves nothing.
    mutating func apply(
        _ command: RejectionCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> RejectionReceipt {
        let position = position(of: command.key)
        guard subjects[position].accountID == command.accountID else {
            throw AccountRefusal(.accountNotFound)
        }
        let tokens = tokens[command.accountID]?.tokens ?? []
        guard let token = tokens.first(where: { $0.id == command.tokenID && $0.clientID == command.clientID })
        else {
            note(.ignored, of: command, at: command.moment)
            return .ignored
        }
        let before = subjects[position].record(for: command.primaryClientID)
        guard before.admits(authorizationAt: token.authorizedAt) else {
            drop(token, of: position, .credentialRevoked)
            note(.dropped, of: command, at: command.moment)
            return .dropped
        }
        // The moment is never earlier than the authorization that the refusal ends, even if our clock is
        // behind Apple's.
        let moment = max(command.moment, token.authorizedAt)
        drop(token, of: position, .rejected)
        dropAppleTokens(of: position, app: command.primaryClientID, upTo: moment)
        if subjects[position].refreshToken(of: command.primaryClientID)?.mayHaveAppleTokens != true {
            subjects[position].setRefreshToken(.unavailable(.rejected), of: command.primaryClientID)
        }
        let index = subjects[position].touchCredential(of: command.primaryClientID)
        subjects[position].credentials[index].record.merge(
            Revocation(moment: moment, reason: .refreshTokenRejected, source: .dailyCheck))
        let record = subjects[position].record(for: command.primaryClientID)
        if before.state != .revoked, record.state == .revoked {
            events.append(
                AccountEvent(
                    id: EventID(UniqueID(at: command.moment, using: &generator)), kind: .credentialRevoked,
                    key: command.key, accountID: command.accountID, clientID: command.primaryClientID,
                    reason: record.reason, source: record.source, moment: moment, recordedAt: command.moment))
        }
        note(.revoked, of: command, at: moment)
        return .revoked
    }

    private mutating func drop(
        _ token: RefreshTokenRecord, of position: Int, _ cause: RefreshTokenCause
    ) {
        tokens[token.accountID]?.tokens.removeAll { $0.id == token.id }
        appleTokenChanges.append(.removeToken(token.accountID, token.clientID))
        let left = tokens[token.accountID]?.status(of: token.primaryClientID)
        subjects[position].setRefreshToken(left ?? .unavailable(cause), of: token.primaryClientID)
    }
}
