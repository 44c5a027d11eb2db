public import AppleAccounts
public import AppleIdentity
public import Commits
import JOSE
import KeySets
public import StrictJSON

extension SignInUseCases {
    /// Prepares a sign-in with a token that `verify` has accepted. Neither verifies the token again nor
    /// judges the app.
    ///
    /// - Parameter request: The request that contains the verified token.
    /// - Throws: `AppleTokenError` if the `sub` cannot be stored; `NonceNotMinted`. The commit throws
    ///   `AccountRefusal`, `StorageError` and `OverloadedError`.
    public func signIn(
        _ verified: VerifiedSignIn, from request: SignInRequest, allowed: AppScope
    ) throws -> Step<SignInOutcome> {
        let prepared = try prepare(verified, from: request, at: now(), allowed: allowed)
        return commits.step(prepared.command, prepared.finish)
    }

    /// Returns the command for a sign-in with a verified token, and the work that follows its commit.
    ///
    /// - Parameters:
    ///   - request: The request that contains the verified token.
    ///   - proof: The App Attest proof, which the transaction consumes.
    ///   - demandsProof: True if the transaction must refuse the sign-in when the proof is invalid.
    ///   - moment: Time at which the request arrived.
    func prepare(
        _ verified: VerifiedSignIn, from request: SignInRequest, proof: AppProof? = nil,
        demandsProof: Bool = false, at moment: Moment, allowed: AppScope
    ) throws -> (command: SignInCommand, finish: @Sendable (SignInOutcome) -> SignInOutcome) {
        let command = try command(
            for: verified, from: request, proof: proof, demandsProof: demandsProof, at: moment)
        let signal = command.authorizationCode == nil ? nil : tokenContext.signals[CodeExchange.self]
        let ofUser = request.user?.dropped ?? []
        note(dropped: ofUser)
        let dropped = verified.identity.dropped.names + ofUser
        return (
            command,
            { outcome in
                // The worker wakes only after the commit, because it must find the code.
                signal?.wake()
                var outcome = outcome
                outcome.narrow(to: allowed)
                outcome.dropped = dropped
                return outcome
            }
        )
    }

    private func command(
        for verified: VerifiedSignIn, from request: SignInRequest, proof: AppProof?, demandsProof: Bool,
        at moment: Moment
    ) throws -> SignInCommand {
        let identity = verified.identity
        // The verifier has already checked this, but storage must not depend on the verifier.
        guard let subject = AppleSubject(identity.subject) else { throw AppleTokenError(.subjectInvalid) }
        let nonce = nonce(of: identity, posted: request.token.nonce)
        // A web sign-in has its own nonce, which the sealed state makes valid only once.
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

    /// Returns the code for storage, or the reason that the code is not stored. Both are `nil` for a sign-in
    /// without a code.
    private func offer(
        for verified: VerifiedSignIn, from request: SignInRequest, at moment: Moment
    ) -> (offer: AuthorizationCodeOffer?, cause: RefreshTokenCause?) {
        // The verifier has bound the code to the token by `c_hash`, so Apple issued the code for the client
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

extension SignInUseCases {
    /// Verifies an identity token from Apple. Stores nothing.
    ///
    /// Waits only for a fetch of the token's key.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`.
    public func verify(
        _ request: IdentityTokenRequest, allowed: AppScope
    ) throws -> Step<VerifiedSignIn> {
        let moment = now()
        // All checks without a key come first, so that malformed tokens cause no fetch.
        let token = try UnverifiedToken(request.identityToken)
        if let key = keys.cachedKey(for: token.keyID) {
            return .now(try verify(token, with: key, against: request, at: moment, allowed: allowed))
        }
        return .later { [self] in
            let key = try await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt)
            return try verify(token, with: key, against: request, at: moment, allowed: allowed)
        }
    }

    func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, against request: IdentityTokenRequest,
        at moment: Moment, allowed: AppScope
    ) throws -> VerifiedSignIn {
        let identity = try identityVerifier.verify(
            token, with: key,
            expecting: IdentityTokenExpectations(
                nonce: request.nonce, clientID: request.clientID,
                authorizationCode: request.authorizationCode, accessToken: request.accessToken),
            at: NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000))
        guard let clientID = ClientID(identity.clientID), let app = deployment.app(for: clientID) else {
            throw AppleTokenError(.audienceMismatch)
        }
        guard allowed.allows(app) else { throw CallerForbidden() }
        note(dropped: identity.dropped.names)
        return VerifiedSignIn(identity: identity, app: app)
    }
}

/// The claims of a verified token, and the app that Apple issued the token for.
public struct VerifiedSignIn: Sendable {
    public let identity: VerifiedIdentity
    public let app: App
}

extension SignInUseCases {
    /// Maximum difference between two replicas' clocks in milliseconds, plus one second because times in
    /// tokens are whole seconds.
    package static let longestClockDifference: Int64 = 301_000

    /// Makes a nonce for one sign-in. Does not wait and stores nothing; the sign-in's transaction consumes
    /// the nonce.
    public func mintNonce() -> MintedNonce {
        nonces.mint(
            expiresAt: now().advanced(byMilliseconds: nonceLifetime.components.seconds * 1000))
    }

    /// Refuses a sign-in without one of this service's nonces, if the app requires one. The transaction
    /// refuses one of this service's nonces if it was used or has expired.
    func demandMintedNonce(for verified: VerifiedSignIn, _ nonce: SignInNonce?) throws(NonceNotMinted) {
        guard verified.app.requiresMintedNonce else { return }
        switch nonce {
        case .minted, .unproven: break
        case .carried, nil: throw NonceNotMinted()
        }
    }

    /// Returns the nonce that the sign-in consumes, or that must be unused.
    func nonce(of verified: VerifiedIdentity, posted: String?) -> SignInNonce? {
        let end = Moment(seconds: verified.expiresAt.secondsSince1970)
        return SignInNonce(
            posted: posted, claim: verified.nonce, mint: nonces,
            keptUntil: end.advanced(byMilliseconds: leeway * 1000 + Self.longestClockDifference))
    }
}

/// A sign-in with an identity token.
public struct SignInRequest: Sendable {
    public var token: IdentityTokenRequest
    /// The `redirect_uri` of the web flow, which Apple requires again when the code is exchanged; `nil` for a
    /// native app.
    public var redirectURI: String?
    public var user: UserProfile?
    /// True if the sign-in creates an account for an unknown user.
    public var createsAccount: Bool

    public init(
        token: IdentityTokenRequest, redirectURI: String? = nil, user: UserProfile? = nil,
        createsAccount: Bool = true
    ) {
        (self.token, self.redirectURI) = (token, redirectURI)
        (self.user, self.createsAccount) = (user, createsAccount)
    }
}

/// An identity token, and the caller's facts about the sign-in, which the token must match.
public struct IdentityTokenRequest: Sendable {
    public var identityToken: String
    /// The raw nonce, before the client hashed it.
    public var nonce: String?
    /// A client ID that restricts the accepted audience, but never extends it.
    public var clientID: String?
    public var authorizationCode: String?
    public var accessToken: String?
    /// Evidence about the app, used only by calls that judge the app.
    public var evidence: AppEvidence

    public init(
        identityToken: String, nonce: String? = nil, clientID: String? = nil,
        authorizationCode: String? = nil,
        accessToken: String? = nil, evidence: AppEvidence = AppEvidence()
    ) {
        self.identityToken = identityToken
        self.nonce = nonce
        self.clientID = clientID
        self.authorizationCode = authorizationCode
        self.accessToken = accessToken
        self.evidence = evidence
    }
}

/// A user's profile. Apple sends it to the app once, at the user's first authorization, and does not sign it.
public struct UserProfile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?
    public var email: String?
    /// Names of dropped or truncated members: `user.name`, `user.email`, or `user` for the whole object.
    public internal(set) var dropped: [String] = []

    public init(firstName: String? = nil, lastName: String? = nil, email: String? = nil) {
        (self.firstName, self.lastName, self.email) = (firstName, lastName, email)
    }
}

extension JSONSchema {
    /// The schema for the names of dropped values: token claims, and parts of `user`.
    public static var dropped: JSONSchema {
        .component("Dropped") {
            let words = DroppedClaims.all.map(\.name) + UserProfile.droppableMembers
            return [
                "type": "array", "minItems": 1,
                "description":
                    "Values that decide nothing and were dropped for their form. Absent without any.",
                "items": .object(JSONSchema.words(words).keywords),
            ]
        }
    }
}
