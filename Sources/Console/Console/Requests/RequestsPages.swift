import AppleAccounts
import Encodings
package import HTTPAPI
import HTTPEngine
import Pages
import StrictJSON

/// This process's latest requests, and the reasons why the service refused them.
///
/// Only operators with access to all apps see the requests, because a refused request proves nothing, not
/// even which app it is for.
package struct RequestsPages: Sendable {
    /// Sends a request again, in development.
    package typealias Replay = @Sendable (_ request: RecentRequest, _ requestID: String) async throws -> Int

    private let recent: RecentRequests
    private let audit: ConsoleAudit?
    private let replay: Replay?
    private let address: String

    private static let pageSize = 200

    /// - Parameters:
    ///   - address: The service's public URL, for commands to copy.
    ///   - audit: Records who sent a request again; `nil` if requests cannot be sent again.
    ///   - replay: Sends a request again; `nil` outside development.
    package init(recent: RecentRequests, address: String, audit: ConsoleAudit? = nil, replay: Replay? = nil) {
        (self.recent, self.address, self.audit, self.replay) = (recent, address, audit, replay)
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/requests", access: .operatorsOfAllApps, entry: ("Requests", 40), handle: list),
            ConsolePage(.get, "/requests/{number}", access: .operatorsOfAllApps, handle: one),
            ConsolePage(.get, "/codes", access: .operatorsOfAllApps) { _ in
                .page("What codes mean", CodeList.page)
            },
            ConsolePage(.post, "/requests/{number}/replay", access: .development, handle: replayed),
        ]
    }

    private func list(_ request: ConsoleRequest) -> ConsoleAnswer {
        let filter = RequestFilter(request.query)
        let found = Self.sorted(recent.all.filter { filter.accepts($0) }, request.place.order)
        // A search for one request's ID opens its page.
        if !filter.id.isEmpty, found.count == 1 { return .redirect(to: "/requests/\(found[0].number)") }
        let place = request.place.limited(to: found.count, size: Self.pageSize)
        let shown = found.dropFirst(place.skipped).prefix(Self.pageSize)
        return .page("Requests", isLive: filter.isEmpty) {
            """
            <p class="muted">The last requests of this replica: \(RecentRequests.refusedBound) refused and \
            \(RecentRequests.acceptedBound) accepted of callers that a key or secret proved, \
            \(RecentRequests.unknownBound) of others, which can name any client. \(recent.count) since its \
            start. <a href="/console/codes">What codes mean</a></p>
            """
            filter.form
            Table(
                "Requests",
                [
                    .nowrap("Time (UTC)").sorted(["", "oldest"]), .any("Request"), "Status",
                    .any("Code or reason"), .any("Caller or client"),
                    .nowrap("Duration").sorted(["slowest", "fastest"]), .any("Request ID"),
                ], shown, ifEmpty: "No such request. The log has those that are older.",
                pager: Pager(
                    place, rows: shown.count, size: Self.pageSize, of: found.count,
                    at: "/console/requests", filter.fields)
            ) { request in
                [
                    .text(request.timeOfDay), .code("\(request.method) \(request.route)"), request.statusText,
                    .text(request.reason ?? request.code ?? ""), .text(request.callerText),
                    .text(request.duration),
                    .link(.text(request.requestID), to: "/console/requests/\(request.number)"),
                ]
            }
        }
    }

    /// - Parameter requests: Requests, newest first.
    private static func sorted(_ requests: [RecentRequest], _ order: String) -> [RecentRequest] {
        switch order {
        case "oldest": requests.reversed()
        case "slowest": requests.sorted { $0.microseconds > $1.microseconds }
        case "fastest": requests.sorted { $0.microseconds < $1.microseconds }
        case _: requests
        }
    }

    private func one(_ request: ConsoleRequest) -> ConsoleAnswer {
        guard let found = found(request) else { return .notFound }
        let command = CurlCommand(found, address: address)
        let canReplay = replay != nil && request.viewer.isDevelopment
        let heading: HTML = """
            <p><a href="/console/requests">All requests</a></p>
            <h1><code>\(found.method) \(found.route)</code></h1>
            """
        return .page("Request \(found.requestID)", heading: heading) {
            Division("grid") {
                Card("Request") {
                    Facts(found.facts)
                    found.inspectForm(token: request.viewer.formToken)
                }
                found.refusal.map { found.card(of: $0).html }
            }
            Card("As a command") {
                command.steps.map { "<p class=\"muted\">\($0)</p>" as HTML }
                CodeBlock("The command", command.text, id: "command")
                "<p>\(HTML.copyButton(for: "command"))</p>"
                if canReplay, found.exchange?.isBodyCut == false {
                    PostForm(
                        to: "/console/requests/\(found.number)/replay", token: request.viewer.formToken
                    ) { "<button>Send again</button>" }
                }
            }
            if let exchange = found.exchange {
                Self.card("Body of the request", exchange.body)
                Self.card("Body of the response", exchange.response)
            }
        }
    }

    private static func card(_ title: String, _ bytes: [UInt8]) -> Card {
        Card(.text(title)) {
            CodeBlock(title, bytes.isEmpty ? "(empty)" : String(decoding: bytes, as: UTF8.self))
        }
    }

    private func replayed(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let found = found(request), let replay else { return .notFound }
        guard let exchange = found.exchange, !exchange.isBodyCut else {
            return .refused("The request is too long or too old to be sent again: its body is not kept.")
        }
        let id = "replay.\(RequestID.make())"
        let origin = AuditOrigin(.consoleOperator(request.viewer.name), requestID: id)
        try await audit?(AuditEntry(.requestReplayed, by: origin, at: request.now))
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

extension RecentRequest {
    var statusText: HTML { .span(status >= 500 ? "bad" : isRefused ? "warn" : "good", "\(status)") }

    /// Shows the time of day without a date, because all requests are only minutes or hours old.
    var timeOfDay: String { String(RFC3339.text(milliseconds: time).dropFirst(11).prefix(12)) }

    /// The authenticated caller, otherwise the client that the request names, without proof that the client
    /// sent the request.
    fileprivate var callerText: String { caller ?? client.map { isProven ? $0 : "names \($0)" } ?? "none" }

    fileprivate var duration: String {
        if microseconds < 1000 { return "\(microseconds) µs" }
        if microseconds < 100_000 { return "\(microseconds / 1000).\(microseconds / 100 % 10) ms" }
        return microseconds < 1_000_000
            ? "\(microseconds / 1000) ms" : "\(microseconds / 1_000_000).\(microseconds / 100_000 % 10) s"
    }

    fileprivate var facts: [Fact?] {
        let unproven: HTML = isProven ? "" : " \(HTML.muted("(named by the request, not proven)"))"
        return [
            Fact("Response", "\(statusText)\(code.map { " \(HTML.code($0))" as HTML })"),
            Fact("Time", .text(RFC3339.text(milliseconds: time))), Fact("Duration", .text(duration)),
            caller.map { Fact("Caller", .text($0)) }, client.map { Fact("OAuth client", "\($0)\(unproven)") },
            isProven ? nil : Fact("Caller", "none: no key and no secret proved who asked", look: "muted"),
            grantType.map { Fact("Grant type", .text($0)) }, Fact("Request ID", .code(requestID)),
            traceID.map { Fact("Trace ID", .code($0)) }, exchange.map { Fact("Target", .code($0.target)) },
        ]
    }

    /// Returns a form that sends the request's token and its accompanying values to the inspector.
    fileprivate func inspectForm(token: String) -> HTML? {
        guard let exchange, let carried = TokenText.carried(by: exchange) else { return nil }
        let body = (try? JSONValue(parsing: exchange.body))?.object
        let beside = body?["identity_token"] == nil ? [] : ["authorization_code", "access_token"]
        let fields =
            [("request", "\(number)"), ("token", carried)]
            + (["nonce"] + beside).compactMap { name in body?[name]?.string.map { (name, $0) } }
        return PostForm(to: "/console/tokens", token: token, fields) {
            "<button class=\"secondary\">Inspect its token</button>"
        }.html
    }

    fileprivate func card(of refusal: RecentRefusal) -> Card {
        let place = CodeList.place(of: self)
        let meaning = CodeList.link(for: self).map {
            "\(HTML.link("What the code means", to: $0)), and " as HTML
        }
        return Card("Why it was refused") {
            Facts([
                reason.map { Fact("Reason", .code($0)) } ?? Fact("Check", .text(refusal.check)),
                Fact("Expected", .text(refusal.expected)),
                refusal.found.map { Fact("Found", .text(FoundValue.text($0, at: time / 1000))) },
                Fact("Read", "\(meaning)<code>\(place.file)</code>, “\(place.heading)”"),
            ])
        }
    }
}

/// Formats a value that a check found. For a time in a token, adds the difference from the request time.
enum FoundValue {
    private static let times = ["exp", "iat", "nbf", "auth_time"]

    /// - Parameter now: Request time in seconds since 1970.
    static func text(_ value: String, at now: Int64) -> String {
        let parts = value.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, times.contains(String(parts[0])), let seconds = Int64(parts[1]),
            // Only times in the years 1970 to 9999 are compared, so that nothing overflows.
            (0...253_402_300_799).contains(seconds), (0...253_402_300_799).contains(now)
        else { return value }
        let distance = seconds - now
        let words =
            distance == 0
            ? "the moment of the request"
            : "\(ShownDuration(milliseconds: distance * 1000)) \(distance < 0 ? "before" : "after") the request"
        return "\(parts[0]) = \(RFC3339.text(milliseconds: seconds * 1000)), \(words)"
    }
}

/// The page that explains codes. Requests link to its rows.
enum CodeList {
    private static let problems = "code"
    private static let reasons = "reason"

    static var page: HTML {
        let groups: [(id: String, title: String, page: String, codes: [ExplainedCode], kind: String)] = [
            ("errors", "Errors of the interface", "docs/api.md", ExplainedCode.problems, problems),
            ("reasons", "Reasons of refused token requests", "docs/oauth.md", ExplainedCode.reasons, reasons),
            (
                "oauth", "Errors of OAuth without a reason", "docs/oauth.md",
                // The first table already lists the codes that occur in problem documents too.
                ExplainedCode.oauth.filter { code in !ExplainedCode.problems.contains { $0.code == code.code }
                }, problems
            ),
        ]
        return HTML {
            "<p><a href=\"/console/requests\">All requests</a></p>"
            "<h1>What codes mean</h1>"
            Tabs("On this page", groups.map { ($0.title, "#\($0.id)") })
            for group in groups {
                "<h2 id=\"\(group.id)\">\(group.title)</h2>"
                "<p class=\"muted\">More is in <code>\(group.page)</code> of the documentation.</p>"
                Table(
                    group.title, [.head("Code"), "Status", "Meaning", .init("Section", "muted")],
                    group.codes, id: { "\(group.kind)-\($0.code)" }
                ) { code in
                    [
                        .code(code.code), code.status.map { "\($0)" } ?? "", .text(code.sentence),
                        "\(code.place.file), “\(code.place.heading)”",
                    ]
                }
            }
        }
    }

    /// Returns the documentation section that explains a request's code.
    static func place(of request: RecentRequest) -> DocumentationPlace {
        if request.reason != nil { return .tokenRequest }
        return ProblemType.all.first { $0.code == request.code }?.place ?? .errors
    }

    /// Returns a link to the row that explains a request's code; `nil` if the list does not contain the code.
    static func link(for request: RecentRequest) -> String? {
        if let reason = request.reason, ExplainedCode.reasons.contains(where: { $0.code == reason }) {
            return "/console/codes#\(reasons)-\(reason)"
        }
        let listed = ExplainedCode.problems + ExplainedCode.oauth
        guard let code = request.code, listed.contains(where: { $0.code == code }) else { return nil }
        return "/console/codes#\(problems)-\(code)"
    }
}

/// The filter in the form above the list. Empty fields are ignored.
struct RequestFilter: Sendable {
    let id: String
    let code: String
    let caller: String
    let route: String
    /// True to show only refusals and failures.
    let showsRefused: Bool

    init(_ query: [String: String]) {
        func field(_ name: String) -> String {
            String((query[name] ?? "").filter { !$0.isWhitespace }.prefix(128))
        }
        (id, code, caller, route) = (field("id"), field("code"), field("caller"), field("route"))
        showsRefused = field("show") == "refused"
    }

    var isEmpty: Bool { id.isEmpty && code.isEmpty && caller.isEmpty && route.isEmpty }
    var fields: [(name: String, value: String)] {
        [
            ("id", id), ("code", code), ("caller", caller), ("route", route),
            ("show", showsRefused ? "refused" : ""),
        ]
    }

    var form: HTML {
        let labels = ["Request or trace ID", "Code, reason or status", "Caller or client", "Route"]
        let inputs = zip(labels, fields).map { label, field -> HTML in
            """
            <label>\(label) <input name="\(field.name)" value="\(field.value)" autocomplete="off" spellcheck="false">\
            </label>

            """
        }
        let shown = Select(
            "show", [("all", "all"), ("refused", "refused only")], chosen: showsRefused ? "refused" : nil)
        return """
            <form method="get" action="/console/requests" class="row">
            \(HTML(inputs))\
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

    /// Returns true if the request comes from the caller in the filter. Links from the overview name a caller
    /// as the metrics do: `client:` with an OAuth client's ID, or `none`.
    private func hasCaller(_ request: RecentRequest) -> Bool {
        if caller.isEmpty || request.caller == caller || request.client == caller { return true }
        if caller == "none" { return request.caller == nil && request.client == nil }
        return request.client.map { "client:\($0)" == caller } ?? false
    }
}
