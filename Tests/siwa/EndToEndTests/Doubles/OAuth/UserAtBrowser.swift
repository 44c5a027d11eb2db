import AppleEmulator
import Cryptography
import Encodings
import NIOHTTP1
import TestSupport

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
