import Encodings
import HTTPAPI

/// Values of the list.
struct RequestList: Sendable {
    /// Rows of a page.
    static let most = 200

    struct Row: Sendable {
        let number: Int
        let time: String
        let method: String
        let route: String
        let status: Int
        /// The style of the status: `good`, `warn` or `bad`.
        let style: String
        let code: String
        let caller: String
        let duration: String
        let requestID: String
    }

    let rows: [Row]
    let isEmpty: Bool
    let count: Int
    let total: Int
    let id: String
    let code: String
    let caller: String
    let route: String
    let showsRefused: Bool
    let refusedBound = RecentRequests.refusedBound
    let acceptedBound = RecentRequests.acceptedBound
    let unknownBound = RecentRequests.unknownBound

    init(_ requests: [RecentRequest], filter: RequestFilter, total: Int) {
        rows = requests.map { request in
            Row(
                number: request.number, time: Self.time(request.time), method: request.method,
                route: request.route, status: request.status, style: Self.style(request),
                code: request.reason ?? request.code ?? "",
                caller: Self.caller(request),
                duration: Self.duration(request.microseconds),
                requestID: request.requestID)
        }
        isEmpty = requests.isEmpty
        count = requests.count
        self.total = total
        (id, code, caller, route) = (filter.id, filter.code, filter.caller, filter.route)
        showsRefused = filter.showsRefused
    }

    /// Anyone can name a client.
    private static func caller(_ request: RecentRequest) -> String {
        request.caller ?? request.client.map { request.isProven ? $0 : "names \($0)" } ?? "none"
    }

    static func style(_ request: RecentRequest) -> String {
        if request.status >= 500 { return "bad" }
        return request.isRefused ? "warn" : "good"
    }

    /// The time of day, because all of them are of the last minutes or hours.
    static func time(_ milliseconds: Int64) -> String {
        var bytes: [UInt8] = []
        RFC3339.append(milliseconds: milliseconds, to: &bytes)
        return String(decoding: bytes.dropFirst(11).prefix(12), as: UTF8.self)
    }

    static func duration(_ microseconds: Int64) -> String {
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 100_000 { return "\(microseconds / 1000).\(microseconds / 100 % 10) ms" }
        return microseconds < 1_000_000
            ? "\(microseconds / 1000) ms" : "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
    }
}
