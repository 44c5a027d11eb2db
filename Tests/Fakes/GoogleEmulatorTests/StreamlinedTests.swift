import GoogleEmulator
import Hummingbird
import JOSE
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct StreamlinedTests {
    @Test(arguments: ["check", "get", "create"])
    func `asks with an ID token of its own`(intent: String) async throws {
        try await GoogleUnderTest.run { google in
            let response = try await google.control(
                "streamlined",
                #"{"intent":"\#(intent)","sub":"42","email":"ada@example.com","hd":"example.com"}"#)
            #expect(response.json?["status"]?.integer == 200)
            let request = try #require(google.server.received("/oauth/token").first).fields
            #expect(request["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
            #expect(request["intent"] == intent)
            #expect(request["client_secret"] == "a-secret-for-google-alone")
            let segments = try #require(JWSSegments(compact: request["assertion"] ?? ""))
            let claims = try JSONValue(parsing: segments.payload)
            #expect(claims["iss"]?.string == "https://accounts.google.com")
            #expect(claims["sub"]?.string == "42")
            #expect(claims["hd"]?.string == "example.com")
            #expect(claims["email_verified"]?.bool == true)
            #expect(google.service.state.links.count == (intent == "check" ? 0 : 1))
        }
    }

    @Test func `a refusal makes no link`() async throws {
        try await GoogleUnderTest.run { google in
            google.server.replace("/oauth/token") { _ in
                ScriptedServer.error("linking_error", status: .unauthorized)
            }
            let response = try await google.control("streamlined", #"{"intent":"get"}"#)
            #expect(response.json?["status"]?.integer == 401)
            #expect(response.json?["body"]?["error"]?.string == "linking_error")
            #expect(google.service.state.links.isEmpty)
        }
    }
}
