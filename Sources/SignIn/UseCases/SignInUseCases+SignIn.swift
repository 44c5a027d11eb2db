public import AppleAccounts
import AppleIdentity
import JOSE

extension SignInUseCases {
    /// Verifies the token, and returns when the sign-in is durable.
    ///
    /// The account lists only the credentials for apps that the caller may see.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`, `AccountRefusal`, `StorageError`,
    ///   `OverloadedError`.
    public func signIn(_ request: SignInRequest, allowed: AppScope) async throws -> SignInOutcome {
        let moment = now()
        let verified = try await verify(request.token, at: moment, allowed: allowed)
        let command = try command(for: verified, from: request, at: moment)
        guard case .signedIn(let outcome) = try await commits.submit(.signIn(command)) else {
            preconditionFailure("a sign-in has the outcome of a sign-in")
        }
        // After the commit: whoever is woken must find the code.
        if command.authorizationCode != nil { relation.bells.exchange.ring() }
        return outcome.narrowed(to: allowed)
    }

    private func command(
        for verified: VerifiedSignIn, from request: SignInRequest, at moment: Moment
    ) throws(AppleTokenError) -> SignInCommand {
        let identity = verified.identity
        // The verifier has checked the same; storage must not depend on it.
        guard let subject = AppleSubject(identity.subject) else { throw AppleTokenError(.subjectInvalid) }
        let code = offer(for: verified, from: request, at: moment)
        return SignInCommand(
            key: SubjectKey(team: verified.app.team, subject: subject),
            clientID: verified.app.primaryClientID,
            authorizedAt: Moment(seconds: identity.authorizationMoment.secondsSince1970),
            email: identity.email.flatMap { address in
                EmailAddress(
                    address: address, isVerified: identity.emailVerified ?? false,
                    isPrivate: identity.isPrivateEmail ?? false)
            },
            realUserStatus: identity.realUserStatus, firstName: request.user?.firstName,
            lastName: request.user?.lastName, unsignedEmail: request.user?.email,
            createsAccount: request.createsAccount, nonce: mintedNonceDigest(of: request.token.nonce),
            carriedNonce: identity.nonce.flatMap { MintedNonce.digest(carriedBy: $0) },
            authorizationCode: code.offer, refreshTokenCause: code.cause,
            transferSubject: identity.transferSubject, receivedAt: moment)
    }

    /// A sign-in without a code costs nothing here.
    private func offer(
        for verified: VerifiedSignIn, from request: SignInRequest, at moment: Moment
    ) -> (offer: AuthorizationCodeOffer?, cause: RefreshTokenCause?) {
        // The verifier has bound the code to the token, and the token's own audience is the client ID that
        // Apple issued the code to.
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

    /// `nil` for a nonce of the caller's own.
    private func mintedNonceDigest(of nonce: String?) -> NonceDigest? {
        guard let nonce, nonce.utf8.starts(with: MintedNonce.prefix.utf8) else { return nil }
        return NonceDigest(SHA256Digest.hash(nonce))
    }
}
