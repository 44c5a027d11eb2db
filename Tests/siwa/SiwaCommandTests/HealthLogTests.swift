import AppleAccounts
import KeySets
import Logging
import Testing

@testable import siwa

@Suite struct HealthLogTests {
    static let team = "A1B2C3D4E5"

    /// The levels of the lines for these checks, one after the other.
    static func levels(_ statuses: [KeySetHealth.Status]) -> [[Logger.Level]] {
        var log = HealthLog()
        return statuses.map { log.notice($0).map(\.level) }
    }

    @Test func `a key set that fails, expires and recovers is logged once for each change`() {
        #expect(
            Self.levels([
                .unavailable(nil), .ready, .ready, .stale(.unreachable), .stale(.timedOut), .stale(.timedOut),
                .unavailable(.timedOut), .unavailable(.timedOut), .ready, .ready,
            ]) == [[], [], [], [.warning], [], [], [.error], [], [.notice], []])
    }

    @Test func `a start during an outage is logged, and an old set alone is not`() {
        #expect(
            Self.levels([.unavailable(nil), .unavailable(.unreachable), .stale(nil), .stale(nil), .ready])
                == [[], [.error], [.notice], [], []])
    }

    @Test func `a lost database is logged once for each cause, and when it is back`() {
        var log = HealthLog()
        #expect(log.notice(nil).isEmpty)
        let lost = log.notice(StorageError(.unavailable, detail: "connection refused"))
        #expect(lost.map(\.level) == [.error])
        #expect(lost.first?.fields == ["cause": "unavailable", "detail": "connection refused"])
        #expect(log.notice(StorageError(.unavailable, detail: "no answer in time")).isEmpty)
        #expect(log.notice(StorageError(.readOnly, detail: "")).first?.fields == ["cause": "readOnly"])
        #expect(log.notice(nil).map(\.level) == [.notice])
        #expect(log.notice(nil).isEmpty)
    }

    @Test func `a wrong clock is logged once, and when it is right again`() {
        var log = HealthLog()
        let skews: [Int64?] = [nil, 0, 49, 50, 49, 120, nil, 41, 39, 49, -120, -9000, .min, 0]
        let levels = skews.map { log.notice(secondsAhead: $0).map(\.level) }
        #expect(
            levels == [[], [], [], [.error], [], [], [], [], [.notice], [], [.error], [], [], [.notice]])
    }

    @Test func `what the sample of stored values gives is logged when it changes`() {
        var log = HealthLog(sealedWarning: "lacks a")
        let levels = ["lacks a", "lacks a, b", nil, nil, "lacks a"].map {
            log.notice(sealedWarning: $0).map(\.level)
        }
        #expect(levels == [[], [.warning], [.notice], [], [.warning]])
    }

    @Test func `signing keys that appear and disappear are logged with their IDs`() {
        var log = HealthLog()
        func look(_ keyIDs: Set<String>, _ trouble: String? = nil) -> [String] {
            log.notice(HealthLog.SigningKeys(keyIDs: keyIDs, trouble: trouble), ofTeam: Self.team)
                .map { "\($0.message) \($0.fields["key_id"] ?? $0.fields["cause"] ?? "")" }
        }
        #expect(look(["A"]).isEmpty)
        #expect(look(["A", "B"]) == ["a signing key appeared B"])
        #expect(look(["B"]) == ["a signing key is gone A"])
        #expect(
            look(["B"], "x.p8") == [
                "a signing key cannot be read; one that was read before stays in use x.p8"
            ])
        #expect(look(["B"], "x.p8").isEmpty)
        #expect(look(["B"]) == ["signing keys can be read again "])
        #expect(look([]) == ["the last signing key is gone: Apple cannot be asked B"])
        #expect(look([]).isEmpty)
    }
}
