import Foundation
import SiwaClient

/// The backend's part of Sign in with Apple, with SiwaClient. Server.swift has what Hummingbird needs, and Users.swift
/// the backend's own tables.
///
/// Environment: SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's bundle ID), and HOST and PORT to listen at, 127.0.0.1
/// and 8000 by default. With SIWA_WEBHOOK_SECRETS, events come to POST /siwa, and not from the feed.
struct App {
    let siwa: Siwa
    let users: Users
    let clientID: String

    func run(hasWebhooks: Bool, host: String, port: Int) async throws {
        let feed = siwa.events(cursor: users) {
            for event in try await siwa.missedEvents(of: users.withAppleAccounts()) {
                try await handle(event)
            }
        }
        let routes: [Route] = [
            (.post, "nonce", { _ in try await siwa.makeNonce() }),
            (.post, "signin", { try await signIn($0, feed) }),
            (.post, "password", { try await users.signIn($0["name"], $0["password"]) }),
            (.get, "me", { try await users.shown(of: $0.session) }),
            (.post, "signout", { await users.signOut($0.session) }),
            (.delete, "account", delete),
            (.post, "app-attest/challenges", { try await siwa.makeChallenge($0["purpose"] ?? "") }),
            (.post, "app-attest/keys", { try await siwa.registerKey(form: $0.form) }),
            (.post, "google-link", googleLink),
            (.get, "links", links),
            (.delete, "links/:id", endLink),
        ]
        let webhook: Route = (.post, "siwa", { try await takeWebhook($0, feed) })
        async let _ = feed.run(hasWebhooks ? nil : handle)
        try await serve(routes + (hasWebhooks ? [webhook] : []), host: host, port: port)
    }

    /// With a session, attaches the Apple Account to the user of the session.
    private func signIn(_ call: Call, _ feed: Events) async throws -> Answer {
        try feed.check()
        let userID = call.session == nil ? nil : try await users.user(of: call.session).id
        let outcome = try await siwa.signIn(form: call.form)
        return try await users.signIn(userID, outcome.account, since: outcome.credential.since)
    }

    private func delete(_ call: Call) async throws -> Answer {
        let user = try await users.user(of: call.session)
        let report = try await unlessGone(await siwa.delete(user.accountID ?? ""))
        await users.remove(user.id)
        return Deletion(user_must_revoke: report?.userMustRevoke ?? false, instructions: report?.instructions)
    }

    /// Without a decision, returns what the app asks the user. With a decision, returns the URL to open.
    private func googleLink(_ call: Call) async throws -> Answer {
        let (form, decision) = (call.form, call["decision"])
        // The account is that of the session, never one that the app names. A user who refuses need not be known.
        let needsAccount = decision == "granted" || (decision == nil && call.session != nil)
        let (id, since) = needsAccount ? try await users.appleAccount(of: call.session) : (nil, nil)
        guard decision != nil else {
            return try await siwa.appFlipPrompt(form: form, accountID: id, authenticatedAt: since)
        }
        return try await siwa.appFlip(form: form, accountID: id, authenticatedAt: since)
    }

    /// The clients that have access to the account, such as Google.
    private func links(_ call: Call) async throws -> Answer {
        let accountID = try await users.accountID(of: call.session)
        return ["links": try await unlessGone(await siwa.grants(of: accountID)) ?? []]
    }

    private func endLink(_ call: Call) async throws -> Answer {
        let accountID = try await users.accountID(of: call.session)
        guard call.id.wholeMatch(of: /grt_[0-9a-f\-]{1,64}/) != nil else {
            throw SiwaError("not_found", status: 404)
        }
        _ = try await unlessGone(await siwa.endGrant(call.id, of: accountID))
        return Done()
    }

    /// Returns `nil` if siwa no longer has the account or the grant, or if the user has only a password.
    private func unlessGone<Result>(_ call: @autoclosure () async throws -> Result) async throws -> Result? {
        do {
            return try await call()
        } catch let error as SiwaError where ["account_not_found", "grant_not_found"].contains(error.code) {
            return nil
        }
    }

    /// siwa gets 2xx when everything is stored, and sends the event again otherwise.
    private func takeWebhook(_ call: Call, _ feed: Events) async throws -> Answer {
        let event = try siwa.verifyWebhook(headers: call.headers, body: call.body)
        try feed.check()  // the states that are being read can be older than the event
        try await users.once(event, handle)
        return Done()
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
            guard let sub = await users.sub(of: accountID) else { return }
            // Otherwise the user has kept the Apple Account, and signed in again.
            guard try await siwa.state(of: sub).state != .authorized else { return }
            _ = try await unlessGone(await siwa.delete(accountID))
            await users.forget(accountID)
        case .accountErased:
            await users.forget(accountID)
        case .accountTransferred:  // the app belongs to another team, where the user has another sub
            await users.move(accountID, to: event.teamID, event.sub)
        default: break
        }
    }
}
