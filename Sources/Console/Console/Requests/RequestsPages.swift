package import HTTPAPI
import HTTPEngine

/// The last requests of this process, and why the service refused them.
///
/// Only operators of all apps see them: a request that was refused belongs to no app, because nothing in it was
/// proven.
package struct RequestsPages: Sendable {
    /// Sends a request of development again.
    package typealias Replay = @Sendable (_ request: RecentRequest, _ requestID: String) async throws -> Int

    private let recent: RecentRequests
    private let audit: (any ConsoleAudit)?
    private let replay: Replay?
    private let address: String

    /// - Parameters:
    ///   - address: The public URL of the service, for commands to copy.
    ///   - audit: Keeps who sent a request again; `nil` where none can be sent.
    ///   - replay: `nil` outside of development.
    package init(
        recent: RecentRequests, address: String, audit: (any ConsoleAudit)? = nil, replay: Replay? = nil
    ) {
        (self.recent, self.address, self.audit, self.replay) = (recent, address, audit, replay)
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/requests", access: .operatorsOfAllApps,
                entry: ConsolePage.Entry("Requests", order: 40)
            ) { list($0) },
            ConsolePage(.get, "/requests/{number}", access: .operatorsOfAllApps) { one($0) },
            ConsolePage(.get, "/codes", access: .operatorsOfAllApps) { _ in
                .template("codes", title: "What codes mean", values: CodeList())
            },
            ConsolePage(.post, "/requests/{number}/replay", access: .development) {
                try await replayed($0)
            },
        ]
    }

    private func list(_ request: ConsoleRequest) -> ConsoleAnswer {
        let filter = RequestFilter(request.query)
        let found = recent.all.lazy.filter { filter.accepts($0) }
        let shown = Array(found.prefix(RequestList.most))
        // The ID of one request is an exact question, whose answer is its page.
        if filter.isExact, shown.count == 1 { return .redirect(to: "/requests/\(shown[0].number)") }
        return .template(
            "requests", title: "Requests",
            values: RequestList(shown, filter: filter, total: recent.count), isLive: filter.isEmpty)
    }

    private func one(_ request: ConsoleRequest) -> ConsoleAnswer {
        guard let found = found(request) else { return .notFound }
        return .template(
            "request", title: "Request \(found.requestID)",
            values: RequestView(
                found, address: address, canReplay: replay != nil && request.viewer.isDevelopment,
                csrf: request.viewer.formToken))
    }

    private func replayed(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let found = found(request), let replay else { return .notFound }
        guard let exchange = found.exchange, !exchange.isBodyCut else {
            return .refused("The request is too long or too old to be sent again: its body is not kept.")
        }
        let id = "replay.\(RequestID.make())"
        try await audit?.record(
            ConsoleAuditEntry(operatorName: request.viewer.name, action: .replayRequest, requestID: id))
        let status: Int
        do {
            status = try await replay(found, id)
        } catch {
            return .refused("The request could not be sent to this service.")
        }
        let path = recent.requests(withID: id).first.map { "/requests/\($0.number)" } ?? "/requests"
        return .redirect(to: path, notice: "Sent again. The response has status \(status).")
    }

    private func found(_ request: ConsoleRequest) -> RecentRequest? {
        guard let number = request.parameters["number"].flatMap({ Int($0) }) else { return nil }
        return recent.all.first { $0.number == number }
    }
}
