import HTTPAPI

/// The question of the form above the list. Empty fields ask nothing.
struct RequestFilter: Sendable {
    let id: String
    let code: String
    let caller: String
    let route: String
    /// `refused` for refusals and failures, otherwise all.
    let show: String

    init(_ query: [String: String]) {
        func field(_ name: String) -> String {
            String((query[name] ?? "").filter { !$0.isWhitespace }.prefix(128))
        }
        (id, code, caller, route) = (field("id"), field("code"), field("caller"), field("route"))
        show = field("show") == "refused" ? "refused" : "all"
    }

    var isExact: Bool { !id.isEmpty }
    var isEmpty: Bool { id.isEmpty && code.isEmpty && caller.isEmpty && route.isEmpty }
    var showsRefused: Bool { show == "refused" }

    func accepts(_ request: RecentRequest) -> Bool {
        if showsRefused, !request.isRefused { return false }
        if !id.isEmpty, request.requestID != id, request.traceID != id { return false }
        if !code.isEmpty, request.code != code, request.reason != code, String(request.status) != code {
            return false
        }
        return hasCaller(request) && (route.isEmpty || request.route.contains(route))
    }

    /// Troubles of the overview name callers as the metrics do: `client:` and the ID of an OAuth client, or `none`.
    private func hasCaller(_ request: RecentRequest) -> Bool {
        if caller.isEmpty || request.caller == caller || request.client == caller { return true }
        if caller == "none" { return request.caller == nil && request.client == nil }
        return request.client.map { "client:\($0)" == caller } ?? false
    }
}
