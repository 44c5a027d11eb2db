package import AppAttestation
package import AppleAccounts
import AppleIdentity
package import AuthorizationServer
import Cryptography
import Encodings
import Inspection
package import JOSE
package import KeySets
package import OAuth
import StrictJSON

/// Runs the service's checks on a token that an operator entered, and decides whether the token is valid
/// now. Stores nothing.
package struct TokenInspector: Sendable {
    package typealias Store = AccountStore & AuthorizationStore & GrantInspectionStore & AppAttestStore

    let deployment: Deployment
    /// The issuers in Apple's tokens.
    private let appleIssuers: [String]
    private let appleKeys: any VerificationKeys
    private let store: any Store
    private let roots: AppAttestRoots
    /// The OAuth server; `nil` if there are no OAuth clients.
    private let oauth: OAuthServer?
    /// The issuer of security event tokens, and the keys that sign them; `nil` if the service signs no such
    /// tokens.
    private let eventIssuer: String?
    private let keys: SigningKeys?
    /// Returns a team's keys for signing client secrets, by key ID.
    private let clientSecretKeys: @Sendable (TeamID) -> [String: TokenVerificationKey]

    package init(
        deployment: Deployment, appleIssuers: [String], appleKeys: any VerificationKeys, store: any Store,
        roots: AppAttestRoots, oauth: OAuthServer?, eventIssuer: String?, keys: SigningKeys?,
        clientSecretKeys: @escaping @Sendable (TeamID) -> [String: TokenVerificationKey]
    ) {
        (self.deployment, self.appleIssuers, self.appleKeys) = (deployment, appleIssuers, appleKeys)
        (self.store, self.roots, self.oauth) = (store, roots, oauth)
        (self.eventIssuer, self.keys) = (eventIssuer, keys)
        self.clientSecretKeys = clientSecretKeys
    }

    /// The token, with the values that the operator entered along with it.
    struct Question: Sendable {
        let text: String
        /// The operator. Checks refuse tokens for apps that the operator may not see.
        let viewer: ConsoleViewer
        let now: Moment
        /// Token kind; `nil` if the inspector should recognize it.
        var kind: InspectedKind?
        var nonce: String?
        var authorizationCode: String?
        var accessToken: String?
        /// Values for an App Attest object.
        var bundleID: String?
        var challenge: String?
        var keyID: String?
        var environment: AttestationEnvironment?
    }

    /// Maximum length in bytes, for the token and for the other values.
    static let longestText = 16_384
    static let longestValue = 4096

    func inspect(_ question: Question) async -> InspectedToken {
        let input = question.kind.map { RecognizedInput.inspected($0) } ?? recognized(question.text)
        switch input {
        case .inspected(.token(let kind)): return await apple(kind, question)
        case .inspected(.issued(let kind)): return await issued(kind, question)
        case .inspected(.object(let kind)): return await object(kind, question)
        case .google(let kind): return await google(kind, question)
        case .clientSecret: return await clientSecret(question)
        case .opaque(let kind): return .opaque(kind)
        case .unknown: return .unknown
        }
    }

    private func recognized(_ text: String) -> RecognizedInput {
        let google = oauth?.dependencies.google ?? .google
        return RecognizedInput(
            text, issuers: [oauth?.dependencies.settings.issuer.text, eventIssuer].compactMap(\.self),
            googleIssuers: google.identityIssuers + [google.eventIssuer])
    }

    private func apps(_ viewer: ConsoleViewer) -> [App] {
        deployment.apps.filter { viewer.scope.allows($0) }
    }

    private func clients(_ viewer: ConsoleViewer) -> [OAuthClient] {
        (oauth?.dependencies.settings.clients.clients ?? []).filter {
            viewer.scope.allows($0.app)
        }
    }

    private func apple(_ kind: TokenKind, _ question: Question) async -> InspectedToken {
        let (apps, now) = (apps(question.viewer), question.now)
        let inspection = TokenInspection(
            kind: kind,
            policy: VerificationPolicy(
                issuers: appleIssuers, clientIDs: apps.flatMap { $0.clientIDs.map(\.rawValue) }),
            expectations: kind == .identityToken
                ? IdentityTokenExpectations(
                    nonce: question.nonce, authorizationCode: question.authorizationCode,
                    accessToken: question.accessToken) : IdentityTokenExpectations(),
            moment: now, masksPersons: !question.viewer.isDevelopment)
        let report = await inspection.inspect(question.text, keys: keySource).form
        var token = InspectedToken(report, signer: "Apple")
        if report.isSigned, kind == .identityToken { await addCredential(to: &token, report, apps, now) }
        return token
    }

    /// Adds the state of the user's credential, which a valid token does not prove.
    private func addCredential(
        to token: inout InspectedToken, _ report: CheckReport, _ apps: [App], _ now: Moment
    ) async {
        let claims = report.sections.first { $0.name == "claims" }?.object
        guard let audience = claims?["aud"]?.string.flatMap({ ClientID($0) }),
            let app = apps.first(where: { $0.clientIDs.contains(audience) }),
            let subject = claims?["sub"]?.string.flatMap({ AppleSubject($0) }),
            let found = try? await store.credentials(
                team: app.team, clientID: app.primaryClientID, subjects: [subject]
            ).first
        else { return }
        let authenticated = claims?["auth_time"]?.integer ?? claims?["iat"]?.integer ?? 0
        // The viewer may see the account, because the credential belongs to one of the viewer's apps.
        var account: Account?
        if found.state != .notFound {
            account = try? await store.account(SubjectKey(team: app.team, subject: subject))
        }
        token.add(found, of: account?.id, authenticatedAt: authenticated, at: now)
    }

    private func issued(_ kind: IssuedTokenKind, _ question: Question) async -> InspectedToken {
        let (viewer, now) = (question.viewer, question.now)
        let clients = clients(viewer)
        let issuer: String?
        var audiences: [String] = []
        switch kind {
        case .accessToken:
            issuer = oauth?.dependencies.settings.issuer.text ?? ""
            audiences = Array(Set(clients.map(\.audience))).sorted()
        case .idToken:
            issuer = oauth?.dependencies.settings.issuer.text ?? ""
            audiences = clients.map(\.id.rawValue)
        case .securityEvent: issuer = eventIssuer ?? ""
        case .refreshToken, .authorizationCode, .deviceCode, .userCode: issuer = nil
        }
        let inspection = IssuedTokenInspection(
            kind: kind, issuer: issuer, audiences: audiences, nonce: kind == .idToken ? question.nonce : nil,
            accessToken: kind == .idToken ? question.accessToken : nil, moment: now,
            masksPersons: !viewer.isDevelopment)
        let visible = Set(clients.map(\.id))
        let report = await inspection.inspect(
            question.text, keys: keySource,
            family: { id in
                let status = try await store.status(ofFamily: id)
                return status.flatMap { viewer.scope.allows($0.grant.clientID) ? $0 : nil }
            },
            codes: { presented in
                // The lookup hides codes for clients of apps that the operator may not see.
                switch try await store.find(presented) {
                case .code(let code)? where visible.contains(code.oauthClientID): .code(code)
                case .device(let device)? where visible.contains(device.oauthClientID): .device(device)
                case .code, .device, nil: nil
                }
            })
        var token = InspectedToken(report, signer: "this service")
        if report.isSigned, kind == .idToken { await addGrant(to: &token, report, clients, now) }
        return token
    }

    /// Adds the state of the user's grant, which can have changed since the ID token was issued.
    private func addGrant(
        to token: inout InspectedToken, _ report: CheckReport, _ clients: [OAuthClient], _ now: Moment
    ) async {
        let claims = report.sections.first { $0.name == "claims" }?.object
        guard let audience = claims?["aud"]?.string,
            let client = clients.first(where: { $0.id.rawValue.isByteEqual(to: audience) }),
            let id = claims?["sub"]?.string.flatMap({ AccountID($0) }),
            let issuedAt = claims?["iat"]?.integer
        else { return }
        do {
            let account = try await store.account(id)
            let grant = try await store.grant(of: id, for: client.id)
            token.add(grant, of: account, to: client.id, issuedAt: issuedAt, at: now)
        } catch {
            token.note("The state of the user's grant is not known: the database cannot be read.")
        }
    }

    private func object(_ kind: AppAttestationKind, _ question: Question) async -> InspectedToken {
        guard let bundleID = question.bundleID.flatMap({ ClientID($0) }),
            let app = apps(question.viewer).first(where: { $0.clientIDs.contains(bundleID) }),
            let appID = AppID(teamID: app.team.rawValue, bundleID: bundleID.rawValue),
            let challenge = question.challenge,
            let keyID = question.keyID.flatMap({ AttestedKeyID(base64: $0) })
        else { return .incompleteObject(kind) }
        let expectation: AttestationInspection.Expectation
        switch kind {
        case .attestation:
            guard let environment = question.environment else { return .incompleteObject(kind) }
            expectation = .attestation(roots: roots, platform: .iOS, keyID: keyID, environment: environment)
        case .assertion:
            guard let record = try? await store.attestedKey(keyID), record.appID == appID,
                let key = try? ECPublicKey(point: record.publicKey)
            else { return .unknownKey }
            expectation = .assertion(key: key, lastCounter: record.counter)
        }
        let report = AttestationInspection(
            appID: appID, clientDataHash: ClientDataHash(hashing: Array(challenge.utf8)),
            expectation: expectation, moment: question.now
        ).inspect(question.text).form
        return InspectedToken(report, signer: kind == .attestation ? "Apple" : "the attested key")
    }

    private func google(_ kind: GoogleTokenKind, _ question: Question) async -> InspectedToken {
        let server = oauth?.dependencies
        let google = server?.google ?? .google
        let keys = kind == .idToken ? server?.googleKeys : server?.googleEventKeys
        let inspection = ForeignTokenInspection(
            rules: .google(
                kind, issuers: kind == .idToken ? google.identityIssuers : [google.eventIssuer],
                clientIDs: clients(question.viewer).flatMap { $0.googleLinking?.googleClientIDs ?? [] }),
            moment: question.now, masksPersons: !question.viewer.isDevelopment
        ) { keyID throws(KeysUnavailable) in
            guard let keys else {
                throw KeysUnavailable(description: "this service has no client of Google")
            }
            do throws(KeySetError) {
                return .rsa(try await keys.key(for: keyID))
            } catch {
                switch error.code {
                case .unknownKey: return nil
                case .keysUnavailable:
                    throw KeysUnavailable(description: "Google's keys cannot be fetched now")
                }
            }
        }
        return InspectedToken(await inspection.inspect(question.text), signer: "Google")
    }

    private func clientSecret(_ question: Question) async -> InspectedToken {
        let apps = apps(question.viewer)
        let keys = apps.map(\.team).reduce(into: [String: TokenVerificationKey]()) { keys, team in
            keys.merge(clientSecretKeys(team)) { first, _ in first }
        }
        let inspection = ForeignTokenInspection(
            rules: .clientSecret(
                teams: Array(Set(apps.map(\.team.rawValue))).sorted(),
                clientIDs: apps.flatMap { $0.clientIDs.map(\.rawValue) },
                appleIssuer: VerificationPolicy.appleIssuer), moment: question.now,
            masksPersons: !question.viewer.isDevelopment
        ) { keyID in keys[keyID].map { .elliptic($0) } }
        return InspectedToken(await inspection.inspect(question.text), signer: "your team")
    }

    private var keySource: ServiceKeySource { ServiceKeySource(apple: appleKeys, own: keys) }
}

/// The running service's keys.
struct ServiceKeySource: InspectedKeySource {
    let apple: any VerificationKeys
    let own: SigningKeys?

    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys {
        InspectedKeys(apple, keyIDs: (apple as? PinnedKeySet)?.keyIDs)
    }

    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue] {
        guard let own else { throw KeysUnavailable(description: "this service signs no tokens") }
        do {
            return try await own.published().map { .object($0) }
        } catch {
            throw KeysUnavailable(description: "the signing keys cannot be read from the database")
        }
    }
}
