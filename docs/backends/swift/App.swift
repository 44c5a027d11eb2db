import Foundation
import Hummingbird
import SiwaClient

/// The backend's part of Sign in with Apple, with Hummingbird and SiwaClient. Users.swift has the backend's own tables.
///
/// Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1
/// and 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
@main struct App {
    let siwa: Siwa
    let users: Users
    let clientID: String

    static func main() async {
        let variables = ProcessInfo.processInfo.environment
        do {
            let app = App(
                siwa: try Siwa(), users: Users(passwords: variables["PASSWORD_USERS"] ?? ""),
                clientID: variables["SIWA_CLIENT_ID"] ?? "")
            try await app.siwa.check()
            try await app.run(variables)
        } catch {
            FileHandle.standardError.write(Data("cannot start: \(error)\n".utf8))
            exit(1)
        }
    }

    private func run(_ variables: [String: String]) async throws {
        let feed = siwa.events(cursor: users) {
            for event in try await siwa.missedEvents(of: users.withAppleAccounts()) {
                try await handle(event)
            }
        }
        var routes: [Route] = [
            (.post, "nonce", { _ in try await siwa.makeNonce() }),
            (
                .post, "signin",
                {
                    try feed.check(); return try await signIn($0)
                }
            ),
            (
                .post, "password",
                { try await users.signIn($0.form["name"]?.string, $0.form["password"]?.string) }
            ),
            (.get, "me", { try await users.shown(of: $0.session) }),
            (.post, "signout", { await users.signOut($0.session) }),
            (.delete, "account", delete),
            (
                .post, "app-attest/challenges",
                { try await siwa.makeChallenge($0.form["purpose"]?.string ?? "") }
            ),
            (.post, "app-attest/keys", { try await siwa.registerKey(form: $0.form) }),
            (.post, "google-link", googleLink),
            (.get, "links", links),
            (.delete, "links/:id", endLink),
        ]
        let hasWebhooks = variables["SIWA_WEBHOOK_SECRETS"]?.isEmpty == false
        if hasWebhooks {
            // siwa gets 2xx when everything is stored, and sends the event again otherwise.
            routes.append(
                (
                    .post, "siwa",
                    { call in
                        let event = try siwa.verifyWebhook(headers: call.headers, body: call.body)
                        try feed.check()  // the states that are being read can be older than the event
                        try await users.once(event, handle)
                        return [String: String]()
                    }
                ))
        }
        async let _ = feed.run(hasWebhooks ? nil : handle)
        try await serve(
            routes, host: variables["HOST"] ?? "127.0.0.1",
            port: variables["PORT"].flatMap { Int($0) } ?? 8000)
    }

    /// With a session, attaches the Apple Account to the user of the session.
    @Sendable private func signIn(_ call: Call) async throws -> any Encodable & Sendable {
        var userID: String?
        if let session = call.session { userID = try await users.user(of: session).id }
        let outcome = try await siwa.signIn(form: call.form)
        return try await users.signIn(userID, outcome.account, since: outcome.credential.since)
    }

    @Sendable private func delete(_ call: Call) async throws -> any Encodable & Sendable {
        let user = try await users.user(of: call.session)
        let report = try await unlessGone { try await siwa.delete(user.accountID ?? "") }
        await users.remove(user.id)
        return [
            "user_must_revoke": .boolean(report?.userMustRevoke ?? false),
            "instructions": report?.instructions.map { .string($0) },
        ].compactMapValues { $0 } as [String: JSONValue]
    }

    /// Without a decision, returns what the app asks the user. With a decision, returns the URL to open.
    @Sendable private func googleLink(_ call: Call) async throws -> any Encodable & Sendable {
        let decision = call.form["decision"]?.string
        // The account is that of the session, never one that the app names. A user who refuses need not be known.
        let needsAccount = decision == "granted" || (decision == nil && call.session != nil)
        let account = needsAccount ? try await users.appleAccount(of: call.session) : nil
        guard decision != nil else {
            return try await siwa.appFlipPrompt(
                form: call.form, accountID: account?.id, authenticatedAt: account?.since)
        }
        return try await siwa.appFlip(
            form: call.form, accountID: account?.id, authenticatedAt: account?.since)
    }

    /// The clients that have access to the account, such as Google.
    @Sendable private func links(_ call: Call) async throws -> any Encodable & Sendable {
        let accountID = try await users.user(of: call.session).accountID ?? ""
        return ["links": try await unlessGone { try await siwa.grants(of: accountID) } ?? []]
    }

    @Sendable private func endLink(_ call: Call) async throws -> any Encodable & Sendable {
        let accountID = try await users.user(of: call.session).accountID ?? ""
        guard call.id.wholeMatch(of: /grt_[0-9a-f\-]{1,64}/) != nil else {
            throw SiwaError("not_found", status: 404)
        }
        try await unlessGone { try await siwa.endGrant(call.id, of: accountID) }
        return [String: String]()
    }

    /// Returns `nil` if siwa no longer has the account or the grant, or if the user has only a password.
    @discardableResult private func unlessGone<Result>(_ call: () async throws -> Result) async throws
        -> Result?
    {
        do {
            return try await call()
        } catch let error as SiwaError where ["account_not_found", "grant_not_found"].contains(error.code) {
            return nil
        }
    }

    /// Handles one event. After a crash the same event can come again.
    @Sendable private func handle(_ event: Event) async throws {
        guard let accountID = event.accountID else { return }  // about a user who has never signed in
        switch event.type {
        case .credentialRevoked where event.clientID == clientID:
            await users.endSessions(of: accountID, until: event.occurredAt)
        case .sessionsEnded:  // everywhere, also where the session began with a password
            await users.endSessions(of: accountID, until: event.occurredAt, evenOfPassword: true)
        case .accountDisabled, .accountEnabled:
            await users.set(accountID, isDisabled: event.type == .accountDisabled)
        case .accountDeleted:
            // The user may have kept the Apple Account and signed in again.
            guard let sub = await users.sub(of: accountID), try await siwa.state(of: sub).state != .authorized
            else { return }
            try await unlessGone { try await siwa.delete(accountID) }
            await users.forget(accountID)
        case .accountErased:
            await users.forget(accountID)
        case .accountTransferred:  // the app belongs to another team, where the user has another sub
            await users.move(accountID, to: event.teamID, event.sub)
        default: break
        }
    }
}
