import Logging
import NIOCore
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import HTTPAPI
@testable import HTTPEngine

/// An overloaded service, over real sockets.
@Suite(.timeLimit(.hung)) struct OverloadTests {
    private var service: RunningService { .current }

    /// Every round counts as late, and refusing costs nothing, so that requests are rejected at once.
    static var overloaded: RunningService.Options {
        var options = RunningService.Options()
        options.limits.admission.target = .nanoseconds(-1)
        options.limits.admission.patience = .milliseconds(1)
        options.limits.admission.cost = .zero
        options.limits.admission.notificationTarget = .seconds(60)
        return options
    }

    /// Sends requests over one connection until three are rejected; the first requests only measure the loop.
    static func untilTurnedAway(
        _ service: RunningService, from target: String
    ) async throws -> [ProbeResponse] {
        try await ProbeConnection.with(port: service.port) { connection in
            var answers: [ProbeResponse] = []
            while answers.count < 3 {
                try await connection.send(RunningService.request("GET", target))
                let answer = try await connection.response()
                if answer.status == 503 { answers.append(answer) }
            }
            // The connection is as good as before.
            try await connection.send(RunningService.request("GET", "/livez"))
            #expect(try await connection.response().status == 200)
            return answers
        }
    }

    /// Checks that callers that are rejected together retry at different times.
    static func expectDifferentTimes(_ answers: [ProbeResponse]) {
        #expect(Set(answers.map { $0["retry-after"] }) == ["1", "2", "3"])
    }

    @Test(.service(OverloadTests.overloaded) { $0.limits.admission.rest = .zero })
    func `turns requests away with a problem that says when to come again`() async throws {
        let answers = try await Self.untilTurnedAway(service, from: "/v1/events")
        Self.expectDifferentTimes(answers)
        let answer = try #require(answers.first)
        #expect(answer.code == "overloaded")
        #expect(answer["content-type"] == "application/problem+json")
        #expect(answer.text.contains("\"request_id\":\"\(answer["x-request-id"] ?? "?")\"}"))
        #expect(
            answer.text
                == String(
                    decoding: ProblemBody(
                        problem: Problem(.overloaded), requestID: answer["x-request-id"] ?? ""
                    ).json(), as: UTF8.self))
        let metrics = try await service.get("/metrics")
        #expect(metrics.status == 200)
        #expect(metrics.text.contains("siwa_http_requests_turned_away_total"))
        #expect(service.loggedText().contains("requests turned away"))
    }

    @Test(
        .service(OverloadTests.overloaded) {
            $0.limits.admission.rest = .zero; $0.oauth = { _ in }
        })
    func `turns a user's browser away with a page`() async throws {
        let answers = try await Self.untilTurnedAway(service, from: "/oauth/authorize?client_id=shop")
        Self.expectDifferentTimes(answers)
        for answer in answers {
            #expect(answer["content-type"] == "text/html; charset=utf-8")
            #expect(answer.text.contains("overloaded"))
        }
    }

    @Test(
        .service(OverloadTests.overloaded) {
            $0.limits.admission.rest = .zero; $0.hasOAuth = true
        })
    func `turns an OAuth client away in the form of OAuth`() async throws {
        let answers = try await Self.untilTurnedAway(service, from: "/oauth/userinfo")
        Self.expectDifferentTimes(answers)
        for answer in answers {
            #expect(answer["content-type"] == "application/json")
            #expect(answer.json?["error"]?.string == "temporarily_unavailable")
        }
    }

    @Test func `answers for a call whose database does not come back, and lets its work go on`() async throws
    {
        var options = RunningService.Options()
        options.limits.workTime = .seconds(5)
        let store = SilentStore()
        options.store = store
        try await RunningService.with(options) { service in
            let answer = try await service.signIn()
            #expect(answer.outcome == "503 storage_unavailable")
            #expect(answer["retry-after"] != nil)
            #expect(answer["connection"] == "close")
            #expect(try await service.get("/readyz", secret: nil).status == 503)
            #expect(try await service.get("/metrics").text.contains("siwa_storage_queue_depth 0"))
            store.open()
            let again = try await service.signIn()
            // The first one has happened.
            #expect(again.status == 200)
            #expect(try await service.get("/readyz", secret: nil).status == 200)
        }
    }

    @Test(.service { $0.limits.workTime = .seconds(3) })
    func `a request that came slowly has as much time as any once it is here`() async throws {
        try await ProbeConnection.with(port: service.port) { connection in
            let body = try Bodies.identityToken()
            let fields = [
                "Expect": "100-continue", "Content-Type": "application/json",
                "Content-Length": String(body.utf8.count),
            ]
            try await connection.send(RunningService.request("POST", "/v1/sign-ins", fields: fields))
            #expect(try await connection.response().status == 100)
            try await Task.sleep(for: .seconds(3))
            try await connection.send(body)
            #expect(try await connection.response().status == 201)
        }
    }

    @Test(
        .service {
            $0.limits.workTime = .milliseconds(100); $0.keys = LateKeys(delay: .seconds(1))
        }, arguments: ["/v1/identity-tokens/verify", "/v1/sign-ins", "/v1/apple/notifications"])
    func `a call that waits for keys longer than for a database is told about keys`(path: String) async throws
    {
        let isNotification = path.hasSuffix("notifications")
        let body = isNotification ? try Bodies.notification() : try Bodies.identityToken()
        let answer = try await service.post(path, body: body)
        #expect(answer.outcome == "503 keys_unavailable")
        #expect(answer["connection"] == nil)
    }

    @Test(.service { $0.mostWaiters = 2 })
    func `a reader for whom there is no room is told to come again, and gets no empty page`() async throws {
        try await ProbeConnection.with(3, port: service.port) { readers in
            for reader in readers {
                try await reader.send(RunningService.request("GET", "/v1/events?wait=2"))
            }
            var answers: [ProbeResponse] = []
            for reader in readers { answers.append(try await reader.response()) }
            #expect(answers.map(\.status).sorted() == [200, 200, 503])
            let refusal = try #require(answers.first { $0.status == 503 })
            #expect(refusal.code == "overloaded")
            #expect(refusal["retry-after"] != nil)
        }
    }

    @Test(.service { $0.limits.workTime = .seconds(5) })
    func `a long poll may take as long as it says`() async throws {
        #expect(try await service.get("/v1/events?wait=7").status == 200)
    }
}

@Suite struct OverloadNoticeTests {
    /// The lines so far.
    static func said(_ log: CapturedLog, _ sink: LogSink) -> [Substring] {
        sink.flush()
        return log.lines.filter { $0.contains("requests turned away") }
    }

    @Test func `says it once in a while, and also after the clock was set back`() {
        let (log, clock) = (CapturedLog(), ManualClock(millisecondsSince1970: RunningService.now))
        let sink = LogSink { log.append($0) }
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { clock.millisecondsSince1970 })
        }
        let notice = OverloadNotice(
            registry: MetricsRegistry(), logger: logger, now: { clock.millisecondsSince1970 })
        for _ in 0..<3 { notice.count() }
        #expect(Self.said(log, sink).count == 1)
        clock.advance(by: .seconds(1))
        notice.count()
        #expect(Self.said(log, sink).count == 2)
        #expect(Self.said(log, sink).last?.contains("count=3") == true)
        clock.advance(by: .seconds(-3600))
        notice.count()
        #expect(Self.said(log, sink).count == 3)
        notice.count()
        #expect(Self.said(log, sink).count == 3)
    }
}

@Suite struct LateCallTests {
    @Test func `a thousand calls a second that end too late are a line in ten seconds`() {
        let (log, clock) = (CapturedLog(), ManualClock(millisecondsSince1970: RunningService.now))
        let sink = LogSink { log.append($0) }
        let logger = Logger(label: "test") { label in
            LineLogHandler(label: label, level: .info, sink: sink, now: { clock.millisecondsSince1970 })
        }
        let observer = RequestObserver(
            registry: MetricsRegistry(), sink: sink, logger: logger, now: { clock.millisecondsSince1970 })
        for _ in 0..<60_000 {
            observer.recordLate()
            clock.advance(by: .milliseconds(1))
        }
        sink.flush()
        let lines = log.lines.filter { $0.contains("calls finished after their time") }
        #expect(lines.count == 6)
        #expect(lines.last?.contains("count=10000") == true)
    }
}
