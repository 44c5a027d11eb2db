import Foundation
import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import siwa

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
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--log-level", "error"], in: directory) { system in
                try await DisturbingProxy.run(before: system.service) { proxy, address in
                    Self.makeUnavailable(proxy)
                    try await language.run(
                        siwa: address, secret: DevelopmentSettings.secret, clientID: WholeSystem.clientID,
                        in: directory
                    ) { port in
                        let trial = Trial(
                            app: PhoneApp(backendPort: port, apple: system.apple),
                            siwa: Backend(port: system.port, secret: DevelopmentSettings.secret),
                            proxy: proxy,
                            google: system.google)
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
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `the lines of the page play the app`(language: ExampleBackend) async throws {
        try await language.trial(of: "integrate.md") { page, system, directory in
            let script = page.replacing("http://127.0.0.1:8081", with: system.apple)
            let printed = try await ExampleBackend.paste(script, in: directory)
            #expect(printed.last == "The trial is complete.", "\(printed)")
            #expect(printed.filter { $0.contains("session_ended") }.count == 3)
            #expect(printed.filter { $0.contains("\"account_id\"") }.count == 3)
            #expect(printed.contains("200"))
            let report = printed.first { $0.contains("user_must_revoke") }
            #expect(report?.contains("false") == true)
            // Grace is deleted, so that the second trial stops where she signs in.
            let again = try await ExampleBackend.paste(script, in: directory)
            #expect(again.last?.hasPrefix("Stopped: status 401 and not 200:") == true, "\(again)")
        }
    }

    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `a backend with a wrong key or without settings says so in one line`(language: ExampleBackend)
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--log-level", "error"], in: directory) { system in
                for (secret, address, text) in [
                    ("wrong", system.service, "check SIWA_URL and SIWA_KEY"),
                    ("", system.service, "missing environment variables: SIWA_KEY"),
                    (DevelopmentSettings.secret, "\(system.service)/nothing", "cannot start: "),
                ] {
                    let failure = await #expect(throws: ExampleBackend.NotStarted.self) {
                        try await language.run(
                            siwa: address, secret: secret, clientID: WholeSystem.clientID, in: directory
                        ) { _ in }
                    }
                    let lines = failure?.description.split(separator: "\n") ?? []
                    #expect(lines.count == 1 && lines.first?.contains(text) == true, "\(lines)")
                }
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
        #expect(shown.json?["account_id"] == account["id"])
        #expect(try await app.call(.GET, "/me", session: "invented").error == "session_ended")
        #expect(try await app.call(.GET, "/me").status == 401)

        // A token is good for one sign-in, and the digest in it is no nonce.
        #expect(try await app.call(.POST, "/signin", first.members).error == "nonce_used")
        let stolen = try await app.authorization(of: subject)
        let silent = stolen.members.filter { $0.0 != "nonce" }
        #expect(try await app.call(.POST, "/signin", silent).error == "nonce_missing")
        let copied = try await app.call(.POST, "/signin", silent + [("nonce", stolen.nonceDigest)])
        #expect(copied.error == "nonce_missing")
        let forged = try await app.authorization(of: subject, [("signature", .string("wrong_key"))])
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
        let wrong: PhoneApp.Members = [("name", .string(name)), ("password", .string("wrong"))]
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
            try await app.call(.GET, "/me", session: back.session).json?["account_id"]?.string == nil
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
        #expect(try await trial.siwa.credential(subject)["state"]?.string == "authorized")
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
            return account["credentials"]?.array?.first?["refresh_token"]?.string == "held"
        }
        let report = try await app.call(.DELETE, "/account", session: response.session)
        #expect(report.status == 200)
        #expect(report.json?["user_must_revoke"]?.bool == false)
        #expect(try await !app.isSignedIn(response.session))
        #expect(try await trial.siwa.account(subject).status == 404)

        // An account that another caller erased ends as well.
        let second = try await newSubject(trial)
        let session = try await app.signIn(second).session
        let account = try await app.call(.GET, "/me", session: session).json?["account_id"]?.string ?? ""
        #expect(try await trial.siwa.delete("/v1/accounts/\(account)").status <= 202)
        try await eventually { try await !app.isSignedIn(session) }
    }

    static func newSubject(_ trial: Trial) async throws -> String {
        try await trial.app.order("/emulator/users")["sub"]?.string ?? ""
    }
}
