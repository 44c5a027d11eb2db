import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Proofs of the genuine app, and accounts that are disabled or signed out everywhere.
extension BackendHandlerTests {
    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `in enforced mode a backend passes proofs on, and tells the app how to go on`(
        language: ExampleBackend
    ) async throws {
        try await DevelopmentProcess.with(["--log-level", "error", "--app-check", "enforced"]) { system in
            try await language.run(at: system) { port in
                let app = PhoneApp(backendPort: port, apple: system.apple)
                let (key, session) = try await Self.proofs(app)
                try await Self.refusedKeys(app)
                try await Self.linkProofs(app, google: system.google, key: key, session)
            }
        }
    }

    /// Signs in with a proof. Returns the key and the session.
    private static func proofs(_ app: PhoneApp) async throws -> (key: String, session: String?) {
        let subject = try await app.order("/emulator/users")["sub"]?.string ?? ""
        let members = try await app.authorization(of: subject).members
        let missing = try await app.call(.POST, "/signin", members)
        #expect(missing.status == 401 && missing.error == "attestation_required")
        #expect(missing.cause == "proof_missing" && missing.canReAttest == false)

        // The key is not registered, so that the app makes another, and repeats the request.
        let lost = try await app.makeKey().id
        let unknown = try await app.call(
            .POST, "/signin", members + [try await app.proof(lost, of: members.identityToken)])
        #expect(unknown.status == 401 && unknown.error == "attestation_invalid")
        #expect(unknown.cause == "attestation_key_unknown" && unknown.canReAttest == true)
        let key = try await app.attestedKey()
        let complete =
            members + [try await app.proof(key, of: members.identityToken), ("app_version", "4.2")]
        let signedIn = try await app.call(.POST, "/signin", complete)
        #expect(signedIn.status == 200)
        #expect(try await app.isSignedIn(signedIn.session))

        // A recorded request, and its proof with another token.
        let replayed = try await app.call(.POST, "/signin", complete)
        #expect(replayed.status == 401 && replayed.cause == "counter_not_increased")
        let other = try await app.authorization(of: subject).members
        let proof = try await app.proof(key, of: members.identityToken)
        let moved = try await app.call(.POST, "/signin", other + [proof])
        #expect(moved.status == 401 && moved.cause == "client_data_mismatch")
        #expect(moved.canReAttest == false)
        return (key, signedIn.session)
    }

    private static func refusedKeys(_ app: PhoneApp) async throws {
        let foreign = try await app.makeKey(wrong: ["foreign_root"])
        let refused = try await app.call(.POST, "/app-attest/keys", foreign.members)
        #expect(refused.status == 401 && refused.error == "attestation_invalid")
        #expect(refused.cause == "chain_untrusted" && refused.canReAttest == false)
        // The backend names its own app, whatever the app says.
        let named: PhoneApp.Members = [("client_id", "com.example.web")]
        let known = try await app.makeKey()
        #expect(try await app.call(.POST, "/app-attest/keys", known.members + named).status == 200)
        let purpose: PhoneApp.Members = [("purpose", "both")]
        #expect(try await app.call(.POST, "/app-attest/challenges", purpose).error == "member_malformed")
    }

    /// The proof of a link vouches for its state.
    private static func linkProofs(
        _ app: PhoneApp, google: String, key: String, _ session: String?
    ) async throws {
        let link = try await openLink(app, google: google)
        let state = link.first { $0.0 == "state" }?.1.string ?? ""
        let granted: PhoneApp.Members = [("decision", "granted")]
        let prompt = try await app.call(
            .POST, "/google-link", link + [try await app.proof(key, of: state)], session: session)
        #expect(prompt["outcome"] == "prompt")
        let missing = try await app.call(.POST, "/google-link", link + granted, session: session)
        #expect(missing.error == "attestation_required" && missing.cause == "proof_missing")
        let proof = try await app.proof(key, of: state)
        let held = try await app.call(.POST, "/google-link", link + granted + [proof], session: session)
        #expect(held["outcome"] == "code")
    }

    /// Disables and enables an account, and signs the user out everywhere.
    static func disabling(_ trial: Trial) async throws {
        let app = trial.app
        let subject = try await newSubject(trial)
        let phone = try await app.signIn(subject)
        let account = try await trial.siwa.account(subject)["id"]?.string ?? ""
        try await change(account, "disable", in: trial, [("reason", "security")])
        try await eventually {
            try await app.call(.GET, "/me", session: phone.session).error == "account_disabled"
        }
        #expect(try await app.call(.GET, "/links", session: phone.session).status == 403)
        // Google ends linking, and is not sent on to the browser: siwa decides, before the user is asked and after.
        let link = try await openLink(app, google: trial.google)
        for decision in [[], [("decision", "granted")]] as [PhoneApp.Members] {
            let flipped = try await app.call(.POST, "/google-link", link + decision, session: phone.session)
            #expect(flipped.status == 200 && flipped["outcome"] == "unrecoverable")
            let url = flipped["redirect_to"]?.string ?? ""
            #expect(url.contains("error=unrecoverable") && url.contains("disabled%20this%20account"))
        }
        let refused = try await app.signIn(subject)
        #expect(refused.status == 403 && refused.error == "account_disabled")
        // The same session, and no new sign-in.
        try await change(account, "enable", in: trial)
        try await eventually { try await app.isSignedIn(phone.session) }

        // The user signs in again before the backend reads the event: the new session stays.
        let tablet = try await app.signIn(subject)
        trial.proxy.hold("wait=30")
        try await change(account, "sign-out", in: trial)
        var late = try await app.signIn(subject)
        try await eventually {
            // Apple's times are whole seconds, and the moment of the sign-out is not.
            let ended = try await trial.siwa.account(subject)["sessions_ended_at"]?.string ?? ""
            let since = try await trial.siwa.credential(subject)["since"]?.string ?? ""
            if since <= ended { late = try await app.signIn(subject) }
            return since > ended
        }
        #expect(try await app.isSignedIn(phone.session))
        trial.proxy.release()
        try await eventually { try await !app.isSignedIn(phone.session) }
        #expect(try await !app.isSignedIn(tablet.session))
        #expect(try await app.isSignedIn(late.session))
        #expect(try await trial.siwa.credential(subject)["state"] == "authorized")
    }

    /// Signs a user out everywhere whose session began with a password.
    static func passwordSignOut(_ trial: Trial, _ account: String, _ session: String?) async throws {
        try await change(account, "sign-out", in: trial)
        try await eventually { try await !trial.app.isSignedIn(session) }
    }

    static func change(
        _ account: String, _ what: String, in trial: Trial, _ members: PhoneApp.Members = []
    ) async throws {
        #expect(try await trial.siwa.post("/v1/accounts/\(account)/\(what)", members).status == 200)
    }
}
