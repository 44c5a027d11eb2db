import ArgumentParser

/// `siwa google risc register`
struct RegisterEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register",
        abstract: "Let Google send its security events to this service.",
        discussion: """
            Replaces what is registered for the project, and enables it. Run it again after a change of the \
            service's URL; run twice it changes nothing more.
            """)

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.run { context async throws(EventStreamError) in
            let url = try context.receiverURL()
            let client = context.client
            try await client.update(EventStream(url: url, events: EventStream.wantedEvents))
            if try await client.status() != .enabled { try await client.setStatus(isEnabled: true) }
            return try await EventRegistration(of: client, expectedURL: url)
        }
    }
}
