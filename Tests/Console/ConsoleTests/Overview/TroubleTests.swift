import AppleAccounts
import KeySets
import Logging
import StorageConformance
import TestSupport
import Testing

@testable import Console

/// The sentences under "What is wrong now". An operator who was told only that sign-ins fail for some must find
/// each cause there.
@Suite struct TroubleTests {
    /// A state of the service, and what the first sentence must say about it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let kind: Trouble.Kind
        let severity: Trouble.Severity
        /// Words of the sentence, of the cause and of the advice.
        let words: [String]
        var path: String?
        let change: @Sendable (inout ServiceCondition) -> Void

        var testDescription: String { kind.rawValue }
    }

    static let faults: [Fault] = [
        Fault(
            kind: .keysUnreachable, severity: .bad, words: ["Apple's keys", "timed_out", "appleid.apple.com"]
        ) { $0.keys = KeySetHealth(status: .unavailable(.timedOut), keyCount: 0) },
        Fault(
            kind: .databaseFull, severity: .bad, words: ["database is full", "code 53100", "Make room"]
        ) {
            $0.isPostgres = true
            $0.databaseFailure = StorageError(.full, detail: "No space left", databaseCode: "53100")
        },
        Fault(
            kind: .databaseLocked, severity: .bad,
            words: ["database is locked", "55P03", "pg_blocking_pids", "pg_terminate_backend"]
        ) {
            $0.isPostgres = true
            $0.databaseFailure = StorageError(.busy, detail: "lock timeout", databaseCode: "55P03")
        },
        Fault(
            kind: .standbyLost, severity: .bad,
            words: ["standby is lost", "FIRST 1 (b)", "synchronous_standby_names"]
        ) {
            $0.isPostgres = true
            $0.databaseFailure = StorageError(.busy, detail: "the transaction under way does not come back")
            $0.standbys = (required: 1, connected: 0, wanted: "FIRST 1 (b)")
        },
        Fault(
            kind: .clockWrong, severity: .bad, words: ["10 minutes slow", "from the future", "chronyc"]
        ) { $0.secondsAhead = -600 },
        Fault(
            kind: .sealingKeyWrong, severity: .bad,
            words: ["sealing key is wrong", "7 of the stored values", "SIWA_SEALING_KEYS"]
        ) { $0.unreadableValues = 7 },
        Fault(
            kind: .proxyUnnamed, severity: .warn,
            words: ["All requests of the last hour came from 10.0.0.7", "SIWA_TRUSTED_PROXIES"]
        ) { $0.loneRequester = "10.0.0.7" },
        Fault(
            kind: .notificationsSilent, severity: .warn,
            words: ["notifications do not arrive", "4 tokens", "/v1/apple/notifications"]
        ) { $0.day = [.checkRejected: 4] },
        Fault(
            kind: .googleRefusing, severity: .warn,
            words: ["Google does not take reports", "3 events", "12 attempts", "See Google's answer"],
            path: "/console/events/google"
        ) {
            $0.google = (
                failing: 3, attempts: 12, failingSince: Moment(milliseconds: 1_764_000_000_000)
            )
        },
        Fault(
            kind: .clientHammering, severity: .warn,
            words: [
                "Requests that name the OAuth client acme are refused again and again: 950 in the last five "
                    + "minutes", "95%", "anyone can name a client", "block its address",
            ],
            path: "/console/requests?caller=client%3Aacme"
        ) {
            $0.latest = [
                .refused(caller: "client:acme"): 950, .answered(caller: "client:acme"): 50,
                .answered(caller: "backend"): 400, .refused(caller: "backend"): 20,
            ]
        },
        Fault(
            kind: .peopleRevoked, severity: .note,
            words: ["One person stopped using an app", "6 requests", "time line"],
            path: "/console/events"
        ) { $0.hour = [.revoked: 1, .refused("credential_revoked"): 6] },
    ]

    @Test(arguments: faults) func `names the cause, and what to do, first`(fault: Fault) throws {
        var condition = ServiceCondition.sample
        fault.change(&condition)
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.kind == fault.kind && trouble.severity == fault.severity)
        let text = [trouble.sentence, trouble.cause, trouble.numbers, trouble.advice]
            .joined(separator: "\n")
        for word in fault.words { #expect(text.contains(word), "\(word) is not in: \(text)") }
        if let path = fault.path { #expect(trouble.page?.path == path) }
        #expect(trouble.page != nil, "a page shows more")
        #expect(!trouble.cause.isEmpty && trouble.advice.hasSuffix("."))
    }

    @Test func `says nothing of a service without a fault`() {
        #expect(ServiceCondition.sample.troubles == [])
    }

    @Test func `a wrong clock explains that Apple refuses the secrets`() throws {
        var condition = ServiceCondition.sample
        (condition.hour, condition.recent) = ([.secretRefused: 3], [.secretRefused: 1])
        let alone = try #require(condition.troubles.first)
        #expect(alone.kind == .refusedByApple && alone.advice.contains(".p8 key of this team"))
        condition.secondsAhead = -600
        let both = condition.troubles
        #expect(both.map(\.kind) == [.clockWrong, .refusedByApple])
        #expect(both[1].cause.contains("clock is wrong") && !both[1].advice.contains("Put a valid .p8 key"))
    }

    @Test func `a paused receiver and late work lead to where they are resumed and counted`() throws {
        var condition = ServiceCondition.sample
        condition.pausedReceivers = ["shop-hook"]
        // A check is late only when it was not made the next day either.
        condition.queues = [
            QueueCondition(.erasure, count: 3, oldest: 7200), QueueCondition(.check, count: 3, oldest: 7200),
        ]
        let troubles = condition.troubles
        #expect(troubles.map(\.kind) == [.receiverPaused, .workOverdue])
        #expect(
            troubles.map(\.page?.path) == ["/console/events/deliveries", "/console/overview#work"])
    }

    @Test func `the day before the last notification is not silence`() {
        var condition = ServiceCondition.sample
        condition.day = [.checkRejected: 4, .notification: 1]
        #expect(condition.troubles == [])
        condition.day = [.checkRejected: 4]
        condition.lastNotification = condition.now.advanced(byMilliseconds: -86_399_000)
        #expect(condition.troubles == [])
        condition.lastNotification = condition.now.advanced(byMilliseconds: -86_400_000)
        #expect(condition.troubles.map(\.kind) == [.notificationsSilent])
    }

    @Test func `a fault of the service is not blamed on its callers`() {
        var condition = ServiceCondition.sample
        condition.latest = [.refused(caller: "backend"): 500, .answered(caller: "backend"): 10]
        #expect(condition.troubles.map(\.kind) == [.clientHammering])
        condition.secondsAhead = -600
        #expect(condition.troubles.map(\.kind) == [.clockWrong])
    }

    @Test(arguments: [
        (99, 0, 0, false), (100, 0, 0, true), (100, 100, 0, true), (100, 101, 0, false), (0, 500, 1, true),
    ])
    func `a caller hammers when its requests are refused, or crowd out those of others`(
        refused: Int64, answered: Int64, turnedAway: Int64, isNamed: Bool
    ) {
        var condition = ServiceCondition.sample
        condition.latest = [
            .refused(caller: "a"): refused, .answered(caller: "a"): answered, .turnedAway: turnedAway,
            .answered(caller: "b"): 10,
        ]
        #expect(condition.troubles.contains { $0.kind == .clientHammering } == isNamed)
    }

    @Test(arguments: [
        ("full", Trouble.Kind.databaseFull), ("busy", .databaseLocked), ("readOnly", .databaseFailing),
    ])
    func `a failure that is over is a warning for two minutes, about the newest cause and as the past`(
        name: String, kind: Trouble.Kind
    ) throws {
        let cause = try #require(StorageError.Code.allCases.first { "\($0)" == name })
        var condition = ServiceCondition.sample
        let all = StorageError.Code.allCases.map { (CountName.storageFailure($0.rawValue), Int64(9)) }
        condition.newest = Dictionary(uniqueKeysWithValues: all)
        condition.newestFailure = cause
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.kind == kind && trouble.severity == .warn)
        #expect(trouble.sentence.contains(" was ") || trouble.sentence.contains(" failed "))
        #expect(trouble.cause.contains("said") && !trouble.advice.contains("and end it"))
        // A cause of longer ago is not the one of now.
        condition.newest = [.storageFailure(StorageError.Code.unavailable.rawValue): 1]
        #expect(condition.troubles.map(\.kind) == [.databaseFailing])
    }

    @Test func `what is over is told as the past`() throws {
        var condition = ServiceCondition.sample
        (condition.latest, condition.hour) = ([.turnedAway: 5], [.secretRefused: 3])
        let troubles = condition.troubles
        #expect(troubles.map(\.kind) == [.refusedByApple, .overloaded])
        #expect(troubles[0].sentence.contains("refused the client secrets, not in the last ten minutes"))
        #expect(troubles[1].sentence.contains("was overloaded") && troubles[1].severity == .warn)
    }

    @Test func `old keys are a warning, and say until when they can be used`() throws {
        var condition = ServiceCondition.sample
        condition.keys = KeySetHealth(status: .stale(.unreachable), keyCount: 3)
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.kind == .keysUnreachable && trouble.severity == .warn)
        for status in [KeySetHealth.Status.stale(nil), .unavailable(nil)] {
            condition.keys = KeySetHealth(status: status, keyCount: 3)
            #expect(condition.troubles == [])
        }
    }

    @Test func `old keys that do not verify sign-ins are a failure, with the share and without its shadow`()
        throws
    {
        var condition = ServiceCondition.sample
        condition.keysURL = "https://appleid.apple.com/auth/keys"
        condition.keys = KeySetHealth(status: .stale(.statusUnexpected), keyCount: 3)
        condition.newest = [.undecided: 12, .verified: 36]
        condition.recent = [.undecided: 12, .verified: 36, .refused("keys_unavailable"): 12]
        let trouble = try #require(condition.troubles.first)
        #expect(condition.troubles.count == 1, "no one else is blamed")
        #expect(trouble.severity == .bad && trouble.sentence.contains("a part of the sign-ins"))
        #expect(trouble.numbers.contains("25%") && trouble.numbers.contains("12 of 48"))
        #expect(trouble.cause.contains("https://appleid.apple.com/auth/keys"))
        condition.newest = [.undecided: 12]
        #expect(condition.troubles.first?.sentence.contains("every sign-in is answered with 503") == true)
    }

    @Test(arguments: [(299_999, false), (300_000, true)])
    func `a receiver that takes no event is named after five minutes`(age: Int64, isNamed: Bool) {
        var condition = ServiceCondition.sample
        let since = condition.now.advanced(byMilliseconds: -age)
        condition.lateReceivers = [(name: "shop-hook", waiting: 604, since: since)]
        #expect(condition.troubles.map(\.kind) == (isNamed ? [.receiverLate] : []))
        for trouble in condition.troubles {
            #expect(
                trouble.sentence.contains("shop-hook") && trouble.sentence.contains("5 minutes")
                    || age > 400_000)
            #expect(trouble.numbers.contains("604"))
        }
        // Its numbers are old while the database fails.
        condition.databaseFailure = StorageError(.full, detail: "")
        #expect(condition.troubles.map(\.kind) == [.databaseFull])
    }

    @Test func `keys that do not open are named, and fail the service when none signs`() throws {
        var condition = ServiceCondition.sample
        condition.shutKeys = [
            ShutKey(keyID: "kid-one-long-name", algorithm: "ES256", sealedBy: "a"),
            ShutKey(keyID: "kid-two-long-name", algorithm: "RS256", sealedBy: "a"),
        ]
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.kind == .signingKeysShut && trouble.severity == .warn)
        #expect(trouble.cause.contains("ES256 kid-one-long") && trouble.cause.contains("RS256 kid-two-long"))
        #expect(trouble.advice.contains("retire"))
        condition.signs = false
        #expect(condition.troubles.first?.severity == .bad)
    }

    @Test func `a check contradicts silent notifications before a day is over`() {
        var condition = ServiceCondition.sample
        condition.day = [.checkRejected: 1, .notification: 7]
        condition.lastStoredNotification = condition.now.advanced(byMilliseconds: -7_200_000)
        condition.lastRejection = condition.now.advanced(byMilliseconds: -299_999)
        #expect(condition.troubles == [], "a notification can be slower than a check")
        condition.lastRejection = condition.now.advanced(byMilliseconds: -300_000)
        #expect(condition.troubles.map(\.kind) == [.notificationsSilent])
        condition.lastStoredNotification = condition.now.advanced(byMilliseconds: -299_000)
        #expect(condition.troubles == [], "one has come since")
    }

    @Test
    func `a rejection that another replica has found contradicts them too, with a moment never too late`()
        async throws
    {
        let (store, clock) = (ReferenceStore(), ManualClock(millisecondsSince1970: 1_764_100_800_000))
        let now: @Sendable () -> Moment = { Moment(milliseconds: clock.millisecondsSince1970) }
        let begin = now()
        let hour = ServiceHourCount.beginning(of: begin)
        let numbers = ServiceNumbers(
            totals: { [:] }, store: store, replica: "a", now: now, logger: Logger(label: "test"))
        let monitor = OverviewMonitor(numbers: numbers) {
            var condition = ServiceCondition(now: now(), keys: ServiceCondition.sample.keys)
            condition.lastStoredNotification = begin.advanced(byMilliseconds: -600_000)
            return condition
        }
        /// The kinds after some looks, five seconds apart.
        func troubles(after looks: Int) async -> [Trouble.Kind] {
            var found: [Trouble.Kind] = []
            for _ in 0..<looks {
                found = await monitor.lookNow().troubles.map(\.trouble.kind)
                clock.advance(by: .seconds(5))
            }
            return found
        }
        func count(_ name: CountName) -> ServiceHourCount {
            ServiceHourCount(replica: "b", hour: hour, name: name.text, count: 1)
        }
        try await store.setServiceHours([count(.notification)])
        #expect(await troubles(after: 12) == [])
        try await store.setServiceHours([count(.checkRejected)])
        // A notification can be slower than a check.
        #expect(await troubles(after: 40) == [])
        #expect(await troubles(after: 60) == [.notificationsSilent])
        var shared = SharedRejections()
        shared.look(at: [(hour, 1)], now: begin.advanced(byMilliseconds: 600_000))
        #expect(shared.last == hour)
        shared.look(at: [(hour, 1)], now: begin.advanced(byMilliseconds: 660_000))
        #expect(shared.last == hour)
        shared.look(at: [(hour, 2)], now: begin.advanced(byMilliseconds: 720_000))
        #expect(shared.last == begin.advanced(byMilliseconds: 660_000 - SharedRejections.slowestWrite))
    }

    @Test(arguments: [(-31, true), (-30, false), (30, false), (31, true), (Int(Int64.min), true)])
    func `the clock is wrong from half a minute on`(seconds: Int, isWrong: Bool) {
        var condition = ServiceCondition.sample
        condition.secondsAhead = Int64(seconds)
        #expect(condition.troubles.contains { $0.kind == .clockWrong } == isWrong)
    }

    @Test(arguments: [
        (-60, "beyond 60 seconds new tokens and notifications"), (-61, ": new tokens and notifications"),
        (60, "beyond 60 seconds Apple refuses the client secrets"),
        (61, ": Apple refuses the client secrets"),
    ])
    func `a wrong clock is said to refuse only what it refuses`(seconds: Int64, words: String) throws {
        var condition = ServiceCondition.sample
        condition.secondsAhead = seconds
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.sentence.contains(words), "\(trouble.sentence)")
    }

    @Test func `names the code of most refusals when a fifth of the tokens is refused`() throws {
        var condition = ServiceCondition.sample
        condition.recent = [
            .verified: 79, .unverified: 21, .refused("audience_unknown"): 20, .refused("token_expired"): 1,
        ]
        let trouble = try #require(condition.troubles.first)
        #expect(trouble.kind == .refusesMany && trouble.cause.contains("audience_unknown, 20 times"))
        #expect(trouble.page?.path == "/console/requests?code=audience_unknown")
        condition.latest = [.refused(caller: "shop"): 21, .refused(caller: "backend"): 1]
        #expect(condition.troubles.first?.cause.contains("95% of the refused requests") == true)
        #expect(condition.troubles.first?.cause.hasSuffix("came from the caller shop.") == true)
        condition.latest[.refused(caller: "backend")] = 5
        #expect(condition.troubles.first?.cause == trouble.cause)
        condition.recent[.verified] = 84
        #expect(condition.troubles == [])
    }

    @Test func `remembers since when, as long as it lasts`() {
        var log = TroubleLog()
        let trouble = Trouble(.overloaded, .bad, "x", cause: "", advice: "")
        let (first, second, third) = (
            Moment(milliseconds: 1000), Moment(milliseconds: 2000), Moment(milliseconds: 3000)
        )
        let begun = log.date([trouble], at: first)
        #expect(begun.map(\.since) == [first])
        // The words may change: the trouble is the same.
        let worse = Trouble(.overloaded, .bad, "y", cause: "", advice: "")
        let going = log.date([worse], at: second)
        #expect(going.map(\.since) == [first])
        let over = log.date([], at: second)
        #expect(over == [])
        let anew = log.date([trouble], at: third)
        #expect(anew.map(\.since) == [third])
    }

    @Test func `operators of some apps learn what concerns everyone, and no name and no number of others`() {
        for kind in Trouble.Kind.allCases {
            let trouble = Trouble(kind, .bad, "", cause: "", advice: "")
            let namesOthers: Set<Trouble.Kind> = [
                .clientHammering, .googleRefusing, .receiverPaused, .receiverLate, .workOverdue,
                .refusesMany, .peopleRevoked,
            ]
            #expect(trouble.concernsEveryone == !namesOthers.contains(kind))
        }
    }

    @Test func `numbers of people and requests are apart from the words that everyone may read`() {
        var condition = ServiceCondition.sample
        (condition.day, condition.hour) = ([.checkRejected: 7391], [.secretRefused: 7392])
        (condition.latest, condition.newest) = ([.turnedAway: 7393], [.turnedAway: 1])
        let troubles = condition.troubles.filter(\.concernsEveryone)
        #expect(troubles.map(\.kind) == [.refusedByApple, .overloaded, .notificationsSilent])
        for trouble in troubles {
            for text in [trouble.sentence, trouble.cause, trouble.advice] {
                #expect(!text.contains("739"), "\(text)")
            }
            #expect(trouble.numbers.contains("739"))
        }
    }
}

extension ServiceCondition {
    /// A service without a fault.
    static var sample: ServiceCondition {
        var condition = ServiceCondition(
            now: Moment(milliseconds: 1_764_100_000_000), keys: KeySetHealth(status: .ready, keyCount: 3))
        condition.secondsAhead = 0
        return condition
    }
}
