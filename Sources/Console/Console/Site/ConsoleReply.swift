import Cryptography
import Encodings
import HTTPEngine
import NIOHTTP1

/// A console response, with the header fields that protect every response.
struct ConsoleReply {
    var status = HTTPResponseStatus.ok
    var contentType: StaticString = "text/html; charset=utf-8"
    var body: [UInt8] = []
    var location: String?
    var cookies: [String] = []
    var allow: String?
    var retryAfter: Int64?
    /// Stable refusal code for the log.
    var code: String?
    /// True for a file whose name contains the hash of its content.
    var isImmutable = false
    /// Policy for a document inside a page's frame; `nil` for a console page, which no page may frame.
    var framedPolicy: String?

    var response: HTTPResponse {
        var response = HTTPResponse(
            status: status, contentType: contentType, body: body, forbidsCaching: !isImmutable)
        response.code = code
        response.fields = Self.protection
        response.fields += [
            ("content-security-policy", framedPolicy ?? Self.contentSecurityPolicy),
            ("x-frame-options", framedPolicy == nil ? "DENY" : "SAMEORIGIN"),
        ]
        if isImmutable { response.fields.append(("cache-control", "public, max-age=31536000, immutable")) }
        if let location { response.fields.append(("location", location)) }
        if let allow { response.fields.append(("allow", allow)) }
        if let retryAfter { response.fields.append(("retry-after", String(retryAfter))) }
        for cookie in cookies { response.fields.append(("set-cookie", cookie)) }
        return response
    }

    /// With `no-referrer`, browsers would send `Origin: null` with the console's own forms.
    private static let protection: [(name: StaticString, value: String)] = [
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]

    /// No page contains inline scripts or styles, so the policy blocks injected scripts and styles (CSP Level
    /// 3).
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// Responses to requests that open no page.
extension ConsoleVisit {
    func refusal(_ code: String) -> ConsoleReply {
        let text =
            code == "host_refused"
            ? "The console is not known by this host name. SIWA_CONSOLE_ALLOWED_HOSTS takes further names, and "
                + "siwa dev the option --allowed-host."
            : "This request came from a page of another site."
        return site.message(
            "Refused", text, status: code == "host_refused" ? .misdirectedRequest : .forbidden, code: code)
    }

    func methodRefused(_ allowed: [ConsolePage.Method]) -> ConsoleReply {
        var reply = site.message(
            "Not this way", "This address does not take this method.", status: .methodNotAllowed,
            code: "method_not_allowed", back: (ConsoleSite.root, "To the console"))
        let methods: [(ConsolePage.Method, String)] = [(.get, "GET, HEAD"), (.post, "POST")]
        reply.allow = methods.filter { allowed.contains($0.0) }.map(\.1).joined(separator: ", ")
        return reply
    }

    func malformed(_ text: String) -> ConsoleReply {
        site.message(
            "Malformed", text, status: .badRequest, code: "parameter_malformed",
            back: (ConsoleSite.root, "To the console"))
    }

    func notFound(_ viewer: ConsoleViewer) -> ConsoleReply {
        site.message(
            "Not found", "There is no such page, or nothing by this name that your key may see.",
            status: .notFound, back: (ConsoleSite.root, "To the first page"), viewer: viewer)
    }

    func formRefused(_ visit: ConsoleAccess.Visit) -> ConsoleReply {
        site.message(
            "Refused",
            "The form is of another session, or incomplete. Open the page again, and repeat what you did.",
            status: .forbidden, code: "console_form_token_refused", back: (wayBack, "Back"),
            viewer: visit.viewer)
    }

    /// The path of the page that the browser came from, or the first page's path.
    var wayBack: String {
        let referer = head.headers.first(name: "referer").flatMap { WebAddress($0) }
        let path = referer.map { $0.path + ($0.query.map { "?\($0)" } ?? "") }
        return ConsolePath.safe(path) ?? ConsoleSite.root
    }
}

/// The style sheet and the script for all pages. Their names contain the hash of their content, so browsers
/// may keep them forever. Pages also contain the hash, so browsers reject other content.
struct ConsoleAssets: Sendable {
    struct File: Sendable {
        let path: String
        /// Value for the `integrity` attribute (Subresource Integrity §3.3).
        let integrity: String
        let contentType: StaticString
        let bytes: [UInt8]

        init(_ name: String, _ suffix: String, _ contentType: StaticString, _ bytes: [UInt8]) {
            let hash = bytes.withUnsafeBytes { SHA256Digest.hash($0) }
            path = "\(ConsoleSite.root)/assets/\(name).\(Hexadecimal.encode(hash).prefix(16)).\(suffix)"
            integrity = "sha256-" + Base64.encode(hash)
            (self.contentType, self.bytes) = (contentType, bytes)
        }
    }

    static let style = File("console", "css", "text/css; charset=utf-8", PackageResources.console_css)
    static let script = File("console", "js", "text/javascript; charset=utf-8", PackageResources.console_js)

    /// Returns the file at a path; `nil` if there is none.
    static func file(at path: Substring) -> File? {
        [style, script].first { $0.path.isByteEqual(to: String(path)) }
    }
}
