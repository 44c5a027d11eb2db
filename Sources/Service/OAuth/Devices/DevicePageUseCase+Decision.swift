import AppleAccounts
import AuthorizationServer
import Commits
public import SignIn

/// The user's decision about a device, and the return of the browser from Apple.
extension DevicePageUseCase {
    func decide(
        _ waiting: WaitingDevice, _ decision: ConsentForm.Decision, token: String,
        allowing tickedScopes: Set<String>, _ query: DeviceQuery, _ session: BrowserSession
    ) async throws -> DevicePageOutcome {
        let (client, now) = (waiting.client, server.now())
        guard session.isGood(for: client.app, at: now) else {
            return DevicePageOutcome(.refusal(.signInNeeded), query, client: client)
        }
        // Checked before the decision counts: otherwise another site could refuse for the user.
        guard FormToken.isValid(token, for: waiting.purpose, in: session) else {
            return DevicePageOutcome(.refusal(.formRefused), query, client: client)
        }
        let scopes = ScopeSet(
            authorize.settings.scopes.declarations(of: waiting.scopes)
                .filter { !$0.isOptional || tickedScopes.contains($0.token.rawValue) }.map(\.token))
        let isAgreed = decision == .agree && !scopes.isEmpty
        let command = DecideDeviceCommand(
            deviceDigest: waiting.device.digest, oauthClientID: client.id,
            approval: isAgreed ? approval(of: scopes, client, session, at: now) : nil, moment: now)
        do {
            _ = try await authorize.commits.submit(command)
            return DevicePageOutcome(isAgreed ? .agreed(client) : .refused(client), query, client: client)
        } catch let refusal as GrantRefusal {
            return outcome(of: refusal.code, query, client)
        }
    }

    private func approval(
        of scopes: ScopeSet, _ client: OAuthClient, _ session: BrowserSession, at now: Moment
    ) -> DecideDeviceCommand.Approval {
        var generator = SystemRandomNumberGenerator()
        return DecideDeviceCommand.Approval(
            accountID: session.accountID, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            clientID: client.app, scope: scopes.text, authenticatedAt: session.authenticatedAt,
            authenticatedAfter: AuthenticationAge(longest: client.maxAuthenticationAge).earliest(at: now))
    }

    private func outcome(
        of refusal: GrantRefusal.Code, _ query: DeviceQuery, _ client: OAuthClient
    ) -> DevicePageOutcome {
        switch refusal {
        case .accountDisabled: DevicePageOutcome(.disabled, query, session: .end, client: client)
        case .tooManyGrants: DevicePageOutcome(.refusal(.unavailable), query, client: client)
        // Another tab has decided, or the time is over.
        case .deviceCodeNotFound, .deviceCodeExpired, .deviceDenied:
            DevicePageOutcome(.enter(.over), query, client: client)
        // The credential ended while the page was open. A new sign-in can help.
        case .accountNotFound, .accountErased, .credentialRevoked, .appleAccountDeleted,
            .authenticationTooOld, .codeNotFound, .codeExpired, .codeOfAnotherClient, .redirectURIMismatch,
            .codeVerifierMismatch, .codeRetried, .codeReused, .refreshTokenNotFound, .refreshTokenForged,
            .refreshTokenExpired, .refreshTokenOfAnotherClient, .refreshTokenReused, .scopeExceeded,
            .scopeWithdrawn, .grantNotFound, .googleAccountDisabled, .accountNotMatched, .devicePending,
            .devicePolledEarly, .tooManyDevices, .tooManyFamilies, .userCodeTaken:
            DevicePageOutcome(.refusal(.signInNeeded), query, session: .end, client: client)
        }
    }

    /// Begins the session of a browser that has signed in, and goes on with its request.
    ///
    /// - Parameter sessionCookie: The cookie as the browser sent it.
    public func arrive(
        _ authentication: WebAuthentication, query: String, sessionCookie: String?
    ) -> DevicePageOutcome {
        let query = self.query(query)
        let address = Self.address(of: query)
        return DevicePageOutcome(
            .resume(address), query,
            session: authorize.beginSession(
                of: authentication, for: address, sessionCookie: sessionCookie))
    }

    /// Handles the failure of a sign-in at Apple. The device goes on waiting: the user may try again.
    public func refuse(_ failure: WebFailure, query: String) -> DevicePageOutcome {
        let query = self.query(query)
        if failure.isOfDisabledAccount { return DevicePageOutcome(.disabled, query) }
        let isLater = failure.error == "temporarily_unavailable"
        return DevicePageOutcome(.refusal(isLater ? .unavailable : .signInNeeded), query)
    }
}
