import GoogleEmulator
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct FaultDelayTests {
    @Test(arguments: [
        ("certs", "/oauth2/v3/certs"), ("risc_configuration", "/.well-known/risc-configuration"),
    ])
    func `an answer comes after the delay`(place: String, path: String) async throws {
        try await GoogleUnderTest.run { google in
            _ = try await google.control("faults/\(place)", #"{"delay_ms":60000,"times":1}"#, method: .PUT)
            async let response = google.get(path)
            try await google.clock.sleeper(until: GoogleUnderTest.now * 1000 + 60_000)
            google.clock.advance(by: .seconds(60))
            #expect(try await response.status == 200)
        }
    }

    @Test func `a request of Google is sent after the delay`() async throws {
        try await GoogleUnderTest.run { google in
            try await google.link()
            _ = try await google.control("faults/token", #"{"delay_ms":5000,"times":1}"#, method: .PUT)
            let before = google.server.received("/oauth/token").count
            async let response = google.control("refresh")
            try await google.clock.sleeper(until: GoogleUnderTest.now * 1000 + 5000)
            #expect(google.server.received("/oauth/token").count == before)
            google.clock.advance(by: .seconds(5))
            #expect(try await response.json?["status"]?.integer == 200)
        }
    }
}
