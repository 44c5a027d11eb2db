import NIOCore
import TestSupport
import Testing

/// A receiver that has not taken an event for a week, seen by the operator. The week is shortened in the
/// database.
@Suite(.serialized, .timeLimit(.hung)) struct PausedReceiverTests {
    private static let metric = "siwa_event_receiver_"

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `a receiver is paused after a week, and gets everything in order when it is resumed`(
        store: ObservedDatabase.Store
    ) async throws {
        try await DeliverySystem.with(store, ["backend", "mail"]) { system in
            let (backend, mail) = (try system["backend"], try system["mail"])
            backend.follow { _ in .refuse }
            var service = try await system.serve()
            try await Self.signIn(0..<3, service)
            try await eventually {
                try await system.database.query("SELECT count(*) FROM event_retry WHERE attempts > 0") != "0"
            }
            #expect(await service.stop() == 0)
            try await system.database.query(
                """
                UPDATE event_retry SET waiting_since = waiting_since - \(7 * 86_400_000), due_at = 0
                """)

            service = try await system.serve()
            let paused = { (process: ServiceProcess) in
                process.logText.split(separator: "\n").first { $0.contains("a receiver of events is paused") }
            }
            try await eventually { paused(service) != nil }
            let line = try #require(paused(service))
            #expect(line.contains("receiver=backend") && line.contains("waiting=6"), "\(line)")
            let attempts = backend.count
            try await Self.signIn(3..<5, service)
            try await eventually { mail.takenCount == 10 }
            #expect(await service.stop() == 0)

            // A restart does not resume it, and shows it at once.
            service = try await system.serve()
            let numbers = [
                ("paused", "backend", 1), ("waiting", "backend", 10), ("paused", "mail", 0),
                ("waiting", "mail", 0),
            ]
            for (name, receiver, number) in numbers {
                let text = "\(Self.metric)\(name){receiver=\"\(receiver)\"} \(number)\n"
                try await eventually {
                    try await DeliverySystem.backend(service).get("/metrics").text.contains(text)
                }
            }
            let list = try await system.run(["deliveries", "list"])
            #expect(list.status == 2)
            #expect(list.output.contains("backend: paused since 20"))
            #expect(list.output.contains("up to 10 events wait"))
            #expect(list.output.hasSuffix("mail: up to date\n"))
            let doctor = try await system.run(["doctor"])
            #expect(doctor.status != 0)
            let findings = doctor.output.split(separator: "\n")
            let finding = findings.first { $0.contains("backend: paused since 20") }
            #expect(finding?.contains("up to 10 events wait") == true)
            #expect(doctor.output.contains("siwa deliveries resume backend"))
            #expect(backend.count == attempts)

            backend.follow { _ in .take(after: .zero) }
            service = try await Self.run(["resume", "backend"], service, system, store)
            try await eventually { backend.takenCount == 10 }
            let feed = try await DeliveredFeed.read(DeliverySystem.backend(service))
            #expect(feed.events.count == 10)
            #expect(feed.missing(at: backend) == [])
            #expect(feed.overtaking(at: backend) == [])

            // The events of the last two users again, which are of a later moment.
            let first = feed.events[6]
            #expect(first.recordedAt > feed.events[5].recordedAt)
            service = try await Self.run(
                ["replay", "backend", "--since", first.recordedText], service, system, store)
            try await eventually { backend.takenCount == 14 }
            #expect(Set(backend.attempts.suffix(4).map(\.eventID)) == Set(feed.events[6...].map(\.id)))
            #expect(mail.takenCount == 10)
            #expect(await service.stop() == 0)
            let end = try await system.run(["deliveries", "list"])
            #expect(end.output == "backend: up to date\nmail: up to date\n")
            #expect(end.status == 0)
        }
    }

    private static func signIn(_ users: Range<Int>, _ service: ServiceProcess) async throws {
        for user in users {
            let token = try CrashTests.token("user\(user)")
            #expect(try await DeliverySystem.backend(service).signIn(token).status == 201)
        }
    }

    /// Runs a command that writes: with SQLite the service is stopped meanwhile.
    private static func run(
        _ arguments: [String], _ service: ServiceProcess, _ system: DeliverySystem,
        _ store: ObservedDatabase.Store
    ) async throws -> ServiceProcess {
        if store == .sqlite { #expect(await service.stop() == 0) }
        let run = try await system.run(["deliveries"] + arguments)
        #expect(run.status == 0, "\(run.output)")
        return store == .sqlite ? try await system.serve() : service
    }
}
