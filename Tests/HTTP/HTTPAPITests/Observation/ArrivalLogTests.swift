import AppleAccounts
import AppleIdentity
import Encodings
import SignIn
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

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
        #expect(kept == [#"{"sub":"…"}"#, "", "", ""])
    }

    @Test(arguments: [
        #"{"sub":"001999.user7","email":"user7@hidden.example","events":"{\"sub\":\"001999.user7\"}"}"#,
        #"{"events":" [{\"sub\":\"001999.user7\",\"email\":\"user7@hidden.example\"}]"}"#,
        #"{"events":{"x":{"subject":{"sub":"001999.user7","email":"user7@hidden.example"}}}}"#,
        #"{"events":{"x":{"subject":{"token":"user7-refresh-token"}}},"name":"user7"}"#,
        #"{"a":"{\"sub\":\"user7\",\"sub\":\"user7\"}"}"#,
    ])
    func `nothing that it keeps leads to a user, so nothing is left after an erasure`(claims: String) {
        let log = Self.log()
        log.note(.apple, "duplicate", isRefused: false, token: Self.token(claims), requestID: "r")
        let kept = log.arrivals(from: .apple).map { String(decoding: $0.claims, as: UTF8.self) }
        #expect(kept.count == 1 && kept.allSatisfy { !$0.isEmpty && !$0.contains("user7") }, "\(kept)")
    }

    @Test func `what it keeps never grows beyond its bound by the masks`() {
        let log = Self.log()
        let members = (0..<250).map { #""\#($0)":{"sub":0}"# }.joined(separator: ",")
        log.note(.apple, "x", token: Self.token("{\(members)}"), requestID: "r")
        #expect(log.arrivals(from: .apple).map(\.claims) == [[]])
    }

    @Test func `an arrival is forgotten after a day`() {
        let clock = ManualClock(millisecondsSince1970: 1000)
        let log = ArrivalLog { Moment(milliseconds: clock.millisecondsSince1970) }
        func ids() -> [String] { log.arrivals(from: .apple).map(\.requestID) }
        for number in 0..<(ArrivalLog.most + 5) {
            log.note(.apple, "x", token: "t", requestID: "\(number)")
            if number == ArrivalLog.most - 1 { clock.advance(by: .seconds(60)) }
        }
        clock.advance(by: .milliseconds(ArrivalLog.keptFor - 60_001))
        #expect(ids().count == ArrivalLog.most)
        clock.advance(by: .milliseconds(1))
        #expect(ids() == ["104", "103", "102", "101", "100"])
        clock.advance(by: .seconds(60))
        log.dropOld()
        #expect(ids() == [])
        log.note(.apple, "x", token: "t", requestID: "new")
        #expect(ids() == ["new"])
    }

    @Test func `an arrival of a clock that was ahead keeps neither itself nor others beyond a day`() {
        let clock = ManualClock(millisecondsSince1970: 10 * ArrivalLog.keptFor)
        // Milliseconds by which the clock is ahead.
        let ahead = Mutex<Int64>(0)
        let log = ArrivalLog {
            Moment(milliseconds: clock.millisecondsSince1970 + ahead.withLock { $0 })
        }
        func ids() -> [String] { log.arrivals(from: .apple).map(\.requestID) }
        func note(_ id: String, ahead wrong: Int64) {
            ahead.withLock { $0 = wrong }
            log.note(.apple, "x", token: "t", requestID: id)
        }
        note("far", ahead: 30 * ArrivalLog.keptFor)
        note("near", ahead: ArrivalLog.mostAhead)
        note("right", ahead: 0)
        #expect(ids() == ["right", "near"])
        clock.advance(by: .milliseconds(ArrivalLog.keptFor))
        log.note(.apple, "x", token: "t", requestID: "new")
        #expect(ids() == ["new", "near"])
        clock.advance(by: .milliseconds(ArrivalLog.mostAhead))
        #expect(ids() == ["new"])
    }

    @Test func `without a console nothing is kept, and refusals are the same`() async throws {
        let none: ArrivalLog? = nil
        #expect(throws: AppleTokenError.self) {
            _ = try none.watching(.apple, token: "t", requestID: "r") { () throws -> Step<Int> in
                throw AppleTokenError(.tokenExpired)
            }
        }
        try await RunningService.with { service in
            for _ in 0..<2 {
                let answer = try await service.call(
                    "POST", "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
                #expect(answer.status == 200)
            }
        }
    }

    @Test func `notes refusals of tokens, also those that come later, and no other errors`() async throws {
        let log = Self.log()
        struct Other: Error {}
        let watcher: ArrivalLog? = log
        #expect(throws: AppleTokenError.self) {
            _ = try watcher.watching(.apple, token: "t", requestID: "now") { () throws -> Step<Int> in
                throw AppleTokenError(.tokenExpired)
            }
        }
        let step = try watcher.watching(.apple, token: "t", requestID: "later") { () throws -> Step<Int> in
            .later { throw AppleTokenError(.audienceMismatch) }
        }
        await #expect(throws: AppleTokenError.self) { try await step.value }
        #expect(throws: Other.self) {
            _ = try watcher.watching(.apple, token: "t", requestID: "other") { () throws -> Step<Int> in
                throw Other()
            }
        }
        #expect(log.arrivals(from: .apple).map(\.requestID) == ["later", "now"])
        #expect(log.arrivals(from: .apple).first?.code == "audience_mismatch")
    }
}
