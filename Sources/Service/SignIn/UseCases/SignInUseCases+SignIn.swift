public import AppleAccounts
import AppleIdentity
public import Commits
import KeySets

extension SignInUseCases {
    /// Verifies the token, and returns the command to commit. Stores nothing by itself.
    ///
    /// Waits only when the token's key has to be fetched. The account in the result lists only the
    /// credentials for apps that the caller may see.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `NonceNotMinted`. The commit throws `AccountRefusal`,
    ///   `StorageError` and `OverloadedError`.
    public func signIn(
        _ request: SignInRequest, allowed: AppScope
    ) throws -> Step<PendingCommit<SignInOutcome>> {
        let moment = now()
        let token = try UnverifiedToken(request.token.identityToken)
        if let key = keys.cachedKey(for: token.keyID) {
            let verified = try verify(token, with: key, against: request.token, at: moment, allowed: allowed)
            return .now(try pendingSignIn(verified, from: request, at: moment, allowed: allowed))
        }
        return .later {
            let key = try await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt)
            let verified = try verify(token, with: key, against: request.token, at: moment, allowed: allowed)
            return try pendingSignIn(verified, from: request, at: moment, allowed: allowed)
        }
    }

    /// Prepares the sign-in with a token that `verify` has accepted, without verifying it once more.
    ///
    /// - Parameter request: The request with the verified token.
    /// - Throws: `AppleTokenError` for a `sub` that cannot be stored; `NonceNotMinted`.
    public func signIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, allowed: AppScope
    ) throws -> PendingCommit<SignInOutcome> {
        try pendingSignIn(verified, from: request, at: now(), allowed: allowed)
    }

    /// Returns the command to commit for a sign-in whose token is verified.
    ///
    /// - Parameters:
    ///   - request: The request with the verified token.
    ///   - proof: The proof of App Attest, which the transaction uses up.
    ///   - demandsProof: Refuses the sign-in in the transaction if the proof does not hold.
    ///   - moment: Time of the request's arrival.
    func pendingSignIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, proof: AppProof? = nil,
        demandsProof: Bool = false, at moment: Moment, allowed: AppScope
    ) throws -> PendingCommit<SignInOutcome> {
        let command = try command(
            for: verified, from: request, proof: proof, demandsProof: demandsProof, at: moment)
        let signal = command.authorizationCode == nil ? nil : tokenContext.signals[CodeExchange.self]
        let ofUser = request.user?.dropped ?? []
        note(dropped: ofUser)
        let dropped = verified.identity.dropped.names + ofUser
        return PendingCommit(command) { outcome in
            // After the commit, because the worker that it wakes must find the code.
            signal?.wake()
            var outcome = outcome.narrowed(to: allowed)
            outcome.dropped = dropped
            return outcome
        }
    }

    private func command(
        for verified: VerifiedSignIn, from request: SignInRequest, proof: AppProof?, demandsProof: Bool,
        at moment: Moment
    ) throws -> SignInCommand {
        let identity = verified.identity
        // The verifier has checked the same. Storage must not depend on the verifier.
        guard let subject = AppleSubject(identity.subject) else { throw AppleTokenError(.subjectInvalid) }
        let nonce = nonce(of: identity, posted: request.token.nonce)
        // A web sign-in has a nonce of its own, which its sealed state makes valid once.
        if request.redirectURI == nil { try demandMintedNonce(for: verified, nonce) }
        let code = offer(for: verified, from: request, at: moment)
        return SignInCommand(
            key: SubjectKey(team: verified.app.team, subject: subject),
            clientID: verified.app.primaryClientID,
            authorizedAt: Moment(seconds: identity.authorizationMoment.secondsSince1970),
            email: identity.email.flatMap { address in
                EmailAddress(
                    address: address, isVerified: identity.emailVerified ?? false,
                    isPrivate: identity.isPrivateEmail)
            },
            realUserStatus: identity.realUserStatus,
            profile: Profile(firstName: request.user?.firstName, lastName: request.user?.lastName),
            unsignedEmail: request.user?.email,
            createsAccount: request.createsAccount,
            nonce: nonce,
            authorizationCode: code.offer, refreshTokenCause: code.cause,
            transferSubject: identity.transferSubject, proof: proof, demandsProof: demandsProof,
            receivedAt: moment)
    }

    /// Returns the code for storage, or the reason for which it is not kept. Both are `nil` for a sign-in
    /// without a code.
    private func offer(
        for verified: VerifiedSignIn, from request: SignInRequest, at moment: Moment
    ) -> (offer: AuthorizationCodeOffer?, cause: RefreshTokenCause?) {
        // The verifier has bound the code to the token by `c_hash`, and Apple issued the code to the client
        // ID in the token's audience.
        guard let code = request.token.authorizationCode, let clientID = ClientID(verified.identity.clientID)
        else { return (nil, nil) }
        let decision = codes.decide(
            on: code, clientID: clientID, redirectURI: request.redirectURI, team: verified.app.team,
            at: moment)
        return switch decision {
        case .keep(let offer): (offer, nil)
        case .leave(let cause): (nil, cause)
        }
    }
}
