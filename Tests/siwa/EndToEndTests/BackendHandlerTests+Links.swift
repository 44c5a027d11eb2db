import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// The routes of a backend for App Flip and for the links of a user, with the fake Google.
extension BackendHandlerTests {
    static func links(_ trial: Trial) async throws {
        let app = trial.app
        let user = try await app.signIn(try await newSubject(trial))
        #expect(try await links(of: user, trial).isEmpty)

        // Before the user signs in, and then with the account.
        let link = try await openLink(trial, [("user_locale", .string("pl"))])
        let early = try await app.call(.POST, "/google-link", link)
        #expect(early.json?["outcome"]?.string == "prompt")
        #expect(early.json?["prompt"]?["account"] == nil)
        let prompt = try await app.call(.POST, "/google-link", link, session: user.session)
        #expect(prompt.json?["prompt"]?["language"]?.string == "pl")
        #expect(prompt.json?["prompt"]?["account"] != nil)
        try await linkRefusals(trial, user)
        #expect(try await links(of: user, trial).isEmpty)

        // The user leaves scopes out. Google redeems the code of the URL that the app opens.
        let granted: PhoneApp.Members = [
            ("decision", .string("granted")), ("granted_scopes", .string("openid email")),
        ]
        let response = try await app.call(.POST, "/google-link", link + granted, session: user.session)
        #expect(response.json?["outcome"]?.string == "code")
        _ = try await order(trial, "/control/answer", [("url", response.json?["redirect_to"] ?? .null)])
        #expect(try await isActive(trial))
        let listed = try await links(of: user, trial)
        #expect(listed.map { $0["scope"]?.string } == ["openid email"])
        #expect(listed.first?["client_name"]?.string == "Google")
        try await unlinking(trial, try #require(listed.first?["id"]?.string), user)
    }

    /// Links that fail, and users who cannot be linked.
    private static func linkRefusals(_ trial: Trial, _ user: PhoneApp.Response) async throws {
        let app = trial.app
        func outcome(
            _ members: PhoneApp.Members, session: String? = nil
        ) async throws -> String? {
            let response = try await app.call(.POST, "/google-link", members, session: session)
            #expect(response.json?["outcome"] == nil || response.json?["prompt"] == nil)
            return response.json?["outcome"]?.string ?? response.error
        }
        let link = try await openLink(trial)
        let granted: PhoneApp.Members = [("decision", .string("granted"))]
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
        #expect(try await outcome(link + [("decision", .string("denied"))]) == "access_denied")
        #expect(try await outcome(link + [("decision", .string("cancelled"))]) == "cancelled")
        #expect(try await outcome(link + granted) == "session_ended")
        #expect(try await outcome(link, session: "invented") == "session_ended")
        let none: PhoneApp.Members = [("granted_scopes", .string(""))]
        #expect(try await outcome(link + granted + none, session: user.session) == "access_denied")

        // An account that the app names is not used.
        let shown = try await app.call(.GET, "/me", session: user.session).json?["account_id"] ?? .null
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
        return try #require(response.json?["links"]?.array)
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
            .order("/control/link", [("mode", .string("app_flip"))] + more)
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
