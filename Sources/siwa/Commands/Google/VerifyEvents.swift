import ArgumentParser
import Cryptography
import Encodings
import StrictJSON

/// `siwa google risc verify`
struct VerifyEvents: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Let Google send a test event, and wait until the service has stored it.",
        discussion: """
            The test event has a random state, by which it is found in the database of the service: any replica \
            may receive it. The service must run. The database comes from the configuration, or from --database.
            """)

    @OptionGroup var options: EventStreamOptions

    @Option(help: "The database of the service, in place of DATABASE_URL.")
    var database: String?

    @Option(help: "Seconds to wait for the event.")
    var timeout = 60

    func validate() throws {
        guard (1...3600).contains(timeout) else {
            throw ValidationError("--timeout must be a number from 1 to 3600.")
        }
    }

    func run() async throws {
        let timeout = timeout
        try await options.perform(.database(database)) { context async throws(EventStreamError) in
            let arrivals = try EventArrivals(in: context.database())
            let state = Base64URL.encode(SecureRandom.bytes(count: 24))
            let result: Swift.Result<Int64, EventStreamError>
            do throws(EventStreamError) {
                // The database is tried first, so that no event is sent in vain.
                _ = try await arrivals.received(state)
                try await context.client.verify(state)
                result = .success(try await arrivals.wait(for: state, seconds: timeout))
            } catch {
                result = .failure(error)
            }
            await arrivals.close()
            let time = RFC3339.text(milliseconds: try result.get())
            return EventStreamOptions.Result(
                rows: [("service account", context.client.key.email), ("test event", "received at \(time)")],
                json: [
                    ("service_account", .string(context.client.key.email)), ("verified", .bool(true)),
                    ("received_at", .string(time)),
                ])
        }
    }
}
