import AppleAccounts
import ArgumentParser
import Composition
import Cryptography
import Encodings
import StrictJSON

/// The `siwa google risc verify` command.
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
                // Opens the database before asking Google for an event, so that Google sends no event that
                // the command could not find.
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

/// Looks for Google's test events in the service's database.
struct EventArrivals: Sendable {
    private let inspection: any DatabaseInspection

    /// Opens the database. Throws `.verificationMissing` if that fails.
    init(in location: DatabaseLocation) throws(EventStreamError) {
        do {
            inspection = try location.inspection()
        } catch {
            throw Self.unreadable(error)
        }
    }

    func close() async { await inspection.close() }

    /// Returns the time at which the test event with this state was received, in milliseconds since 1970;
    /// `nil` if the event has not arrived.
    func received(_ state: String) async throws(EventStreamError) -> Int64? {
        do {
            guard try await inspection.schema() == .present else {
                throw EventStreamError(
                    .verificationMissing,
                    "the database does not have the tables of this version; start siwa serve with it, and check "
                        + "DATABASE_URL or --database")
            }
            return try await inspection.googleVerification(state)?.milliseconds
        } catch let error as EventStreamError {
            throw error
        } catch {
            throw Self.unreadable(error)
        }
    }

    /// Waits until the test event has arrived. Throws `.verificationMissing` if it has not arrived within the
    /// time limit.
    func wait(for state: String, seconds: Int) async throws(EventStreamError) -> Int64 {
        let end = ContinuousClock.now.advanced(by: .seconds(seconds))
        while true {
            if let moment = try await received(state) { return moment }
            guard ContinuousClock.now < end, (try? await Task.sleep(for: .milliseconds(250))) != nil else {
                break
            }
        }
        throw EventStreamError(
            .verificationMissing,
            """
            Google has accepted the call, but no test event has arrived within \(seconds) s
            Check with siwa google risc status that the stream is enabled and has the right URL, that Google reaches \
            this URL (POST, through the proxy), and that google_client_ids has the client IDs of this project: the \
            log and siwa_http_requests_total show refused events with 400.
            """)
    }

    private static func unreadable(_ error: any Error) -> EventStreamError {
        EventStreamError(
            .verificationMissing,
            "the database of the service cannot be read (\(ErrorMessage.text(for: error))); check DATABASE_URL or "
                + "--database")
    }
}
