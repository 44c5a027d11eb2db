import Encodings
import HTTPEngine
import NIOHTTP1

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
        reply.allow = (allowed.contains(.get) ? ["GET", "HEAD"] : []).joined(separator: ", ")
        if allowed.contains(.post) { reply.allow = (reply.allow ?? "").isEmpty ? "POST" : "GET, HEAD, POST" }
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

    /// The page that the browser came from, or the first page.
    var wayBack: String {
        let referer = head.headers.first(name: "referer").flatMap { WebAddress($0) }
        let path = referer.map { $0.path + ($0.query.map { "?\($0)" } ?? "") }
        return ConsolePath.safe(path) ?? ConsoleSite.root
    }
}
