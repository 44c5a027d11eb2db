import AppleAccounts
import ArgumentParser
import Composition
import KeySets

/// The `siwa deliveries` command.
struct Deliveries: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the receivers of events, resume a paused one, and send events again.",
        discussion: """
            list and verify read the same configuration as siwa serve; resume and replay need the location of the \
            database alone. With SQLite, the service must be stopped for replay, resume and verify.
            """,
        subcommands: [
            ListDeliveries.self, ReplayDeliveries.self, ResumeDeliveries.self, VerifyDeliveries.self,
        ])
}

/// The `siwa deliveries list` command.
struct ListDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show each receiver: what waits for it, and if it is paused.",
        discussion: "The exit status is 2 when a configured receiver is paused.")

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        try await Deliveries.ending {
            try await settings.database.checkPresence()
            let inspection = try settings.database.inspection()
            let states: ReceiverStates
            do {
                states = ReceiverStates(
                    configured: settings.receiverNames, stored: try await inspection.receivers(),
                    lastSequence: try await inspection.lastEventSequence())
            } catch {
                await inspection.close()
                throw error
            }
            await inspection.close()
            for line in states.lines { print(line) }
            if states.findings.contains(where: { $0.verdict == .wrong }) { throw ExitCode(2) }
        }
    }
}

/// The `siwa deliveries resume` command.
struct ResumeDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a paused receiver. It gets everything that it missed, in order.")

    @Argument(help: "The name of the receiver.")
    var name: ReceiverName

    func run() async throws {
        let location = try await DatabaseLocation.ofProcess()
        try await Deliveries.ending {
            let origin = AuditOrigin(.command("deliveries resume"))
            let isKnown = try await OpenedDatabase.with(location) { store in
                try await AuditOrigin.$current.withValue(origin) {
                    try await store.resumeReceiver(name, at: Deliveries.now)
                }
            }
            try Deliveries.require(isKnown, name)
            print("\(name) is resumed.")
        }
    }
}

/// The `siwa deliveries replay` command.
struct ReplayDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Send events again, from a moment on.",
        discussion: """
            The receiver gets every event that was recorded since then, in order, also events that it has \
            taken before; what waits for another attempt is dropped first. With the time of now, everything \
            that waits is skipped. A paused receiver is resumed.
            """)

    @Argument(help: "The name of the receiver.")
    var name: ReceiverName

    @Option(help: "A moment like 2026-11-21T02:00:00Z.")
    var since: Moment

    func run() async throws {
        let location = try await DatabaseLocation.ofProcess()
        try await Deliveries.ending {
            let count = try await OpenedDatabase.with(location) { store -> Int64? in
                let cursor = try await store.eventSequence(before: since)
                let last = try await store.lastEventSequence()
                let origin = AuditOrigin(.command("deliveries replay"))
                let isKnown = try await AuditOrigin.$current.withValue(origin) {
                    try await store.moveReceiver(name, to: cursor, at: Deliveries.now)
                }
                return isKnown ? last - cursor : nil
            }
            try Deliveries.require(count != nil, name)
            print("\(name) gets up to \(count ?? 0) events.")
        }
    }
}

/// The `siwa deliveries verify` command.
struct VerifyDeliveries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Send a verification event to a receiver of security event tokens.",
        discussion: "It is sent once. A webhook with a secret gets none.")

    @Argument(help: "The name of the receiver.")
    var name: ReceiverName

    @Option(help: "A text that the event repeats, of 1,024 bytes at most.")
    var state: String?

    func validate() throws {
        guard (state?.utf8.count ?? 0) <= StreamVerification.longestState else {
            throw ValidationError("--state must have 1,024 bytes at most")
        }
    }

    func run() async throws {
        let settings = try await ServiceSettings.ofProcess()
        try await Deliveries.ending {
            guard settings.getsSecurityEvents(name) || !settings.receiverNames.contains(name) else {
                ErrorMessage.write("\(name) gets no security event tokens, so it gets no verification event.")
                throw ExitCode.failure
            }
            let result = try await OpenedDatabase.with(settings) { store in
                var generator = SystemRandomNumberGenerator()
                let moment = Deliveries.now
                let id = EventID(UniqueID(at: moment, using: &generator))
                return try await store.requestVerification(
                    StreamVerification(id: id, state: state), of: name, at: moment)
            }
            try Deliveries.require(result != .unknownReceiver, name)
            switch result {
            case .accepted: print("\(name) gets a verification event.")
            case .tooSoon:
                ErrorMessage.write(
                    "A verification of \(name) was requested less than a minute ago. Try again later.")
                throw ExitCode.failure
            case .paused:
                ErrorMessage.write("\(name) is paused. Run siwa deliveries resume \(name) first.")
                throw ExitCode.failure
            case .unknownReceiver: break
            }
        }
    }
}

extension Deliveries {
    static var now: Moment { Moment(milliseconds: SystemKeySetClock().millisecondsSince1970) }

    static func require(_ isKnown: Bool, _ name: ReceiverName) throws {
        guard !isKnown else { return }
        ErrorMessage.write(
            "There is no receiver named \(name) in the database. siwa deliveries list shows the receivers; a "
                + "new one is stored when the service starts.")
        throw ExitCode.failure
    }

    /// Runs `body`. If the database fails, prints the error and ends the command.
    static func ending(_ body: () async throws -> Void) async throws {
        try await OpenedDatabase.reportingFailures(
            of: "siwa deliveries",
            busy:
                "siwa serve or another command has the database open. With SQLite, stop the service, run the "
                + "command again, and start the service.", body)
    }
}
