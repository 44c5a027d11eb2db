import Foundation
import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The backends of `docs/integrate.md`, each against `siwa dev`, with the same app for all.
@Suite(.serialized) struct BackendHandlerTests {
    struct Trial: Sendable {
        let app: PhoneApp
        let siwa: Backend
        let proxy: DisturbingProxy
        /// The address of the fake Google.
        let google: String
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a backend of the page signs users in and out, and deletes them`(language: ExampleBackend)
        async throws
    {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            try await DisturbingProxy.run(before: system.service) { proxy, address in
                Self.makeUnavailable(proxy)
                try await language.run(
                    siwa: address, secret: DevelopmentSettings.secret, in: system.directory
                ) { port in
                    let trial = Trial(
                        app: PhoneApp(backendPort: port, apple: system.apple),
                        siwa: system.backend, proxy: proxy, google: system.google)
                    try await Self.start(trial)
                    try await Self.refusals(trial)
                    try await Self.links(trial)
                    try await Self.revocations(trial)
                    try await Self.passwordUsers(trial)
                    try await Self.changedAccount(trial)
                    try await Self.erasureReadLate(trial)
                    for fault in Self.lostCursors { try await Self.beginning(trial, after: fault) }
                    try await Self.signOut(trial)
                    try await Self.disabling(trial)
                    try await Self.deletion(trial)
                }
            }
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `the lines of the page play the app`(language: ExampleBackend) async throws {
        try await language.trial(of: "integrate.md") { page, system in
            let script = page.replacing("http://127.0.0.1:8081", with: system.apple)
            let printed = try await ExampleBackend.paste(script, in: system.directory)
            #expect(printed.last == "The trial is complete.", "\(printed)")
            #expect(printed.filter { $0.contains("session_ended") }.count == 3)
            #expect(printed.filter { $0.contains("\"account_id\"") }.count == 3)
            #expect(printed.contains("200"))
            let report = printed.first { $0.contains("user_must_revoke") }
            #expect(report?.contains("false") == true)
            // Grace is deleted, so that the second trial stops where she signs in.
            let again = try await ExampleBackend.paste(script, in: system.directory)
            #expect(again.last?.hasPrefix("Stopped: status 401 and not 200:") == true, "\(again)")
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a backend with a wrong key or without settings says so in one line`(language: ExampleBackend)
        async throws
    {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            for (secret, address, text) in [
                ("wrong", system.service, "check SIWA_URL and SIWA_API_KEY"),
                ("", system.service, "missing environment variables: SIWA_API_KEY"),
                (DevelopmentSettings.secret, "\(system.service)/nothing", "cannot start: "),
            ] {
                let failure = await #expect(throws: ExampleBackend.NotStarted.self) {
                    try await language.run(siwa: address, secret: secret, in: system.directory) { _ in }
                }
                let lines = failure?.description.split(separator: "\n") ?? []
                #expect(lines.count == 1 && lines.first?.contains(text) == true, "\(lines)")
            }
        }
    }

    private static func refusals(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let first = try await app.authorization(of: subject)
        let response = try await app.call(.POST, "/signin", first.members)
        #expect(response.status == 200)
        let shown = try await app.call(.GET, "/me", session: response.session)
        #expect(shown.userID == response.userID)
        let account = try await trial.siwa.account(subject)
        #expect(shown["account_id"] == account["id"])
        #expect(try await app.call(.GET, "/me", session: "invented").error == "session_ended")
        #expect(try await app.call(.GET, "/me").status == 401)

        // A token is good for one sign-in, and the digest in it is no nonce.
        #expect(try await app.call(.POST, "/signin", first.members).error == "nonce_used")
        let stolen = try await app.authorization(of: subject)
        let silent = stolen.members.filter { $0.0 != "nonce" }
        #expect(try await app.call(.POST, "/signin", silent).error == "nonce_missing")
        let copied = try await app.call(.POST, "/signin", silent + [("nonce", stolen.nonceDigest)])
        #expect(copied.error == "nonce_missing")
        let forged = try await app.authorization(of: subject, [("signature", "wrong_key")])
        let refusal = try await app.call(.POST, "/signin", forged.members)
        #expect(refusal.status == 401 && refusal.error == "signature_invalid")
        #expect(try await app.call(.POST, "/signin", []).status == 400)

        // What the service turns away is sent again, and the app gets a 503 only when that does not help.
        let overloaded = DisturbingProxy.Fault(
            target: "/v1/sign-ins", status: .serviceUnavailable, code: "overloaded", times: 2)
        let unavailable = DisturbingProxy.Fault(
            target: "/v1/nonces", status: .serviceUnavailable, code: "storage_unavailable", times: 3)
        let authorization = try await app.authorization(of: subject).members
        trial.proxy.add(overloaded)
        trial.proxy.add(unavailable)
        async let later = app.call(.POST, "/signin", authorization)
        async let never = app.call(.POST, "/nonce")
        let (again, refused) = (try await later, try await never)
        #expect(again.status == 200 && again.userID == response.userID)
        #expect(refused.status == 503 && refused.error == "try_again")
        // A wrong API key is the backend's mistake, and not the app's.
        trial.proxy.add(
            .init(target: "/v1/sign-ins", status: .unauthorized, code: "caller_unauthenticated", times: 1))
        #expect(try await app.signIn(subject).status == 500)
    }

    private static func revocations(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let early = try await app.signIn(subject)
        #expect(try await app.isSignedIn(early.session))

        // The backend reads the event after the user has signed in again.
        trial.proxy.hold("wait=30")
        try await app.order("/emulator/users/\(subject)/revoke-consent")
        let late = try await app.signInAgain(subject)
        #expect(late.status == 200 && late.userID == early.userID)
        #expect(try await app.isSignedIn(early.session))
        trial.proxy.release()
        try await eventually { try await !app.isSignedIn(early.session) }
        #expect(try await app.isSignedIn(late.session))

        // The backend reads the event before it has the response of the sign-in that the event revokes.
        trial.proxy.hold("/v1/sign-ins")
        let before = try await trial.siwa.account(subject)["last_sign_in_at"]
        async let overtaken = app.signIn(subject)
        try await eventually { try await trial.siwa.account(subject)["last_sign_in_at"] != before }
        try await app.order("/emulator/users/\(subject)/revoke-consent")
        try await eventually { try await !app.isSignedIn(late.session) }
        trial.proxy.release()
        #expect(try await overtaken.error == "credential_revoked")
    }

    private static func passwordUsers(_ trial: Trial) async throws {
        let app = trial.app
        let (_, name, password) = ExampleBackend.passwordUser
        let wrong: PhoneApp.Members = [("name", .string(name)), ("password", "wrong")]
        #expect(try await app.call(.POST, "/password", wrong).error == "password_wrong")
        let right: PhoneApp.Members = [("name", .string(name)), ("password", .string(password))]
        let known = try await app.call(.POST, "/password", right)
        #expect(known.status == 200 && known.userID == ExampleBackend.passwordUser.id)

        // An Apple Account of another user is not attached.
        let other = try await newSubject(trial)
        #expect(try await app.signIn(other).status == 200)
        #expect(try await app.signIn(other, session: known.session).error == "other_apple_account")

        let subject = try await newSubject(trial)
        let attached = try await app.signIn(subject, session: known.session)
        #expect(attached.userID == known.userID)
        #expect(try await app.signIn(subject).userID == known.userID)
        #expect(try await app.signIn(try await newSubject(trial), session: known.session).status == 409)

        // Signed out everywhere, which ends the session that began with the password too.
        let account = try await trial.siwa.account(subject)["id"]?.string ?? ""
        try await passwordSignOut(trial, account, known.session)
        #expect(try await !app.isSignedIn(attached.session))
        let back = try await app.call(.POST, "/password", right)

        // The Apple Account is deleted, and the user keeps the password.
        try await app.order("/emulator/users/\(subject)/delete-account")
        try await eventually {
            try await app.call(.GET, "/me", session: back.session)["account_id"]?.string == nil
        }
        #expect(try await trial.siwa.account(subject).status == 404)
        #expect(try await app.call(.DELETE, "/account", session: back.session).status == 200)
        #expect(try await app.call(.POST, "/password", right).error == "password_wrong")
    }

    /// Signs out in the ordinary way.
    private static func signOut(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let (phone, tablet) = (try await app.signIn(subject), try await app.signIn(subject))
        #expect(try await app.call(.POST, "/signout", session: phone.session).status == 200)
        #expect(try await app.call(.GET, "/me", session: phone.session).error == "session_ended")
        #expect(try await app.isSignedIn(tablet.session))
        #expect(try await trial.siwa.credential(subject)["state"] == "authorized")
        #expect(try await app.signIn(subject).userID == phone.userID)
        // Once more, without a session, and with one that was never there.
        for session in [phone.session, nil, "invented"] {
            #expect(try await app.call(.POST, "/signout", session: session).status == 200)
        }
    }

    private static func deletion(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let response = try await app.signIn(subject)
        try await eventually {
            let account = try await trial.siwa.account(subject)
            return account["credentials"]?.array?.first?["refresh_token"] == "held"
        }
        let report = try await app.call(.DELETE, "/account", session: response.session)
        #expect(report.status == 200)
        #expect(report["user_must_revoke"] == false)
        #expect(try await !app.isSignedIn(response.session))
        #expect(try await trial.siwa.account(subject).status == 404)

        // An account that another caller erased ends as well.
        let second = try await newSubject(trial)
        let session = try await app.signIn(second).session
        let account = try await app.call(.GET, "/me", session: session)["account_id"]?.string ?? ""
        #expect(try await trial.siwa.delete("/v1/accounts/\(account)").status <= 202)
        try await eventually { try await !app.isSignedIn(session) }
    }

    static func newSubject(_ trial: Trial) async throws -> String {
        try await trial.app.order("/emulator/users")["sub"]?.string ?? ""
    }
}

/// Behaviour of a backend without a cursor, and with accounts whose ID has changed.
extension BackendHandlerTests {
    /// Makes siwa unavailable at the start of the backend, and slow afterwards.
    static func makeUnavailable(_ proxy: DisturbingProxy) {
        proxy.add(.init(target: "after=latest", status: .serviceUnavailable, code: "overloaded", times: 3))
        proxy.hold("after=latest")
    }

    /// Starts a new backend, which has no users and therefore requests no states.
    static func start(_ trial: Trial) async throws {
        try await eventually { trial.proxy.isHolding }
        let early = try await trial.app.signIn(try await newSubject(trial))
        #expect(early.status == 503 && early.error == "try_again")
        #expect(try await trial.app.call(.GET, "/me", session: "invented").error == "session_ended")
        trial.proxy.release()
        try await eventually { trial.proxy.targets.last?.contains("wait=30") == true }
        let checks = ["/v1/nonces", "/v1/credentials/check?client_id=com.example.app"]
        let targets = trial.proxy.targets.filter { !checks.contains($0) }
        #expect(targets.prefix(4).allSatisfy { $0 == "/v1/events?after=latest" })
        #expect(targets.dropFirst(4).allSatisfy { $0.contains("wait=30") })
    }

    /// Changes the ID of an account, as a restore of siwa's database from a backup does.
    static func changedAccount(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let first = try await app.signIn(subject)
        let old = try await trial.siwa.account(subject)["id"]?.string ?? ""
        let new = "acc_00000000-0000-7000-8000-000000000001"
        trial.proxy.rewrite("/v1/sign-ins") { $0.replacing(old, with: new) }
        defer { trial.proxy.stopRewriting() }

        let second = try await app.signIn(subject)
        #expect(second.status == 200 && second.userID == first.userID)
        let shown = try await app.call(.GET, "/me", session: first.session)
        #expect(shown["account_id"]?.string == new)
        // Found by the new ID, also with a session, and still only this user.
        #expect(try await app.signIn(subject).userID == first.userID)
        #expect(try await app.signIn(subject, session: second.session).userID == first.userID)
        let other = try await app.signIn(try await newSubject(trial))
        #expect(other.status == 200 && other.userID != first.userID)
        #expect(try await app.signIn(subject, session: other.session).error == "other_apple_account")
    }

    /// Another caller erases the account, and the user signs in again before the backend reads the event.
    static func erasureReadLate(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let first = try await app.signIn(subject)
        try await erase(subject, in: trial)
        let second = try await app.signInAgain(subject)
        #expect(second.userID == first.userID)
        trial.proxy.release()
        try await eventually { try await !app.isSignedIn(second.session) }
        #expect(try await !app.isSignedIn(first.session))
        let third = try await app.signIn(subject)
        #expect(third.status == 200 && third.userID != first.userID)
    }

    static let lostCursors = [
        DisturbingProxy.Fault(target: "wait=30", status: .conflict, code: "cursor_ahead", times: 1),
        DisturbingProxy.Fault(
            target: "wait=30", status: .ok, content: #"{"events":[],"cursor":"","has_more":false}"#, times: 1),
    ]

    /// The backend has no usable cursor, and does not get the missed events.
    static func beginning(_ trial: Trial, after fault: DisturbingProxy.Fault) async throws {
        let app = trial.app
        let (gone, unknown) = (try await newSubject(trial), try await newSubject(trial))
        let (erased, here) = (try await newSubject(trial), try await newSubject(trial))
        let early = try await app.signIn(gone)
        let (lost, old) = (try await app.signIn(unknown), try await app.signIn(erased))
        let kept = try await app.signIn(here)
        let stopped = try await newSubject(trial)
        let suspended = try await app.signIn(stopped)
        let account = try await trial.siwa.account(stopped)["id"]?.string ?? ""
        try await erase(erased, in: trial)
        try await app.order("/emulator/users/\(gone)/revoke-consent")
        try await change(account, "disable", in: trial, [("reason", "fraud")])
        trial.proxy.rewrite("/v1/credentials/query") { Self.forget(unknown, in: $0) }
        defer { trial.proxy.stopRewriting() }
        trial.proxy.add(fault)
        trial.proxy.release(thenHold: "/v1/credentials/query")

        // The user signs in again while the state is under way. The rule for late readers holds here too.
        try await eventually { trial.proxy.isHolding }
        let late = try await app.signInAgain(gone)
        #expect(late.status == 200 && late.userID == early.userID)
        trial.proxy.release()
        for session in [early.session, lost.session, old.session] {
            try await eventually { try await !app.isSignedIn(session) }
        }
        #expect(try await app.isSignedIn(late.session))
        #expect(try await app.isSignedIn(kept.session))
        #expect(try await app.call(.GET, "/me", session: suspended.session).error == "account_disabled")
        try await change(account, "enable", in: trial)
        try await eventually { try await app.isSignedIn(suspended.session) }
        // A user whose account was erased is deleted, and one whom siwa does not know is not.
        #expect(try await app.signInAgain(unknown).userID == lost.userID)
        #expect(try await app.signInAgain(erased).userID != old.userID)
        // And then the backend goes on with events.
        try await app.order("/emulator/users/\(here)/revoke-consent")
        try await eventually { try await !app.isSignedIn(kept.session) }
    }

    /// Erases an account, and holds back the backend's response with the event.
    private static func erase(_ subject: String, in trial: Trial) async throws {
        let account = try await trial.siwa.account(subject)["id"]?.string ?? ""
        trial.proxy.hold("wait=30")
        #expect(try await trial.siwa.delete("/v1/accounts/\(account)").status <= 202)
    }

    /// Reports one user as unknown to siwa.
    private static func forget(_ subject: String, in list: String) -> String {
        let credential = /\{[^{}]*"sub":"([^"]*)"[^{}]*\}/
        return list.replacing(credential) { match in
            guard match.1 == subject else { return String(match.0) }
            return #"{"sub":"\#(subject)","client_id":"\#(WholeSystem.clientID)","state":"notFound"}"#
        }
    }
}

/// The routes of a backend for App Flip and for the links of a user, with the fake Google.
extension BackendHandlerTests {
    static func links(_ trial: Trial) async throws {
        let app = trial.app
        let user = try await app.signIn(try await newSubject(trial))
        #expect(try await links(of: user, trial).isEmpty)

        // Before the user signs in, and then with the account.
        let link = try await openLink(trial, [("user_locale", "pl")])
        let early = try await app.call(.POST, "/google-link", link)
        #expect(early["outcome"] == "prompt")
        #expect(early["prompt"]?["account"] == nil)
        let prompt = try await app.call(.POST, "/google-link", link, session: user.session)
        #expect(prompt["prompt"]?["language"] == "pl")
        #expect(prompt["prompt"]?["account"] != nil)
        try await linkRefusals(trial, user)
        #expect(try await links(of: user, trial).isEmpty)

        // The user leaves scopes out. Google redeems the code of the URL that the app opens.
        let granted: PhoneApp.Members = [("decision", "granted"), ("granted_scopes", "openid email")]
        let response = try await app.call(.POST, "/google-link", link + granted, session: user.session)
        #expect(response["outcome"] == "code")
        _ = try await order(trial, "/control/answer", [("url", response["redirect_to"] ?? .null)])
        #expect(try await isActive(trial))
        let listed = try await links(of: user, trial)
        #expect(listed.map { $0["scope"]?.string } == ["openid email"])
        #expect(listed.first?["client_name"] == "Google")
        try await unlinking(trial, try #require(listed.first?["id"]?.string), user)
    }

    /// Links that fail, and users who cannot be linked.
    private static func linkRefusals(_ trial: Trial, _ user: PhoneApp.Response) async throws {
        let app = trial.app
        func outcome(_ members: PhoneApp.Members, session: String? = nil) async throws -> String? {
            let response = try await app.call(.POST, "/google-link", members, session: session)
            #expect(response["outcome"] == nil || response["prompt"] == nil)
            return response["outcome"]?.string ?? response.error
        }
        let link = try await openLink(trial)
        let granted: PhoneApp.Members = [("decision", "granted")]
        func changed(_ name: String, _ value: String) -> PhoneApp.Members {
            link.filter { $0.0 != name } + [(name, .string(value))]
        }
        // Refused before the user is asked, and in the same way afterwards.
        for (bad, word) in [
            (changed("client_id", "stranger"), "invalid_request"),
            (changed("scope", "admin"), "invalid_request"), (changed("state", ""), "invalid_request"),
            (changed("redirect_uri", "https://evil.example/a/com.google.OPA"), "redirect_uri_mismatch"),
        ] {
            #expect(try await outcome(bad) == word)
            #expect(try await outcome(bad, session: user.session) == word)
            #expect(try await outcome(bad + granted, session: user.session) == word)
        }
        // A user who refuses need not be known; one who agrees must be.
        #expect(try await outcome(link + [("decision", "denied")]) == "access_denied")
        #expect(try await outcome(link + [("decision", "cancelled")]) == "cancelled")
        #expect(try await outcome(link + granted) == "session_ended")
        #expect(try await outcome(link, session: "invented") == "session_ended")
        let none: PhoneApp.Members = [("granted_scopes", "")]
        #expect(try await outcome(link + granted + none, session: user.session) == "access_denied")

        // An account that the app names is not used.
        let shown = try await app.call(.GET, "/me", session: user.session)["account_id"] ?? .null
        let named: PhoneApp.Members = [("account_id", shown)]
        #expect(try await outcome(link + granted + named) == "session_ended")
        // A user who has only a password has no account at siwa.
        let (_, name, password) = ExampleBackend.passwordUser
        let known = try await app.call(
            .POST, "/password", [("name", .string(name)), ("password", .string(password))])
        #expect(try await outcome(link + granted + named, session: known.session) == "apple_account_missing")
        #expect(try await outcome(link, session: known.session) == "apple_account_missing")
        #expect(try await links(of: known, trial).isEmpty)
    }

    private static func unlinking(_ trial: Trial, _ id: String, _ user: PhoneApp.Response) async throws {
        let app = trial.app
        // Another user ends nothing, and only the ID of a link reaches siwa.
        let other = try await app.signIn(try await newSubject(trial))
        #expect(try await app.call(.DELETE, "/links/\(id)", session: other.session).status == 200)
        #expect(try await app.call(.DELETE, "/links/\(id)").error == "session_ended")
        for path in ["/links/", "/links/acc_1", "/links/GRT_0", "/links/grt_0%2F..", "/links/\(id)%00"] {
            #expect(try await app.call(.DELETE, path, session: user.session).status == 404, "\(path)")
        }
        #expect(try await links(of: user, trial).count == 1)
        // Once more is done, too: the response to the first attempt can be lost.
        for _ in 1...2 {
            #expect(try await app.call(.DELETE, "/links/\(id)", session: user.session).status == 200)
        }
        #expect(try await links(of: user, trial).isEmpty)
        #expect(try await !isActive(trial))
    }

    private static func links(of user: PhoneApp.Response, _ trial: Trial) async throws -> [JSONValue] {
        let response = try await trial.app.call(.GET, "/links", session: user.session)
        #expect(response.status == 200)
        return try #require(response["links"]?.array)
    }

    /// The parameters of a universal link that Google opens.
    private static func openLink(
        _ trial: Trial, _ more: PhoneApp.Members = []
    ) async throws -> PhoneApp.Members {
        try await openLink(trial.app, google: trial.google, more)
    }

    static func openLink(
        _ app: PhoneApp, google: String, _ more: PhoneApp.Members = []
    ) async throws -> PhoneApp.Members {
        let begun = try await PhoneApp(backendPort: app.backendPort, apple: google)
            .order("/control/link", [("mode", "app_flip")] + more)
        let url = try #require(begun["url"]?.string)
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        return query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.last?.replacing("+", with: " ").removingPercentEncoding ?? ""
            return (String(parts[0]), .string(value))
        }
    }

    /// Returns true if the app's API takes the access token of the newest link.
    private static func isActive(_ trial: Trial) async throws -> Bool {
        try await order(trial, "/control/call")["body"]?["active"]?.bool ?? false
    }

    private static func order(
        _ trial: Trial, _ path: String, _ members: PhoneApp.Members = []
    ) async throws -> JSONValue {
        try await PhoneApp(backendPort: trial.app.backendPort, apple: trial.google).order(path, members)
    }
}
