import AppleEmulator
import Testing

/// The requests of a browser to the authorization endpoint.
extension EmulatorUnderTest {
    static let redirectURI = "https://app.example.com/callback?from=apple"

    /// All parameters of a valid request; "" leaves a parameter out.
    static func authorizeQuery(_ changes: [String: String] = [:]) -> String {
        var all = [
            "client_id": "com.example.app.web", "redirect_uri": redirectURI, "response_type": "code id_token",
            "response_mode": "form_post", "scope": "name email", "state": "s-1", "nonce": "n-1",
        ]
        for (name, value) in changes { all[name] = value }
        return "/auth/authorize?"
            + all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(escape($0.value))" }.joined(separator: "&")
    }

    static func runWithRedirectURIs(_ body: (EmulatorUnderTest) async throws -> Void) async throws {
        try await run {
            $0.apps[0].redirectURIs = [redirectURI, "http://localhost:3000/back"]
        } _: { apple in
            try await body(apple)
        }
    }

    /// Opens the page and returns the name that its forms send back.
    func openPage(_ changes: [String: String] = [:]) async throws -> String {
        let response = try await get(Self.authorizeQuery(changes))
        #expect(response.status == 200)
        return try #require(response.field("page"))
    }

    func press(_ page: String, _ fields: [(String, String)]) async throws -> ReceivedResponse {
        try await postForm("/auth/authorize", [("page", page)] + fields, followsRedirects: false)
    }
}
