import ArgumentParser

/// `siwa google risc status`
struct EventsStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what is registered at Google.",
        discussion: "The exit status is 0 when it is what this configuration wants, otherwise 1.")

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.run { context async throws(EventStreamError) in
            try await EventRegistration(of: context.client, expectedURL: context.receiverURL())
        }
    }
}
