import AppleAccounts
import Foundation
import Testing

@testable import OAuthFixtures

/// Plays a request to the revocation, introspection or userinfo endpoint, or for a metadata document: the
/// given state, the request, its response, and the tokens afterwards.
struct EndpointPlayer {
    let service: PlayedService
    let content: EndpointCase

    func play() async throws {
        let expect = content.expect
        let given = try await service.prepare(content.given)
        let response = try await send(given)
        #expect(response.status == expect.status, "\(response.text)")
        for (name, part) in expect.headers {
            #expect(response[name]?.contains(part) == true, "\(name): \(response[name] ?? "absent")")
        }
        try expectChallenge(response["www-authenticate"])
        if let error = expect.error { try expectError(try response.object(), error) }
        if let members = expect.members { try expectMembers(response, members, of: given) }
        // Of a request that ends nothing the response says it all.
        guard let given, expect.afterwards != nil || content.request.path == "/oauth/revoke" else {
            #expect(expect.afterwards == nil)
            return
        }
        try await AfterwardsPlayer(service: service, given: given).play(expect.afterwards)
    }

    private func send(_ given: GivenTokens?) async throws -> PlayedResponse {
        let request = content.request
        var fields: [String: String] = [:]
        fields["Content-Type"] = request.contentType
        fields["Authorization"] = try request.authorization.map { try filled($0, given) }
        if let key = request.apiKey {
            try #require(request.authorization == nil)
            fields["Authorization"] = "Bearer \(FixtureDeployment.secret(of: key == "all" ? nil : key))"
        }
        let query = try request.query.map { "?\(try filled($0, given))" } ?? ""
        let body = try request.body.map { try filled($0, given) }
        return try await service.send(request.method, request.path + query, fields, body: body)
    }

    /// Inserts the tokens into a text. Tokens have no character that a form or a query would encode.
    private func filled(_ text: String, _ given: GivenTokens?) throws -> String {
        var result = text
        if text.contains("{access_token}") {
            let token = try #require(given?.tokens.last { !$0.hasPrefix("siwa_rt_") })
            result.replace("{access_token}", with: token)
        }
        if text.contains("{id_token}") {
            result.replace("{id_token}", with: try #require(given?.idToken))
        }
        if text.contains("{refresh_token}") {
            try #require(content.given?.refreshToken != nil)
            result.replace("{refresh_token}", with: try #require(given?.value))
        }
        return result
    }

    // The response

    private func expectChallenge(_ field: String?) throws {
        guard let expected = content.expect.wwwAuthenticate else {
            #expect(field == nil)
            return
        }
        let field = try #require(field)
        #expect(field.hasPrefix("\(expected.scheme) realm="))
        var parameters: [String: String] = [:]
        for match in field.matches(of: #/([a-z_]+)="([^"]*)"/#) {
            parameters[String(match.1)] = String(match.2)
        }
        parameters["realm"] = nil
        parameters["charset"] = nil
        var wanted: [String: String] = [:]
        wanted["error"] = expected.error
        wanted["scope"] = expected.scope
        #expect(parameters == wanted)
    }

    /// Checks an error, which must have a description.
    private func expectError(_ members: [String: any Sendable], _ error: String) throws {
        #expect(members["error"] as? String == error)
        #expect(Set(members.keys) == ["error", "error_description"])
        #expect(try isDescription(#require(members["error_description"] as? String)))
    }

    private func expectMembers(
        _ response: PlayedResponse, _ members: [String: FixtureValue], of given: GivenTokens?
    ) throws {
        #expect(response["content-type"]?.hasPrefix("application/json") == true)
        let actual = try JSONDecoder().decode([String: FixtureValue].self, from: Data(response.body))
        let context = FixtureValue.Context(account: given?.account, now: service.now.milliseconds / 1000)
        #expect(Set(actual.keys) == Set(members.keys))
        for (name, value) in members {
            let found = try #require(actual[name], "\(name)")
            #expect(value.matches(found, in: context), "\(name): \(found), not \(value)")
        }
    }
}

/// A response as received. Foundation reads its JSON, not the reader of the service.
struct PlayedResponse: Sendable {
    let status: Int
    let fields: [String: String]
    let body: [UInt8]

    struct Malformed: Error {}

    init(_ bytes: [UInt8]) throws {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw Malformed() }
        var lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        guard let status = Int(lines.removeFirst().split(separator: " ")[1]) else { throw Malformed() }
        self.status = status
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            let isFirst =
                fields.updateValue(
                    parts[1].trimmingCharacters(in: .whitespaces), forKey: parts[0].lowercased()) == nil
            #expect(isFirst, "\(parts[0]) twice")
        }
        self.fields = fields
        body = Array(bytes[end.upperBound...])
        #expect(fields["content-length"].map { Int($0) == body.count } ?? true)
    }

    subscript(field: String) -> String? { fields[field] }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The members of a JSON object.
    func object() throws -> [String: any Sendable] {
        #expect(fields["content-type"]?.hasPrefix("application/json") == true)
        return try Self.object(Data(body))
    }

    static func object(_ data: Data) throws -> [String: any Sendable] {
        let value = try JSONSerialization.jsonObject(with: data)
        return try #require(value as? [String: any Sendable])
    }

    /// Checks that caches must not store the response (RFC 6749 §5.1).
    func expectNoStore() {
        #expect(fields["cache-control"]?.contains("no-store") == true)
    }
}
