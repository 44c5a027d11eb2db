import AppleEmulator
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import GoogleEmulator
import Logging
import NIOHTTP1
import SiwaBinary
import TestSupport
import Testing

/// The fake Apple and the fake Google in this process, and services with OAuth clients as processes of their
/// own, all on one database.
struct LinkedSystem: Sendable {
    let apple: EmulatedApple
    let google: GoogleState
    let database: ObservedDatabase
    let directory: TemporaryDirectory
    /// Ports of the replicas. The first port is in the issuer, whose documents the fake Google reads.
    let ports: [Int]
    private let variables: [String: String]

    var issuer: String { "http://127.0.0.1:\(ports[0])" }

    /// The key, made once, because making a key takes longer than most tests.
    private static let googleKey = Task { try GoogleKey.generate() }

    /// - Parameter hasClients: True for services with OAuth clients.
    static func with<Result: Sendable>(
        _ store: ObservedDatabase.Store, hasClients: Bool = true,
        _ body: @Sendable (LinkedSystem) async throws -> Result
    ) async throws -> Result {
        let ports = [try FreePort.find(), try FreePort.find()]
        let issuer = "http://127.0.0.1:\(ports[0])"
        var linking = GoogleEmulatorConfiguration(
            clientID: LinkedClients.google, clientSecret: LinkedClients.googleSecret,
            scopes: LinkedClients.googleScopes)
        linking.key = try await googleKey.value
        linking.googleClientID = LinkedClients.googleClientID
        linking.server = LinkedServer(issuer: issuer)
        let google = try await GoogleEmulatorService(configuration: linking, clock: .system, logger: .silent)
        return try await WholeSystem.withApple(configuring: {
            $0.apps[0].redirectURIs = ["\(issuer)/v1/web/callback"]
        }) { apple, directory in
            let database = try await ObservedDatabase.make(store, in: directory)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await google.run() }
                var variables = try await WholeSystem.variables(apple).merging([
                    "SIWA_GOOGLE_BASE_URL": "http://127.0.0.1:\(try await google.port())",
                    "SIWA_PUBLIC_URL": issuer, "SIWA_WEB_REDIRECT_URL": "\(issuer)/health",
                    "DATABASE_URL": database.url,
                ]) { $1 }
                if hasClients {
                    variables["SIWA_CONFIG"] = try directory.write(
                        LinkedClients.configuration, to: "siwa.yaml")
                }
                let result = try await body(
                    LinkedSystem(
                        apple: apple, google: google.state, database: database, directory: directory,
                        ports: ports, variables: variables))
                group.cancelAll()
                return result
            }
        }
    }

    /// Two replicas on PostgreSQL, both ready.
    static func withReplicas<Result: Sendable>(
        _ body: @Sendable (LinkedSystem, [ServiceProcess]) async throws -> Result
    ) async throws -> Result {
        try await with(.postgres) { system in
            let replicas = try await system.replicas(2)
            let result = try await body(system, [try #require(replicas[0]), try #require(replicas[1])])
            _ = await replicas.stop()
            return result
        }
    }

    func replicas(_ count: Int) async throws -> Replicas { try await Replicas(count) { try await serve($0) } }

    /// Starts a replica, at the same port each time.
    func serve(_ number: Int = 0, _ more: [String: String] = [:]) async throws -> ServiceProcess {
        let port = ["SIWA_PORT": "\(ports[number])"]
        let service = try await ServiceProcess.serve(
            directory, variables.merging(port) { $1 }.merging(more) { $1 })
        try await eventually { try await service.backend.get("/readyz").status == 200 }
        return service
    }

    /// Runs a command of the operator with the configuration of the service.
    func run(_ arguments: [String], _ more: [String: String] = [:]) async throws -> ProgramRun {
        try await BuiltSiwa.run(arguments, variables.merging(more) { $1 }, in: directory)
    }

    /// Makes a user at the fake Apple.
    func makeUser() throws -> EmulatedUser { try apple.state.makeUser(UserRecipe()) }

    /// The identity token that the iPhone of a user gets from Apple; `nil` for a new user.
    func identityToken(of user: EmulatedUser? = nil) async throws -> String {
        try await apple.state.mint(.of(try user ?? makeUser())).identityToken
    }

    /// The notification that Apple sends when the user stops using the app.
    func revocation(of user: EmulatedUser) async throws -> String {
        try #require(try await apple.state.notifications(of: .revokeConsent, by: user).first)
    }
}

/// The OAuth clients of `LinkedSystem`.
enum LinkedClients {
    static let google = "google"
    static let googleSecret = "the secret that was typed into Google's console"
    static let googleScopes = ["openid", "email"]
    static let googleClientID = "123-test.apps.googleusercontent.com"
    static let appFlipURI = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
    static let web = "shop"
    static let webSecret = "the secret of the shop"
    static let webURI = "https://shop.example.com/back"
    /// Native apps, enough to reach the limit of an account.
    static let phones = (1...6).map { "phone-\($0)" }
    static let phoneURI = "com.example.app:/back"

    static let configuration = """
        oauth:
          clients:
            - id: \(google)
              kind: google_linking
              app: \(WholeSystem.clientID)
              name: Google
              secret_hashes: [\(hash(googleSecret))]
              scopes: [\(googleScopes.joined(separator: ", "))]
              project_id: test-project
              app_flip: true
              google_client_ids: [\(googleClientID)]
            - id: \(web)
              kind: web
              app: \(WholeSystem.clientID)
              name: Shop
              secret_hashes: [\(hash(webSecret))]
              scopes: [openid, offline_access]
              redirect_uris: ["\(webURI)"]

        """ + phones.map(phone).joined()

    private static func phone(_ id: String) -> String {
        """
            - id: \(id)
              kind: native
              app: \(WholeSystem.clientID)
              name: Phone
              platform: ios
              scopes: [openid, offline_access]
              redirect_uris: ["\(phoneURI)"]

        """
    }

    private static func hash(_ secret: String) -> String { Hexadecimal.encode(SHA256Digest.hash(secret)) }
}

/// A user with a browser without scripts, who signs in at the fake Apple and agrees to the request of a
/// native app. Every request goes to the next replica.
actor UserAtBrowser {
    private let system: LinkedSystem
    private let replicas: [ServiceProcess]
    private let user: EmulatedUser
    private var cookies: [String: String] = [:]
    private var requests = 0

    struct Lost: Error, CustomStringConvertible { let description: String }

    init(_ user: EmulatedUser, _ system: LinkedSystem, at replicas: [ServiceProcess]) {
        (self.user, self.system, self.replicas) = (user, system, replicas)
    }

    /// The `Cookie` field, for requests that do not use this browser.
    var cookieField: String { cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }

    static func target(phone: String) -> String {
        let challenge = Base64URL.encode(SHA256Digest.hash(ServiceProcess.phoneVerifier).bytes)
        let fields = [
            (name: "response_type", value: "code"), ("client_id", phone), ("state", "s-1"),
            ("redirect_uri", LinkedClients.phoneURI), ("scope", "openid offline_access"),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        return "/oauth/authorize?\(FormEncoding.encode(fields))"
    }

    /// Returns the code that the app receives.
    func code(phone: String) async throws -> String {
        var response = try await send(Self.target(phone: phone), nil)
        for _ in 0..<12 {
            if let location = response.location {
                if location.hasPrefix(LinkedClients.phoneURI) {
                    guard let code = TestClient.parameter("code", of: location) else { break }
                    return code
                }
                response = try await follow(location)
            } else if let page = Page(response.text, csrf: "csrf_token") {
                response = try await send(page.action, page.fields + [("decision", "agree")])
            } else {
                break
            }
        }
        throw Lost(description: "\(response.status) \(response.location ?? "") \(response.text)")
    }

    private func follow(_ location: String) async throws -> TestClient.Response {
        let apple = "http://127.0.0.1:\(try await system.apple.port())"
        if location.hasPrefix(system.issuer) {
            return try await send(String(location.dropFirst(system.issuer.count)), nil)
        }
        guard location.hasPrefix(apple) else { return try await send(location, nil) }
        // The chooser, the page that asks, and the form that leads back.
        let chooser = try await TestClient.send(.GET, location)
        guard let page = Page(chooser.text, csrf: "page")?.fields.first?.value else {
            throw Lost(description: "Apple: \(chooser.status) \(chooser.text)")
        }
        let allowed = try await TestClient.send(
            .POST, "\(apple)/auth/authorize", form: [("page", page), ("allow", user.subject)])
        guard let back = Page(allowed.text, csrf: "state"), back.action.hasPrefix(system.issuer) else {
            throw Lost(description: "Apple: \(allowed.status) \(allowed.text)")
        }
        return try await send(String(back.action.dropFirst(system.issuer.count)), back.fields)
    }

    private func send(_ target: String, _ form: TestClient.Fields?) async throws -> TestClient.Response {
        let replica = replicas[requests % replicas.count]
        requests += 1
        let response = try await TestClient.send(
            form == nil ? .GET : .POST, replica.url + target,
            headers: form == nil ? [] : [("Origin", "null")], form: form,
            cookie: cookies.isEmpty ? nil : cookieField)
        for field in response.headers["Set-Cookie"] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            guard let name = pair.first else { continue }
            cookies[String(name)] = pair.count == 2 && !field.contains("Max-Age=0") ? String(pair[1]) : nil
        }
        return response
    }

    /// A page with a form that has hidden fields.
    private struct Page {
        let action: String
        let fields: TestClient.Fields

        /// `nil` when no form has a hidden field of this name.
        init?(_ html: String, csrf name: String) {
            let action = html.firstMatch(of: #/<form[^>]*method="post"[^>]*action="([^"]*)"/#)
            let fields = html.matches(of: #/<input type="hidden" name="([^"]*)" value="([^"]*)">/#)
                .map { (name: $0.1.htmlUnescaped, value: $0.2.htmlUnescaped) }
            guard let action, fields.contains(where: { $0.name == name }) else { return nil }
            (self.action, self.fields) = (action.1.htmlUnescaped, fields)
        }
    }
}
