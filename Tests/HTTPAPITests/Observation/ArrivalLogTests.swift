import AppleAccounts
import AppleIdentity
import Encodings
import SignIn
import StrictJSON
import Testing

@testable import HTTPAPI

@Suite struct ArrivalLogTests {
    private static func token(_ claims: String) -> String {
        [#"{"alg":"RS256"}"#, claims, "signature"].map { Base64URL.encode(Array($0.utf8)) }
            .joined(separator: ".")
    }

    private static func log() -> ArrivalLog { ArrivalLog { Moment(seconds: 1000) } }

    @Test func `keeps a fixed number of arrivals of each sender, the newest first`() {
        let log = Self.log()
        for number in 0..<(ArrivalLog.most + 50) {
            log.note(.apple, "token_expired", token: Self.token("{}"), requestID: "req-\(number)")
        }
        log.note(.google, "invalid_key", token: Self.token("{}"), requestID: "g")
        let arrivals = log.arrivals(from: .apple)
        #expect(arrivals.count == ArrivalLog.most)
        #expect(arrivals.first?.requestID == "req-\(ArrivalLog.most + 49)")
        #expect(log.arrivals(from: .google).map(\.requestID) == ["g"])
    }

    @Test(arguments: ["", "a.b", "a.b.c", "a.b.c.d", "....", "\u{0}.\u{1}.\u{2}"])
    func `keeps nothing of a text without claims`(text: String) {
        let log = Self.log()
        log.note(.apple, "token_malformed", token: text, requestID: "r")
        #expect(log.arrivals(from: .apple).map(\.claims) == [[]])
    }

    @Test func `keeps claims up to their bound, and never a signature`() throws {
        let log = Self.log()
        let long = #"{"a":""# + String(repeating: "x", count: ArrivalLog.longestClaims) + #""}"#
        for claims in [#"{"sub":"s"}"#, long, "[1]", "{"] {
            log.note(.apple, "issuer_mismatch", token: Self.token(claims), requestID: "r")
        }
        let kept = log.arrivals(from: .apple).reversed().map { String(decoding: $0.claims, as: UTF8.self) }
        #expect(kept == [#"{"sub":"s"}"#, "", "", ""])
    }

    @Test func `notes refusals of tokens, also those that come later, and no other errors`() async throws {
        let log = Self.log()
        struct Other: Error {}
        #expect(throws: AppleTokenError.self) {
            _ = try log.watching(.apple, token: "t", requestID: "now") { () throws -> Step<Int> in
                throw AppleTokenError(.tokenExpired)
            }
        }
        let step = try log.watching(.apple, token: "t", requestID: "later") { () throws -> Step<Int> in
            .later { throw AppleTokenError(.audienceMismatch) }
        }
        await #expect(throws: AppleTokenError.self) { try await step.value }
        #expect(throws: Other.self) {
            _ = try log.watching(.apple, token: "t", requestID: "other") { () throws -> Step<Int> in
                throw Other()
            }
        }
        #expect(log.arrivals(from: .apple).map(\.requestID) == ["later", "now"])
        #expect(log.arrivals(from: .apple).first?.code == "audience_mismatch")
    }
}
