import ArgumentParser
import StrictJSON

/// `siwa google risc unregister`
struct UnregisterEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister",
        abstract: "Stop Google's security events for the project.",
        discussion: """
            Google's API can disable a registration, not remove it; register enables it again. Without a \
            registration nothing is done, and the exit status is 0 too.
            """)

    @OptionGroup var options: EventStreamOptions

    func run() async throws {
        try await options.perform(.key) { context async throws(EventStreamError) in
            let client = context.client
            var word = "not registered"
            if try await client.stream() != nil {
                try await client.setStatus(isEnabled: false)
                word = try await client.status().word
            }
            return EventStreamOptions.Result(
                rows: [("service account", client.key.email), ("status", word)],
                json: [("service_account", .string(client.key.email)), ("status", .string(word))])
        }
    }
}
