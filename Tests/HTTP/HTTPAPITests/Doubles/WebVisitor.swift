import Cryptography
import Encodings
import StrictJSON
import Testing

/// A browser with Apple's role: begins sign-ins, posts the form back, and follows the redirect to the app's
/// page.
final class WebVisitor {
    static let webClientID = "com.example.web"
    static let code = "c1234567890.0.abcd.EFGH-ijkl_mnop"

    let service: RunningService
    /// Cookie of the browser, if any.
    var cookie: String?

    init(_ service: RunningService) { self.service = service }

    /// The request to Apple's page.
    struct Redirect {
        let response: ProbeResponse
        let parameters: [String: String]

        var state: String { parameters["state"] ?? "" }
        var nonce: String { parameters["nonce"] ?? "" }
    }

    func get(_ target: String) async throws -> ProbeResponse {
        let fields = cookie.map { ["Cookie": "other=1; \($0)"] } ?? [:]
        let response = try await service.get(target, secret: nil, fields: fields)
        if let set = response["set-cookie"] {
            let pair = set.prefix { $0 != ";" }
            cookie = set.contains("Max-Age=0") ? nil : String(pair)
        }
        return response
    }

    func begin(_ query: String = "") async throws -> Redirect {
        let response = try await get("/v1/web/sign-in\(query)")
        return Redirect(response: response, parameters: Self.parameters(of: response["location"] ?? ""))
    }

    /// The form that Apple would post after the user agreed.
    func form(
        for redirect: Redirect, code: String = WebVisitor.code, user: String? = nil,
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> [(String, String)] {
        let token = try Bodies.token { claims in
            claims["aud"] = .string(Self.webClientID)
            claims["nonce"] = .string(redirect.nonce)
            claims["c_hash"] = .string(Base64URL.encode(SHA256Digest.hash(code).prefix(16)))
            change(&claims)
        }
        let user = user.map { [("user", $0)] } ?? []
        return [("state", redirect.state), ("code", code), ("id_token", token)] + user
    }

    /// Posts the form as Apple's page does: from another site, so without the cookie.
    func post(_ form: [(String, String)]) async throws -> ProbeResponse {
        try await post(text: form.map { "\($0.0)=\(Self.encode($0.1))" }.joined(separator: "&"))
    }

    func post(text: String) async throws -> ProbeResponse {
        try await service.post(
            "/v1/web/callback", body: text, secret: nil,
            fields: [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": "https://appleid.apple.com",
            ])
    }

    /// Follows the redirect of the callback's response; returns the response to the app's page.
    func follow(_ response: ProbeResponse) async throws -> ProbeResponse {
        try await get(Self.target(of: try #require(response["location"])))
    }

    /// Follows all steps from the link to the app's page.
    func visit(_ query: String = "", user: String? = nil) async throws -> [String: String] {
        let redirect = try await begin(query)
        let arrived = try await post(try form(for: redirect, user: user))
        let finished = try await follow(arrived)
        return Self.parameters(of: try #require(finished["location"]))
    }

    func redeem(_ code: String, secret: String = RunningService.secret) async throws -> ProbeResponse {
        try await service.post(
            "/v1/web/results", body: Bodies.json([("code", .string(code))]), secret: secret)
    }

    static func target(of location: String) -> String {
        String(location.dropFirst("https://siwa.test".count))
    }

    /// Returns the decoded parameters of a URL, as its receiver sees them.
    static func parameters(of location: String) -> [String: String] {
        let query = location.split(separator: "?", maxSplits: 1).last ?? ""
        var parameters: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            parameters[String(parts[0])] = parts.count == 2 ? decode(parts[1]) : ""
        }
        return parameters
    }

    static func encode(_ text: String) -> String {
        text.utf8.map { byte in
            Character(UnicodeScalar(byte)).isLetter && byte < 0x80
                ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
        }.joined()
    }

    private static func decode(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes += Hexadecimal.decode(String(decoding: rest.prefix(2), as: UTF8.self).lowercased()) ?? []
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
