import AppleAccounts

/// Looks for test events of Google in the database of the service.
struct EventArrivals: Sendable {
    private let inspection: any DatabaseInspection

    /// Throws `.verificationMissing` when the database cannot be opened.
    init(in location: DatabaseLocation) throws(EventStreamError) {
        do {
            inspection = try location.inspection()
        } catch {
            throw Self.unreadable(error)
        }
    }

    func close() async { await inspection.close() }

    /// Returns the time at which the test event with this state was received, in milliseconds since 1970;
    /// `nil` when it has not arrived.
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

    /// Waits until the test event has arrived. Throws `.verificationMissing` after the time.
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
