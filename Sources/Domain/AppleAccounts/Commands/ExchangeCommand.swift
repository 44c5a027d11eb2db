/// Records the result of an authorization code exchange.
public struct ExchangeCommand: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
        /// - Parameter authorizedAt: Authorization time from the identity token that came with the code.
        case token(SealedSecret, tokenID: UniqueID, authorizedAt: Moment, nextCheckAt: Moment)
        case unavailable(RefreshTokenCause)
    }

    public let codeID: UniqueID
    public let key: SubjectKey
    public let accountID: AccountID
    /// The client ID that the code was issued to.
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let outcome: Outcome
    /// Arrival time, by our clock.
    public let receivedAt: Moment

    public init(
        codeID: UniqueID, key: SubjectKey, accountID: AccountID, clientID: ClientID,
        primaryClientID: ClientID, outcome: Outcome, receivedAt: Moment
    ) {
        self.codeID = codeID
        self.key = key
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.outcome = outcome
        self.receivedAt = receivedAt
    }
}

/// The receipt for an exchange.
public enum ExchangeReceipt: Sendable, Hashable {
    /// The service holds the token.
    case kept
    /// The service already held this token, or a token from a later authorization.
    case superseded
    /// The credential was revoked after the token was authorized, so the token is not stored.
    case dropped
    /// There was no token, and the code was removed.
    case unavailable
}

extension WorkingSet {
    /// Applies the result of an exchange. Its order relative to other exchanges and to revocations does
    /// not matter.
    mutating func apply(_ command: ExchangeCommand) throws(AccountRefusal) -> ExchangeReceipt {
        let position = position(of: command.key)
        guard subjects[position].accountID == command.accountID else {
            throw AccountRefusal(.accountNotFound)
        }
        let wasThere = removeCode(command.codeID, of: command.accountID)
        switch command.outcome {
        case .token(let sealed, let tokenID, let authorizedAt, let nextCheckAt):
            let token = RefreshTokenRecord(
                id: tokenID, accountID: command.accountID, clientID: command.clientID,
                primaryClientID: command.primaryClientID, sealed: sealed, authorizedAt: authorizedAt,
                nextCheckAt: nextCheckAt)
            let receipt = take(token, of: position)
            settle(command, otherwise: receipt == .dropped ? .credentialRevoked : nil)
            note(receipt, of: command)
            return receipt
        case .unavailable(let cause):
            // If the code is gone, the result of the exchange has already been applied, or a revocation
            // removed the code.
            settle(command, otherwise: wasThere ? cause : nil)
            if wasThere { note(.unavailable, of: command) }
            return .unavailable
        }
    }

    private mutating func take(_ token: RefreshTokenRecord, of position: Int) -> ExchangeReceipt {
        let record = subjects[position].record(for: token.primaryClientID)
        guard record.admits(authorizationAt: token.authorizedAt) else { return .dropped }
        let held = tokens[token.accountID]?.tokens.first { $0.clientID == token.clientID }
        guard held.map({ token.isNewer(than: $0) }) ?? true else { return .superseded }
        put(token)
        return .kept
    }

    /// Sets the credential's status from the held codes and tokens, or to the cause if there are none.
    private mutating func settle(_ command: ExchangeCommand, otherwise cause: RefreshTokenCause?) {
        let held = tokens[command.accountID]?.status(of: command.primaryClientID)
        guard let status = held ?? cause.map({ .unavailable($0) }) else { return }
        subjects[position(of: command.key)].setRefreshToken(status, of: command.primaryClientID)
    }
}
