import HTTPAPI
import Pages

/// The question of the form above the list. Empty fields ask nothing.
struct RequestFilter: Sendable {
    let id: String
    let code: String
    let caller: String
    let route: String
    /// True for refusals and failures alone.
    let showsRefused: Bool

    init(_ query: [String: String]) {
        func field(_ name: String) -> String {
            String((query[name] ?? "").filter { !$0.isWhitespace }.prefix(128))
        }
        (id, code, caller, route) = (field("id"), field("code"), field("caller"), field("route"))
        showsRefused = field("show") == "refused"
    }

    var isExact: Bool { !id.isEmpty }
    var isEmpty: Bool { id.isEmpty && code.isEmpty && caller.isEmpty && route.isEmpty }

    var form: HTML {
        func field(_ label: String, _ name: String, _ value: String) -> HTML {
            """
            <label>\(label) <input name="\(name)" value="\(value)" autocomplete="off" spellcheck="false"></label>
            """
        }
        let shown = Select(
            "show", [("all", "all"), ("refused", "refused only")], chosen: showsRefused ? "refused" : nil)
        return """
            <form method="get" action="/console/requests" class="row">
            \(field("Request or trace ID", "id", id))
            \(field("Code, reason or status", "code", code))
            \(field("Caller or client", "caller", caller))
            \(field("Route", "route", route))
            <label>Show \(shown.html)</label>
            <button>Search</button>
            </form>
            """
    }

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
