public import Foundation
public import Logging
import NIOHTTP1
public import NIOSSL

/// A client of one siwa service, for one app. Tasks may share it, and it needs no shutdown.
///
/// Each method throws ``SiwaError``, or `CancellationError` when its task is cancelled. Methods repeat a call after
/// a lost response, a 429 or a 5xx: after `Retry-After`, or else after 1 and 2 seconds. If siwa asks for more than
/// 5 seconds, the error has `retryAfter`. Calls whose second execution would change something (`disable`, `enable`,
/// `signOut`, `appFlip`) are only repeated if siwa certainly did not execute them.
public struct Siwa: Sendable {
    /// The version of this package.
    public static let version = "0.1.0"
    /// The version of siwa's interface that this package was written for.
    public static let apiVersion = 1

    private let transport: Transport
    private let clientID: String
    private let webhooks: Webhooks
    private let tokens: AccessTokens

    /// Makes a client. Empty and absent options are read from the environment.
    ///
    /// - Parameters:
    ///   - url: Address of siwa; SIWA_URL.
    ///   - apiKey: API key of this backend; SIWA_API_KEY.
    ///   - clientID: Bundle ID of the app; SIWA_CLIENT_ID.
    ///   - issuer: The `iss` of access tokens; SIWA_ISSUER, or else the URL.
    ///   - webhookSecrets: Secrets with spaces between them; SIWA_WEBHOOK_SECRETS.
    ///   - timeout: Time for one whole attempt.
    ///   - attempts: Number of times that a call is made at most.
    ///   - tls: Settings for a private certificate authority.
    /// - Throws: ``SiwaError`` `misconfigured` for a missing or malformed option.
    public init(
        url: String? = nil, apiKey: String? = nil, clientID: String? = nil, issuer: String? = nil,
        webhookSecrets: String? = nil, timeout: Duration = .seconds(12), attempts: Int = 3,
        tls: TLSConfiguration? = nil, logger: Logger = Logger(label: "siwa-client"),
        clock: any SiwaClock = SystemClock()
    ) throws(SiwaError) {
        func option(_ value: String?, _ variable: String) -> String {
            if let value, !value.isEmpty { return value }
            return ProcessInfo.processInfo.environment[variable] ?? ""
        }
        let (url, apiKey) = (option(url, "SIWA_URL"), option(apiKey, "SIWA_API_KEY"))
        let issuer = option(issuer, "SIWA_ISSUER")
        let missing = [url.isEmpty ? "SIWA_URL" : nil, apiKey.isEmpty ? "SIWA_API_KEY" : nil].compactMap {
            $0
        }
        guard missing.isEmpty else {
            throw .misconfigured("missing environment variables: \(missing.joined(separator: ", "))")
        }
        transport = try Transport(
            url: url, apiKey: apiKey, timeout: timeout, attempts: attempts, tls: tls, logger: logger,
            clock: clock)
        self.clientID = option(clientID, "SIWA_CLIENT_ID")
        webhooks = try Webhooks(secrets: option(webhookSecrets, "SIWA_WEBHOOK_SECRETS"))
        tokens = AccessTokens(transport, issuer: issuer.isEmpty ? transport.base : issuer)
    }

    /// Throws if siwa refuses the key or the client ID, if the URL is not siwa's, or without a client ID. For the start
    /// of a backend, so it only logs a warning if siwa does not respond.
    public func check() async throws {
        do {
            _ = try await state(of: "check")  // unknown to Apple, which is no error
        } catch let error as SiwaError where error.isTemporary {
            transport.logger.warning("\(error)")
        }
    }

    // MARK: Signing in

    /// Makes a nonce for one sign-in within ten minutes. The app gives `nonceSHA256` to Apple, and posts `nonce` to
    /// the backend together with the token.
    public func makeNonce() async throws -> Nonce {
        try await post("/v1/nonces", [:])
    }

    /// Verifies the identity token in the app's form, and returns the user's account.
    ///
    /// Errors without a request: `member_missing`, `nonce_missing`. From siwa: the codes of a refused token (401),
    /// `credential_revoked` and `account_disabled` (403), `account_not_found` (404). A sign-in is repeated like any
    /// other call. After a lost response the repetition can get `nonce_used`; the app then starts again with a new
    /// nonce.
    ///
    /// - Parameters:
    ///   - form: The app's JSON, in siwa's names or in those of a library (README.md).
    ///   - create: False to sign in only users who have an account.
    ///   - mintedNonce: False if the backend makes its own nonces and accepts each only once.
    public func signIn(
        form: JSONValue, create: Bool = true, mintedNonce: Bool = true
    ) async throws -> SignInOutcome {
        var members = try Form(form).signInMembers(mintedNonce: mintedNonce)
        members.merge(Form(form).userMembers()) { $1 }
        members["client_id"] = try app()
        if !create { members["create"] = .boolean(false) }
        return try await post("/v1/sign-ins", members)
    }

    /// Verifies the identity token in the app's form, and stores nothing. The errors are those of `signIn`.
    public func verify(form: JSONValue, mintedNonce: Bool = true) async throws -> VerifiedIdentity {
        var members = try Form(form).signInMembers(mintedNonce: mintedNonce)
        members["client_id"] = try app()
        return try await post("/v1/identity-tokens/verify", members)
    }

    /// Redeems the one-time code of a sign-in on the web, within two minutes. Error: `web_code_invalid`.
    public func webResult(code: String) async throws -> SignInOutcome {
        try await post("/v1/web/results", ["code": .string(code)])
    }

    // MARK: Accounts

    /// Returns an account. Error: `account_not_found` (404).
    public func account(_ id: String) async throws -> Account {
        try await get(Self.path(ofAccount: id))
    }

    /// Returns the account of Apple's user ID. Error: `account_not_found` (404).
    public func account(of sub: String, clientID: String? = nil) async throws -> Account {
        try await get("/v1/accounts", ["sub": sub, "client_id": app(clientID).string])
    }

    /// Searches accounts that match all arguments, newest first. docs/api.md explains the arguments.
    ///
    /// A page has `limit` accounts, at most 100. For the next page pass `after: page.cursor` and the same arguments.
    public func findAccounts(
        email: String? = nil, name: String? = nil, grantID: String? = nil, clientID: String? = nil,
        state: CredentialState? = nil, reason: CredentialReason? = nil, disabled: Bool? = nil,
        linked: Bool? = nil, appleToken: Bool? = nil, createdAfter: Date? = nil, after: String? = nil,
        limit: Int? = nil
    ) async throws -> AccountPage {
        try await get(
            "/v1/accounts",
            [
                "email": email, "name": name, "grant_id": grantID, "client_id": clientID,
                "state": state?.rawValue, "reason": reason?.rawValue, "disabled": disabled.map { "\($0)" },
                "linked": linked.map { "\($0)" }, "apple_token": appleToken.map { "\($0)" },
                "created_after": createdAfter?.text, "after": after, "limit": limit.map { "\($0)" },
            ])
    }

    /// Returns the state of the user's credential. For an unknown user it is `notFound`, and no error.
    public func state(of sub: String, clientID: String? = nil) async throws -> Credential {
        let credential = try Self.segment(sub, orThrow: "credential_not_found")
        return try await get("/v1/credentials/\(credential)", ["client_id": app(clientID).string])
    }

    /// Returns the states of any number of users, in the order of `subs`. One request asks for 1,000 of them.
    public func states(of subs: [String], clientID: String? = nil) async throws -> [CredentialOfSubject] {
        var result: [CredentialOfSubject] = []
        for start in stride(from: 0, to: subs.count, by: 1000) {
            let part = subs[start..<min(start + 1000, subs.count)].map(JSONValue.string)
            let list: CredentialList = try await post(
                "/v1/credentials/query", ["client_id": app(clientID), "subs": .array(part)])
            result += list.credentials
        }
        return result
    }

    /// Disables an account in siwa. Errors: `account_not_found` (404), `disabling_over` (409).
    ///
    /// - Parameter until: The time from which the account is enabled again.
    @discardableResult public func disable(
        _ accountID: String, reason: DisablingReason, until: Date? = nil
    ) async throws -> Account {
        var members = ["reason": JSONValue.string(reason.rawValue)]
        members["until"] = until.map { .string($0.text) }
        return try await post(Self.path(ofAccount: accountID) + "/disable", members, canRepeat: false)
    }

    /// Enables a disabled account. Error: `account_not_found` (404).
    @discardableResult public func enable(_ accountID: String) async throws -> Account {
        try await post(Self.path(ofAccount: accountID) + "/enable", [:], canRepeat: false)
    }

    /// Signs a user out everywhere: all receivers of events end the user's sessions.
    ///
    /// - Parameter google: True to end the links with Google too.
    /// - Throws: `account_not_found` (404).
    @discardableResult public func signOut(_ accountID: String, google: Bool = false) async throws -> Account
    {
        // A repetition would also end the sessions that began in between.
        try await post(
            Self.path(ofAccount: accountID) + "/sign-out", google ? ["google": .boolean(true)] : [:],
            canRepeat: false)
    }

    /// Erases an account, and revokes its tokens at Apple. A repetition returns the same report.
    ///
    /// If the report says `userMustRevoke`, show its `instructions` to the user. Error: `account_not_found` (404).
    @discardableResult public func delete(_ accountID: String) async throws -> Erasure {
        let call = Transport.Call(
            method: .DELETE, target: try Self.path(ofAccount: accountID), timeout: .seconds(30))
        return try await transport.send(call, as: ErasureResponse.self).erasure
    }

    /// Returns the report of an erasure as it is now. Error: `erasure_not_found` (404).
    public func erasure(_ id: String) async throws -> Erasure {
        let erasure = try Self.segment(id, orThrow: "erasure_not_found")
        let response: ErasureResponse = try await get("/v1/erasures/\(erasure)")
        return response.erasure
    }

    /// Returns the OAuth clients that have access to the account, such as Google. Error: `account_not_found`.
    public func grants(of accountID: String) async throws -> [Grant] {
        let response: Grants = try await get(Self.path(ofAccount: accountID) + "/grants")
        return response.grants
    }

    /// Ends one grant with all its tokens. Errors: `account_not_found`, `grant_not_found` (404).
    ///
    /// After a lost response, the repetition throws `grant_not_found`: the grant has ended.
    public func endGrant(_ id: String, of accountID: String) async throws {
        let account = try Self.path(ofAccount: accountID)
        let grant = try Self.segment(id, orThrow: "grant_not_found")
        try await transport.send(.init(method: .DELETE, target: "\(account)/grants/\(grant)"))
    }

    // MARK: App Attest and App Flip

    /// Makes a challenge for App Attest, valid for five minutes.
    ///
    /// - Parameter purpose: `attestation` or `assertion`.
    public func makeChallenge(_ purpose: String, clientID: String? = nil) async throws -> Challenge {
        try await post(
            "/v1/app-attest/challenges", ["purpose": .string(purpose), "client_id": app(clientID)])
    }

    /// Registers a key of the app. Error: `attestation_invalid` (401) with `cause` and `reAttest`, both for the app.
    ///
    /// - Parameter form: The app's JSON with `key_id`, `attestation` and `challenge`.
    @discardableResult public func registerKey(
        form: JSONValue, clientID: String? = nil
    ) async throws -> KeyRegistration {
        var members = Form(form).given(["key_id", "attestation", "challenge"])
        members["client_id"] = try app(clientID)
        return try await post("/v1/app-attest/keys", members)
    }

    /// Returns the texts of the app's sheet, or the URL to open for a link that cannot succeed.
    ///
    /// - Parameters:
    ///   - form: The parameters of Google's universal link.
    ///   - accountID: Account of the session, never the app's; without it only the link is checked.
    ///   - authenticatedAt: Time of the session's sign-in.
    public func appFlipPrompt(
        form: JSONValue, accountID: String? = nil, authenticatedAt: Date? = nil
    ) async throws -> AppFlipPromptResponse {
        let members = Form(form).given(Form.link).merging(Self.session(accountID, authenticatedAt)) { $1 }
        return try await post("/v1/oauth/app-flip/prompt", members)
    }

    /// Answers Google with the user's decision, and returns the URL that the app opens.
    ///
    /// - Parameters:
    ///   - form: The parameters of the link, `decision` (`granted`, `denied` or `cancelled`), and optionally
    ///     `granted_scopes` and a proof of App Attest. Without `accountID`, `granted` needs a fresh
    ///     `identity_token` with its `nonce` from `makeNonce`.
    ///   - accountID: Account of the session, never the app's.
    ///   - authenticatedAt: Time of the session's sign-in.
    public func appFlip(
        form: JSONValue, accountID: String? = nil, authenticatedAt: Date? = nil
    ) async throws -> AppFlipResponse {
        let names = Form.link + ["decision", "granted_scopes", "attestation", "app_version"]
        var members = Form(form).given(names).merging(Self.session(accountID, authenticatedAt)) { $1 }
        // An empty text grants no scope, and an absent one grants all.
        if form.object?["granted_scopes"] == "" { members["granted_scopes"] = "" }
        if members["account_id"] == nil, !Form(form).given(["identity_token"]).isEmpty {
            members.merge(try Form(form).signInMembers(mintedNonce: true)) { $1 }
            members["authorization_code"] = nil
        }
        return try await post("/v1/oauth/app-flip", members, canRepeat: false)
    }

    // MARK: Events

    /// Verifies a webhook, and returns its event. An event can come twice: keep its `id` for 8 days.
    ///
    /// Respond with 2xx when the event is stored, otherwise siwa sends it again. Errors: `body_too_large` (413),
    /// `webhook_headers_invalid`, `webhook_time_invalid`, `event_malformed` (400), `webhook_signature_invalid` (401),
    /// and `misconfigured` if the client has no secret.
    ///
    /// - Parameters:
    ///   - headers: Headers of the request, such as `HTTPHeaders` of NIO. Their names may be in any case.
    ///   - body: The bytes as they arrived.
    public func verifyWebhook(
        headers: some Sequence<(name: String, value: String)>, body: Data
    ) throws(SiwaError) -> Event {
        try webhooks.event(headers: headers, body: body, now: transport.clock.now)
    }

    /// The feed of all events, without end: see ``Events``.
    ///
    /// - Parameters:
    ///   - cursor: The place of the saved position.
    ///   - resync: Reads the states of all users after events were missed.
    ///   - wait: Seconds that siwa waits for an event, 0 to 30.
    public func events(
        cursor: any CursorStore, resync: (@Sendable () async throws -> Void)? = nil, wait: Int = 30
    ) -> Events {
        Events(transport, cursor, resync, wait: wait)
    }

    /// Reads the states of users, and returns the events that would have led to them. For `resync` of `events`.
    ///
    /// The events have no `id`. Each account has `account_disabled` or `account_enabled`; a state that is not
    /// `authorized` also has `credential_revoked`, `account_deleted` or `account_erased`. There is no
    /// `sessions_ended`: its time is `sessionsEndedAt` of the account.
    ///
    /// - Parameter users: By `sub`, the account ID and the latest `since` of the user's sessions, or `nil` without
    ///   sessions.
    public func missedEvents(of users: [String: (accountID: String, since: Date?)]) async throws -> [Event] {
        let now = transport.clock.now
        return try await states(of: users.keys.sorted()).flatMap { credential in
            let user = users[credential.sub]
            var event = Event(
                id: "", type: credential.accountDisabled == true ? .accountDisabled : .accountEnabled,
                teamID: "",
                occurredAt: now, recordedAt: now, sub: credential.sub, accountID: user?.accountID,
                clientID: credential.clientID)
            let disabling = event
            // For a user whom siwa does not know, the sessions from before the query end.
            guard credential.state != .authorized, let since = credential.since ?? user?.since else {
                return [disabling]
            }
            event.occurredAt = since
            event.type =
                switch credential.reason {
                case .some(.appleAccountDeleted): .accountDeleted
                case .some(.erased): .accountErased
                default: .credentialRevoked
                }
            return [disabling, event]
        }
    }

    // MARK: OAuth access tokens

    /// Asks siwa about an access token. Knows at once of a withdrawn consent.
    ///
    /// Arguments and errors are those of `verifyToken`, and `token_inactive` (401).
    public func introspect(
        bearer: String?, audience: String, scopes: [String] = []
    ) async throws -> IntrospectionResponse {
        let body = "token=\(try AccessTokens.token(of: bearer).percentEncoded)"
        let call = Transport.Call(
            method: .POST, target: "/oauth/introspect", body: Data(body.utf8),
            contentType: "application/x-www-form-urlencoded")
        let token = try await transport.send(call, as: IntrospectionResponse.self)
        // A refresh token has no token_type. No API accepts refresh tokens.
        guard token.active, token.tokenType == "Bearer" else {
            throw SiwaError(
                "token_inactive", status: 401, detail: "The token has ended, or is not an access token.")
        }
        try AccessTokens.check(token, audience: audience, scopes: scopes)
        return token
    }

    /// Verifies an access token by siwa's public keys, without a request for each token (RFC 9068).
    ///
    /// A token that has ended is accepted until it expires, at most `access_token_lifetime` later: see `introspect`.
    /// Errors: `token_missing` and the codes of a refused token (401), `scope_missing` (403), `keys_unavailable`
    /// (503).
    ///
    /// - Parameters:
    ///   - bearer: The header `Authorization`, or `nil`.
    ///   - audience: The API's own name, compared with `aud`.
    ///   - scopes: Scopes that the token needs, all of them.
    public func verifyToken(
        bearer: String?, audience: String, scopes: [String] = []
    ) async throws -> IntrospectionResponse {
        try await tokens.verify(AccessTokens.token(of: bearer), audience: audience, scopes: scopes)
    }

    // MARK: Requests

    private func app(_ other: String? = nil) throws(SiwaError) -> JSONValue {
        let id = other ?? clientID
        guard !id.isEmpty else { throw .misconfigured("missing environment variables: SIWA_CLIENT_ID") }
        return .string(id)
    }

    private func post<Model: Decodable>(
        _ target: String, _ members: [String: JSONValue], canRepeat: Bool = true
    ) async throws -> Model {
        let call = Transport.Call(method: .POST, target: target, body: .json(members), canRepeat: canRepeat)
        return try await transport.send(call, as: Model.self)
    }

    private func get<Model: Decodable>(_ path: String, _ query: [String: String?] = [:]) async throws -> Model
    {
        let parameters = query.compactMapValues { $0?.percentEncoded }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }
        let target = query.isEmpty ? path : "\(path)?\(parameters.joined(separator: "&"))"
        return try await transport.send(.init(method: .GET, target: target), as: Model.self)
    }

    private static func path(ofAccount id: String) throws(SiwaError) -> String {
        "/v1/accounts/\(try segment(id, orThrow: "account_not_found"))"
    }

    private static func segment(_ id: String, orThrow code: String) throws(SiwaError) -> String {
        // A proxy would remove these segments, and the request would have another path.
        guard !["", ".", ".."].contains(id) else {
            throw SiwaError(code, status: 404, detail: "The ID would change the path of the request.")
        }
        return id.percentEncoded
    }

    private static func session(_ accountID: String?, _ authenticatedAt: Date?) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        if let accountID, !accountID.isEmpty { members["account_id"] = .string(accountID) }
        members["authenticated_at"] = authenticatedAt.map { .string($0.text) }
        return members
    }
}
