import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Encodings
import HTTPEngine
import NIOCore
import OAuth
import Synchronization
import TestSupport
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
        let log = ArrivalLog { Moment(milliseconds: clock.millisecondsSince1970 + ahead.withLock { $0 }) }
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
                let answer = try await service.post(
                    "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
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
        await #expect(throws: AppleTokenError.self) {
            guard case .work(let work) = step else { return }
            _ = try await work()
        }
        #expect(throws: Other.self) {
            _ = try watcher.watching(.apple, token: "t", requestID: "other") { () throws -> Step<Int> in
                throw Other()
            }
        }
        #expect(log.arrivals(from: .apple).map(\.requestID) == ["later", "now"])
        #expect(log.arrivals(from: .apple).first?.code == "audience_mismatch")
    }
}

/// A refusal as the console shows it: the rule, and what was found, without any secret.
@Suite struct RecentRefusalTests {
    @Test(arguments: TokenRefusalReason.allCases)
    func `a refused token request has a rule and a finding`(reason: TokenRefusalReason) {
        let refusal = RecentRefusal(OAuthError.invalidGrant(reason).explained, sent: .none)
        #expect(refusal.check == reason.rawValue)
        #expect(refusal.found == reason.explanation)
        #expect(!refusal.expected.isEmpty && refusal.expected != refusal.found)
    }

    @Test func `a client that is not authenticated has what it sent`() {
        let error = TokenEndpointError(
            OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: true)
        let refusal = RecentRefusal(error, sent: SentAuthorization("Basic c2hvcDpzM2NyZXQ="))
        #expect(refusal.check == "client_not_authenticated")
        #expect(refusal.found == "Client ID or secret is wrong; check both. Sent: Authorization: Basic.")
    }

    @Test(
        arguments: [
            (nil, "no Authorization"),
            (
                "Bearer siwa_wrong",
                "Authorization: Bearer with an API key, which is not one of the configuration"
            ), ("bearer s3cret", "Authorization: Bearer with a text that does not begin like an API key"),
            ("Basic c2hvcDpzM2NyZXQ=", "Authorization: Basic"),
            ("siwa_wrong", "Authorization with neither Bearer nor Basic, or twice"),
            ("", "Authorization with neither Bearer nor Basic, or twice"),
        ] as [(String?, String)])
    func `a caller without a known key has the kind of what it sent, and not the value`(
        field: String?, found: String
    ) {
        let refusal = RecentRefusal(Problem(.callerUnauthenticated), sent: SentAuthorization(field))
        #expect(refusal.found == found)
        for secret in ["siwa_wrong", "s3cret", "c2hvc"] { #expect(!found.contains(secret)) }
        #expect(refusal.expected.contains("API key"))
    }
}

@Suite struct RequesterWatchTests {
    private static let hour = RequesterWatch.window

    private static func client(_ text: String) throws -> ClientAddress {
        try #require(ClientAddress(SocketAddress(ipAddress: text, port: 1)))
    }

    @Test(arguments: ["10.0.0.7", "127.0.0.1", "fd00::7"])
    func `an hour from one private address is said once, and until another address comes`(text: String) throws
    {
        let (watch, proxy) = (RequesterWatch(), try Self.client(text))
        for number in 0..<10 {
            #expect(watch.note(proxy, looksProxied: number == 3, at: Int64(number) * 60_000) == nil)
        }
        #expect(watch.loneAddress == nil)
        let said = watch.note(proxy, looksProxied: true, at: Self.hour)
        #expect(said == proxy.requester.text && watch.loneAddress == said)
        for number in 1..<20 {
            #expect(watch.note(proxy, looksProxied: true, at: Self.hour + Int64(number)) == nil)
        }
        // Said again neither in the next hour, nor ended.
        #expect(watch.note(proxy, looksProxied: true, at: 2 * Self.hour) == nil)
        #expect(watch.loneAddress == said)
        _ = watch.note(try Self.client("203.0.113.7"), looksProxied: true, at: 2 * Self.hour + 1)
        #expect(watch.note(proxy, looksProxied: true, at: 3 * Self.hour) == nil)
        #expect(watch.loneAddress == nil)
    }

    enum Ordinary: CaseIterable {
        case few, publicAddress, twoAddresses, namedProxy, internalBackend, clockSetBack
    }

    @Test(arguments: Ordinary.allCases)
    func `an ordinary hour is not said`(hour: Ordinary) throws {
        let watch = RequesterWatch()
        for number in 0..<(hour == .few ? 9 : 20) {
            let client: ClientAddress? =
                switch hour {
                case .publicAddress: try Self.client("203.0.113.7")
                case .twoAddresses: try Self.client("10.0.0.\(number % 2)")
                case .namedProxy: nil
                case .few, .internalBackend, .clockSetBack: try Self.client("10.0.0.7")
                }
            _ = watch.note(client, looksProxied: hour != .internalBackend, at: 1000 + Int64(number))
        }
        let end = hour == .clockSetBack ? 0 : Self.hour + 2000
        #expect(try watch.note(Self.client("10.0.0.7"), looksProxied: true, at: end) == nil)
        #expect(watch.loneAddress == nil)
    }

    @Test func `the metrics show an hour from one private address while it is said`() throws {
        let (warnings, registry) = (ServiceWarnings(), MetricsRegistry())
        _ = WarningMetrics(registry, warnings: warnings)
        let proxy = try Self.client("10.0.0.7")
        func metric() -> Bool {
            String(decoding: registry.text(), as: UTF8.self).contains("\nsiwa_trusted_proxies_missing 1\n")
        }
        for number in 0..<10 {
            _ = warnings.requesters.note(proxy, looksProxied: true, at: Int64(number))
        }
        #expect(!metric())
        _ = warnings.requesters.note(proxy, looksProxied: true, at: Self.hour)
        #expect(metric())
        _ = warnings.requesters.note(try Self.client("203.0.113.7"), looksProxied: true, at: Self.hour + 1)
        _ = warnings.requesters.note(proxy, looksProxied: true, at: 2 * Self.hour)
        #expect(!metric())
    }
}
