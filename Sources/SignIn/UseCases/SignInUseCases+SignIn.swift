public import AppleAccounts
import AppleIdentity

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
        let checked = CheckedSignIn(command: command, scope: allowed)
        let outcome = try await commits.submit(.signIn(command))
        return Self.finish(outcome, ringing: bell(for: checked), allowed: allowed)
    }

    /// Verifies without waiting: `nil` when the key is not at hand, and only `signIn` can say more.
    ///
    /// - Throws: `AppleTokenError`, `CallerForbidden`.
    public func checkNow(_ request: SignInRequest, allowed: AppScope) throws -> CheckedSignIn? {
        let moment = now()
        guard let verified = try verifyNow(request.token, at: moment, allowed: allowed) else { return nil }
        return CheckedSignIn(command: try command(for: verified, from: request, at: moment), scope: allowed)
    }

    /// What is to be committed of a sign-in. Calls `completion` once, on any thread, when it is durable, or with the
    /// errors that `signIn` throws after a verification.
    public func submission(
        of checked: CheckedSignIn,
        completion: @escaping @Sendable (Result<SignInOutcome, any Error>) -> Void
    ) -> Submission {
        // Nothing more is held on to until then than is needed.
        let (bell, scope) = (bell(for: checked), checked.scope)
        return Submission(.signIn(checked.command)) { result in
            completion(result.map { Self.finish($0, ringing: bell, allowed: scope) })
        }
    }

    public func commit(_ submissions: [Submission]) {
        commits.submit(submissions)
    }

    /// To ring after the commit: whoever is woken must find the code.
    private func bell(for checked: CheckedSignIn) -> Doorbell? {
        checked.command.authorizationCode == nil ? nil : relation.bells.exchange
    }

    private static func finish(
        _ outcome: AccountOutcome, ringing bell: Doorbell?, allowed: AppScope
    ) -> SignInOutcome {
        guard case .signedIn(let outcome) = outcome else {
            preconditionFailure("a sign-in has the outcome of a sign-in")
        }
        bell?.ring()
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
                    isPrivate: identity.isPrivateEmail)
            },
            realUserStatus: identity.realUserStatus,
            profile: Profile(firstName: request.user?.firstName, lastName: request.user?.lastName),
            unsignedEmail: request.user?.email,
            createsAccount: request.createsAccount,
            nonce: nonce(of: identity, posted: request.token.nonce),
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
}
