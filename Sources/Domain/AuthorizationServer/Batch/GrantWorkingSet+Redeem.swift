import AppleAccounts
import Encodings

extension GrantWorkingSet {
    /// Milliseconds within which a correct repetition of a redemption is taken for a retry whose first
    /// response was lost.
    package static let retryTime: Int64 = 10_000

    /// Redeems a code (RFC 6749 §4.1.3), once.
    ///
    /// The client is checked first, then the redirect URI, the code verifier, and only then whether the code
    /// was used: a request of an attacker without the client's secret or the verifier neither uses the code
    /// up nor ends anything.
    mutating func apply(
        _ command: RedeemCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> IssuedTokens {
        guard let held = ledger.grant(withCode: command.codeDigest), var code = held.code(command.codeDigest)
        else { throw GrantRefusal(.codeNotFound) }
        guard code.oauthClientID == command.oauthClientID else { throw GrantRefusal(.codeOfAnotherClient) }
        guard code.redirectURI.isByteEqual(to: command.redirectURI) else {
            throw GrantRefusal(.redirectURIMismatch)
        }
        guard CodeChallenge.isFulfilled(code.challenge.map { CodeChallenge($0) }, by: command.codeVerifier)
        else { throw GrantRefusal(.codeVerifierMismatch) }
        if let redemption = code.redemption {
            guard command.moment >= redemption.moment.advanced(byMilliseconds: Self.retryTime) else {
                throw GrantRefusal(.codeRetried)
            }
            // RFC 6749 §4.1.2: one of the two parties that redeemed the code has stolen it.
            endFamilies(of: held.record, reason: .tokenReused, at: command.moment, using: &generator) {
                $0.id == redemption.familyID
            }
            throw GrantRefusal(.codeReused)
        }
        guard command.moment < code.expiresAt else { throw GrantRefusal(.codeExpired) }
        let status = try status(held.record, authorizedAt: code.authorizedAt, at: command.moment)

        // Checked before the code is used up: the scope is configuration, and can be restored.
        guard let scope = command.clientScopes.remainder(of: code.scope) else {
            throw GrantRefusal(.scopeWithdrawn)
        }

        let isOffline = ScopeSet(parsing: scope)?.contains(.offlineAccess) ?? false
        let offered = command.needsOfflineAccess && !isOffline ? nil : command.refreshToken
        let family = try begin(
            NewFamily(
                id: command.newFamilyID, scope: code.scope, isNative: command.isNative, refreshToken: offered,
                authenticatedAt: code.authenticatedAt, authorizedAt: code.authorizedAt,
                expiresAt: offered == nil
                    ? command.accessTokenExpiresAt ?? command.familyExpiresAt : command.familyExpiresAt,
                googleSubject: nil),
            of: held.record, command.limits, at: command.moment, using: &generator)
        code.redemption = CodeRecord.Redemption(moment: command.moment, familyID: family.id)
        ledger.put(code)
        return IssuedTokens(
            grant: noteUse(of: held.record, at: command.moment), family: family, scope: scope,
            account: status.account, nonce: code.nonce,
            hasNewRefreshToken: offered != nil)
    }
}
