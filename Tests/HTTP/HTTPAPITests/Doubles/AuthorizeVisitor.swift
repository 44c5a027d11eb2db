import StrictJSON
import TestSupport
import Testing

/// A browser at the authorization endpoint, with its cookies and Apple's role.
final class AuthorizeVisitor {
    let service: RunningService
    private(set) var cookies: [String: String] = [:]
    var fields = ["User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"]

    init(_ service: RunningService) { self.service = service }

    func get(_ target: String) async throws -> ProbeResponse {
        try await send("GET", target, body: nil, [:])
    }

    func authorize(_ query: String) async throws -> ProbeResponse {
        try await get("/oauth/authorize?\(query)")
    }

    func post(_ target: String, _ form: [(String, String)]) async throws -> ProbeResponse {
        let body = form.map { "\(WebVisitor.encode($0.0))=\(WebVisitor.encode($0.1))" }.joined(separator: "&")
        return try await post(target, text: body)
    }

    func post(
        _ target: String, text: String, type: String = "application/x-www-form-urlencoded",
        from origin: String? = "null", site: String? = nil
    ) async throws -> ProbeResponse {
        // A page without a referrer has the origin "null".
        var fields = ["Content-Type": type]
        fields["Origin"] = origin
        fields["Sec-Fetch-Site"] = site
        return try await send("POST", target, body: text, fields)
    }

    private func send(
        _ method: String, _ target: String, body: String?, _ more: [String: String]
    ) async throws -> ProbeResponse {
        var fields = self.fields.merging(more) { $1 }
        if !cookies.isEmpty {
            fields["Cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        }
        let response = try await service.call(method, target, body: body, secret: nil, fields: fields)
        if let set = response["set-cookie"] {
            let pair = set.prefix { $0 != ";" }.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            cookies[String(pair[0])] = set.contains("Max-Age=0") ? nil : String(pair[1])
        }
        return response
    }

    func setCookie(_ name: String, _ value: String?) { cookies[name] = value }

    /// Follows the endpoint's response to Apple, signs in there, and returns to `/oauth/authorize`.
    func signIn(after redirect: ProbeResponse, _ change: (inout JSONObject) -> Void = { _ in }) async throws
        -> ProbeResponse
    { try await get(try await arrival(after: redirect, change)) }

    /// Does the same steps up to the URL of the redirect at the end.
    func arrival(
        after redirect: ProbeResponse, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        let finished = try await get(WebVisitor.target(of: try await ticket(after: redirect, change)))
        return try #require(finished["location"])
    }

    /// The URL of the last step, with its ticket.
    func ticket(
        after redirect: ProbeResponse, _ change: (inout JSONObject) -> Void = { _ in }
    ) async throws -> String {
        let location = try #require(redirect["location"])
        try #require(location.hasPrefix("https://appleid.apple.com/auth/authorize?"))
        let apple = WebVisitor(service)
        let form = try apple.form(
            for: .init(response: redirect, parameters: WebVisitor.parameters(of: location)), change)
        return try #require(try await apple.post(form)["location"])
    }

    /// Follows the steps from the link to the consent page.
    func consentPage(_ query: String) async throws -> ConsentView {
        let page = try await signIn(after: try await authorize(query))
        return try ConsentView(page)
    }

    func answer(_ page: ConsentView, _ decision: String, unticking: Set<String> = []) async throws
        -> ProbeResponse
    {
        let ticked = page.checkboxes.filter { !unticking.contains($0) }.map { ($0, "1") }
        return try await post(page.action, [("csrf_token", page.token), ("decision", decision)] + ticked)
    }
}

/// The consent page as a browser reads it.
struct ConsentView {
    let response: ProbeResponse
    let action: String
    let token: String
    let checkboxes: [String]
    let otherAccount: String

    init(_ response: ProbeResponse) throws {
        self.response = response
        try #require(
            response.status == 200, "\(response.status) \(response["location"] ?? "") \(response.text)")
        let text = response.text
        action = try #require(text.firstMatch(of: #/method="post" action="([^"]*)"/#)).1.htmlUnescaped
        token = String(try #require(text.firstMatch(of: #/name="csrf_token" value="([^"]*)"/#)).1)
        checkboxes = text.matches(of: #/type="checkbox" name="([^"]*)"/#).map { $0.1.htmlUnescaped }
        otherAccount = try #require(text.firstMatch(of: #/<a href="(\/oauth\/authorize[^"]*)"/#)).1
            .htmlUnescaped
    }
}
