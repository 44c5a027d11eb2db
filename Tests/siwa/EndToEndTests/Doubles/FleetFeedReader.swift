import StrictJSON

/// Reads the feed of account events from any running replica.
actor FleetFeedReader {
    struct Event: Sendable, Hashable {
        let id: String
        let type: String
        let subject: String?
        let accountID: String?
    }

    private let fleet: Fleet
    private var replica: Int
    private(set) var events: [Event] = []
    private(set) var cursor: Int64 = 0
    /// True if a cursor did not advance by the number of events.
    private(set) var hasGap = false

    init(_ fleet: Fleet, startingAt replica: Int) {
        (self.fleet, self.replica) = (fleet, replica)
    }

    /// Runs until the ledger is closed.
    func run(_ ledger: FleetLedger) async {
        while !ledger.isClosed, !Task.isCancelled { _ = await readPage(waiting: 1) }
    }

    /// Reads the remaining events to the end of the feed.
    func readToEnd() async throws {
        while let count = await readPage(waiting: 0), count > 0 {}
    }

    /// Reads a page. Returns `nil` when no replica responded.
    private func readPage(waiting seconds: Int) async -> Int? {
        let target = "/v1/events?after=\(cursor)&limit=50&wait=\(seconds)"
        guard let response = try? await fleet.backend(replica)?.get(target), response.status == 200,
            let page = response["events"]?.array, let next = response["cursor"]?.string.flatMap({ Int64($0) })
        else {
            replica = (replica + 1) % fleet.count
            try? await Task.sleep(for: .milliseconds(20))
            return nil
        }
        for event in page {
            events.append(
                Event(
                    id: event["id"]?.string ?? "", type: event["type"]?.string ?? "",
                    subject: event["sub"]?.string, accountID: event["account_id"]?.string))
        }
        if next != cursor + Int64(page.count) { hasGap = true }
        cursor = next
        return page.count
    }
}
