import AppleEmulator
import Encodings
import NIOHTTP1
import StrictJSON
import Testing

/// The requests of a service to Apple.
extension EmulatorUnderTest {
    /// A valid client secret, signed by the registered key.
    func clientSecret(_ recipe: ClientSecretRecipe = ClientSecretRecipe()) throws -> String {
        try emulator.state.sign(recipe)
    }

    /// Posts a form with the client ID and a valid secret, both of which `fields` can replace; "" leaves a
    /// field out.
    func call(
        _ path: String, _ fields: [String: String], headers: HTTPHeaders = [:]
    ) async throws -> ReceivedResponse {
        var all = ["client_id": Self.clientID]
        for (name, value) in fields { all[name] = value }
        if all["client_secret"] == nil {
            var recipe = ClientSecretRecipe()
            recipe.clientID = all["client_id"]
            all["client_secret"] = try clientSecret(recipe)
        }
        return try await postForm(
            path, all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, headers: headers)
    }

    func postForm(
        _ path: String, _ fields: [(String, String)], headers: HTTPHeaders = [:],
        followsRedirects: Bool = true
    ) async throws -> ReceivedResponse {
        let body = fields.filter { !$0.1.isEmpty }.map { "\(Self.escape($0.0))=\(Self.escape($0.1))" }
        var headers = headers
        headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        return try await send(
            .POST, path, headers: headers, body: body.joined(separator: "&"),
            followsRedirects: followsRedirects)
    }

    /// A fresh code of the default user.
    func code(_ members: String = #"{"code":true}"#) async throws -> String {
        let response = try await post("/emulator/identity-tokens", members).json
        return try #require(response["authorization_code"]?.string)
    }

    func exchange(_ code: String, _ fields: [String: String] = [:]) async throws -> ReceivedResponse {
        var all = ["grant_type": "authorization_code", "code": code]
        for (name, value) in fields { all[name] = value }
        return try await call("/auth/token", all)
    }

    func refresh(_ token: String, _ fields: [String: String] = [:]) async throws -> ReceivedResponse {
        var all = ["grant_type": "refresh_token", "refresh_token": token]
        for (name, value) in fields { all[name] = value }
        return try await call("/auth/token", all)
    }

    func revoke(_ token: String, clientID: String = clientID) async throws -> ReceivedResponse {
        try await call("/auth/revoke", ["token": token, "client_id": clientID])
    }

    /// The refresh token of a new sign-in.
    func refreshToken(_ members: String = #"{"code":true}"#, clientID: String = clientID) async throws
        -> String
    {
        let response = try await exchange(code(members), ["client_id": clientID])
        return try #require(response.json["refresh_token"]?.string)
    }

    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            switch UInt8(byte) {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }.joined()
    }
}

extension ReceivedResponse {
    /// The code of an OAuth error.
    var error: String? { (try? json)?["error"]?.string }
}
