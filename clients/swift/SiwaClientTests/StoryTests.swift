import Foundation
import SiwaBinary
import Synchronization
import TestSupport
import Testing

@testable import SiwaClient

/// The life of a person in a backend, against siwa and its fakes.
@Suite(.serialized, .oneWorld) struct StoryTests {
    @Test(.timeLimit(.hung)) func `events end the sessions of a person's life`() async throws {
        let world = World.shared
        let client = try world.client()
        try await Backend.with(client, in: world) { backend in
            try await eventually { backend.feed.cursor != nil }
            #expect(backend.events == ["resync"])

            // The first sign-in, on the iPhone. The nonce is good for one sign-in.
            let ada = try await world.person(["first_name": "Ada", "last_name": "King"])
            let form = try await world.form(ada, client.makeNonce())
            let outcome = try await backend.signIn(form)
            let id = outcome.account.id
            #expect(outcome.isNewAccount && outcome.account.firstName == "Ada")
            let used = await #expect(throws: SiwaError.self) { try await client.signIn(form: form) }
            #expect(used?.code == "nonce_used" && used?.requestID != nil && used?.forApp.status == 401)
            #expect(try await client.state(of: ada).state == .authorized)
            #expect(
                try await client.states(of: [ada, "stranger"]).map(\.state) == [.authorized, .notFound])
            #expect(try await client.account(id).sub == ada)
            #expect(try await client.account(of: ada).id == id)
            #expect(try await client.findAccounts(name: "Ada King").accounts.map(\.id) == [id])
            let other = try await world.form(ada, client.makeNonce())
            #expect(try await client.verify(form: other).identity.sub == ada)

            // She stops using the app: the event ends her session.
            try await world.revokeConsent(ada)
            try await eventually { !backend.hasSession(id) }
            #expect(try await client.state(of: ada).state == .revoked)
            let since = try #require(outcome.credential.since)
            let missed = try await client.missedEvents(of: [
                ada: (id, since), "stranger": ("acc_1", since),
            ])
            #expect(
                missed.filter { $0.accountID == id }.map(\.type) == [.accountEnabled, .credentialRevoked])
            #expect(missed.filter { $0.accountID == "acc_1" }.last?.occurredAt == since)

            // She returns. Apple's times have whole seconds, and the new authorization must be later.
            try await Task.sleep(for: .seconds(2))
            _ = try await backend.signIn(world.form(ada, client.makeNonce()))
            #expect(backend.hasSession(id))

            // Her account is disabled and enabled. Then she is signed out everywhere.
            #expect(try await client.disable(id, reason: .security).disabled?.reason == .security)
            let last = try await world.form(ada, client.makeNonce())
            let disabled = await #expect(throws: SiwaError.self) { try await client.signIn(form: last) }
            #expect(disabled?.forApp.json == #"{"error":"account_disabled"}"#)
            #expect(try await client.enable(id).disabled == nil)
            #expect(try await client.signOut(id).sessionsEndedAt != nil)
            try await eventually { !backend.hasSession(id) }

            // She deletes her account.
            let erasure = try await client.delete(id)
            try await eventually { try await client.erasure(erasure.id).state == .completed }
            #expect(try await client.delete(id).id == erasure.id && !erasure.userMustRevoke)
            let gone = await #expect(throws: SiwaError.self) { try await client.account(id) }
            #expect(gone?.code == "account_not_found")
            try await eventually { backend.events.last == "account_erased" }
            #expect(
                backend.events == [
                    "resync", "account_created", "credential_authorized", "credential_revoked",
                    "credential_authorized", "account_disabled", "account_enabled", "sessions_ended",
                    "credential_revoked", "account_erased",
                ])
            let wrong = try world.client(apiKey: "other")
            let refused = await #expect(throws: SiwaError.self) { try await wrong.makeNonce() }
            #expect(refused?.forApp.status == 500)
        }
    }

    @Test(.timeLimit(.hung)) func `tokens, keys and links are siwa's`() async throws {
        let world = World.shared
        let client = try world.client()
        let ada = try await world.person(["first_name": "Ada"])
        let outcome = try await client.signIn(form: world.form(ada, client.makeNonce()))
        let id = outcome.account.id

        // Her phone exchanges an identity token for an access token (RFC 8693).
        let form = try await world.form(ada, client.makeNonce())
        let exchange = [
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "siwa-phone",
            "scope": "openid email",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "subject_token": form["identity_token"]?.string ?? "", "nonce": form["nonce"]?.string ?? "",
        ]
        let answer = try await World.post(
            world.siwa + "/oauth/token",
            exchange.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&"),
            "application/x-www-form-urlencoded")
        func bearer(_ name: String) -> String { "Bearer \(answer[name]?.string ?? "")" }
        let access = bearer("access_token")
        let token = try await client.verifyToken(
            bearer: access, audience: world.siwa, scopes: ["email"])
        #expect(token.sub == id)
        #expect(
            try await client.introspect(bearer: access, audience: world.siwa, scopes: ["email"]) == token)
        for (bearer, audience, scope, code) in [
            (access, world.siwa, "admin", "scope_missing"),
            (access, "https://other", "email", "audience_mismatch"),
            (bearer("id_token"), world.siwa, "email", "not_an_access_token"),
        ] {
            let error = await #expect(throws: SiwaError.self) {
                try await client.verifyToken(bearer: bearer, audience: audience, scopes: [scope])
            }
            #expect(error?.code == code)
        }
        let refresh = await #expect(throws: SiwaError.self) {
            try await client.introspect(bearer: bearer("refresh_token"), audience: world.siwa)
        }
        #expect(refresh?.code == "token_inactive")

        // Her phone attests a key.
        let challenge = try await client.makeChallenge("attestation").challenge
        var registration = try await World.post(
            world.apple + "/emulator/app-attest/keys?format=registration",
            ["challenge": .string(challenge)])
        #expect(try await client.registerKey(form: registration).isNewKey)
        registration["key_id"] = .string(Data(count: 32).base64EncodedString())
        let invalid = await #expect(throws: SiwaError.self) {
            try await client.registerKey(form: registration)
        }
        #expect(
            invalid?.code == "attestation_invalid" && invalid?.cause != nil && invalid?.reAttest != nil)
        #expect(invalid?.forApp.json.contains("re_attest") == true)

        // She links her Google account by App Flip, and ends the link in the app.
        let page = try await World.post(world.google + "/control/link", ["mode": "app_flip"])
        let items = URLComponents(string: page["url"]?.string ?? "")?.queryItems ?? []
        var link = JSONValue.object(
            Dictionary(items.map { ($0.name, .string($0.value ?? "")) }) { $1 })
        let since = outcome.credential.since
        #expect(
            try await client.appFlipPrompt(form: link, accountID: id, authenticatedAt: since).prompt?
                .account
                != nil)
        link["decision"] = "granted"
        #expect(
            try await client.appFlip(form: link, accountID: id, authenticatedAt: since).outcome == "code")
        let grant = try #require(try await client.grants(of: id).first { $0.clientID == "google" })
        try await client.endGrant(grant.id, of: id)
        let ended = await #expect(throws: SiwaError.self) { try await client.endGrant(grant.id, of: id) }
        #expect(ended?.code == "grant_not_found")

        // After a withdrawn consent siwa knows at once. A verified token stays good until it expires.
        try await world.revokeConsent(ada)
        try await eventually { try await client.state(of: ada).state == .revoked }
        let inactive = await #expect(throws: SiwaError.self) {
            try await client.introspect(bearer: access, audience: world.siwa)
        }
        #expect(inactive?.code == "token_inactive")
        #expect(try await client.verifyToken(bearer: access, audience: world.siwa).sub == id)
    }

    @Test(.timeLimit(.hung)) func `the feed goes on where it was when siwa returns`() async throws {
        try await World.with { world in
            let client = try world.client()
            let hasty = try world.client(timeout: .seconds(1), attempts: 1)
            try await Backend.with(client, in: world) { backend in
                try await eventually { backend.feed.lastResponseAt != nil }
                let ada = try await world.person()
                let id = try await backend.signIn(world.form(ada, client.makeNonce())).account.id
                try await eventually { backend.events.contains("credential_authorized") }

                world.suspend()
                let began = ContinuousClock.now
                let slow = await #expect(throws: SiwaError.self) { try await hasty.account(id) }
                #expect(slow?.code == "unreachable" && ContinuousClock.now - began < .seconds(10))
                world.signal(SIGCONT)
                #expect(try await client.account(id).id == id)
                try await world.restart {
                    let down = await #expect(throws: SiwaError.self) { try await hasty.makeNonce() }
                    #expect(down?.code == "unreachable" && down?.forApp.status == 503)
                    try await hasty.check()
                }
                try await world.revokeConsent(ada)
                try await eventually { !backend.hasSession(id) }
                // No event came twice.
                #expect(backend.events.count { $0 == "credential_authorized" } == 1)
            }
        }
    }

    @Test(
        .timeLimit(.hung),
        arguments: [
            ("siwa_development", "com.example.app", nil),
            ("other", "com.example.app", "caller_unauthenticated"),
            ("siwa_development", "com.example.other", "client_id_unknown"),
        ])
    func `a backend starts only with the right key and client ID`(key: String, app: String, code: String?)
        async throws
    {
        let siwa = try Siwa(url: World.shared.siwa, apiKey: key, clientID: app, logger: .silent)
        do {
            try await siwa.check()
            #expect(code == nil)
        } catch let error as SiwaError {
            #expect(error.code == code)
        }
    }

    @Test(.timeLimit(.hung)) func `an event that a backend could not handle comes again`() async throws {
        let world = World.shared
        let client = try world.client()
        let feed = client.events(cursor: FileCursor(path: world.directory.path(of: "handled")), wait: 2)
        let early = #expect(throws: SiwaError.self) { try feed.check() }
        #expect(early?.code == "feed_not_begun" && early?.forApp.status == 503)
        await feed.run()
        try feed.check()
        let events = Mutex<[EventType]>([])
        let task = Task {
            await feed.run { event in
                let count = events.withLock {
                    $0.append(event.type)
                    return $0.count
                }
                if count == 1 { throw CocoaError(.fileWriteOutOfSpace) }
            }
        }
        let ada = try await world.person()
        _ = try await client.signIn(form: world.form(ada, client.makeNonce()))
        try await eventually { events.withLock { $0.last } == .credentialAuthorized }
        #expect(
            events.withLock { $0 } == [.accountCreated, .accountCreated, .credentialAuthorized])
        task.cancel()
        await task.value
    }

    /// The first program of README.md is the target SiwaTrial.
    @Test(.timeLimit(.hung)) func `the page shows the program, which signs a person in`() async throws {
        let folder = ProjectFolder.root.appending(path: "clients/swift")
        let page = try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
        let program = try String(contentsOf: folder.appending(path: "SiwaTrial/main.swift"), encoding: .utf8)
        #expect(page.contains("```swift\n\(program)```"))
        let world = World.shared
        let run = try await ProgramRun.of(
            BuiltSiwa.neighbour(named: "SiwaTrial"), [],
            environment: ["SIWA_URL": world.siwa, "APPLE": world.apple, "HOME": world.directory.path],
            in: world.directory.path)
        let lines = run.output.split(separator: "\n").map { $0.prefix { $0 != ":" } }
        #expect(lines == ["Signed in", "The session has ended. State", "Deleted"], "\(run.output)")
    }
}
