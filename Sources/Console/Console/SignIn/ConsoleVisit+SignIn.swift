import AppleAccounts
import Encodings
import HTTPAPI
import HTTPEngine
import NIOHTTP1
import Pages

// Sign-in, sign-out and cookies.
extension ConsoleVisit {
    /// True if the browser uses https. Browsers send the scheme with each POST.
    private var isSecure: Bool {
        head.headers.first(name: "origin")?.lowercased().hasPrefix("https://") ?? false
    }

    func signInPage(
        then: String?, problem: String? = nil, status: HTTPResponseStatus = .ok, code: String? = nil
    ) -> ConsoleReply {
        guard !site.access.isDevelopment else {
            return ConsoleReply(status: .seeOther, location: ConsoleSite.root)
        }
        let invalid: HTML = problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"problem\""
        let content: HTML = """
            <div class="sign-in">
            <h1>Sign in</h1>
            <p>The console takes an API key of the role <code>operator</code>. The session ends after \
            \(ConsoleSession.lifetime / 60_000) minutes.</p>
            \(problem.map { "<p class=\"problem\" role=\"alert\" id=\"problem\">\($0)</p>\n" as HTML })\
            <form method="post" action="/console/sign-in">
            <input type="hidden" name="then" value="\(ConsolePath.safe(then))">
            <label for="key">API key</label>
            <input id="key" name="key" type="password" autocomplete="off" spellcheck="false" required autofocus\(invalid)>
            <button>Sign in</button>
            </form>
            </div>
            """
        return ConsoleReply(
            status: status, body: site.frame.render(content, "Sign in", at: "/sign-in"), code: code)
    }

    func signIn(_ form: [String: String], in exchange: ConsoleExchange) async -> ConsoleReply {
        let then = form["then"]
        // Checks the length first, because checking each character takes far longer.
        let given = form["key"] ?? ""
        // Removes white space, because pasted text often contains a line break.
        let key = given.utf8.count <= CallerDirectory.longestSecret ? given.filter { !$0.isWhitespace } : ""
        guard !key.isEmpty else {
            return signInPage(
                then: then, problem: "Enter an API key.", status: .unprocessableEntity,
                code: "console_key_unknown")
        }
        switch site.access.signIn(with: key, from: address, at: now) {
        case .signedIn(let session, let name):
            exchange.proveOperator()
            if let error = await record(.consoleSignIn, of: name) { return notRecorded(error) }
            site.log.signedIn(as: name, requestID: requestID)
            var reply = ConsoleReply(status: .seeOther, location: ConsolePath.safe(then) ?? ConsoleSite.root)
            reply.cookies = [
                ConsoleCookie.session.set(site.access.seal.seal(.session, session.json), isSecure: isSecure)
            ]
            return reply
        case .refused(let problem, let code, let name):
            // Records only refusals of configured keys, once a minute, because otherwise anyone could fill
            // the audit log.
            if let name, site.access.isRefusalDue(of: name, at: now) {
                _ = await record(.consoleSignIn, of: name, outcome: .refused)
            }
            return signInPage(then: then, problem: problem, status: .forbidden, code: code)
        case .paused(let seconds):
            var reply = signInPage(
                then: then, problem: "Too many wrong keys came from this address. Wait \(seconds) seconds.",
                status: .tooManyRequests, code: "console_sign_in_paused")
            reply.retryAfter = seconds
            return reply
        }
    }

    func signOut(_ visit: ConsoleAccess.Visit) async -> ConsoleReply {
        var reply = ConsoleReply(status: .seeOther, location: ConsoleSite.root + "/sign-in")
        // Ends the session first, because it must end even if the audit log cannot record the sign-out.
        if let session = visit.session {
            do {
                try await site.access.signOut(session)
            } catch {
                site.log.failed(error, route: "/sign-out", requestID: requestID)
                reply = endNotWritten(of: session, error)
            }
        }
        _ = await record(.consoleSignOut, of: visit.viewer.name)
        reply.cookies = ConsoleCookie.session.deletions + ConsoleCookie.notice.deletions
        return reply
    }

    /// Returns the response to a sign-out that the database could not store. The page explains where a copy
    /// of the cookie still works.
    private func endNotWritten(of session: ConsoleSession, _ error: any Error) -> ConsoleReply {
        site.withoutDatabase(
            "Signed out here",
            "This browser has forgotten the session, and this process takes no copy of its cookie any more. The "
                + "database did not keep the end: another replica, and this one after a restart, would take a copy "
                + "until \(session.expiresAt.rfc3339). To end it everywhere, take the key \(session.key) out of "
                + "the configuration.",
            code: "console_end_not_written", back: (ConsoleSite.root + "/sign-in", "Sign in"), error: error)
    }

    /// Refuses a session while the database cannot confirm that the session is still valid. Shows the current
    /// troubles, because a genuine cookie proves that the visitor is an operator.
    func sessionNotKnown(_ error: any Error) -> ConsoleReply {
        site.log.failed(error, route: "session", requestID: requestID)
        return site.withoutDatabase(
            "Not now",
            "The database cannot be read, so it is not known if this session has ended, and no page opens.",
            code: "console_session_unknown",
            back: (ConsolePath.safe(fullPath) ?? ConsoleSite.root, "Try again"), error: error)
    }

    /// Returns the error if the audit log cannot store the entry.
    private func record(
        _ action: AuditAction, of name: String, outcome: AuditOutcome = .done
    ) async -> (any Error)? {
        do {
            let origin = AuditOrigin(.consoleOperator(name), requestID: requestID)
            try await site.audit?(AuditEntry(action, by: origin, at: now, outcome: outcome))
            return nil
        } catch {
            site.log.failed(error, route: "/sign-in", requestID: requestID)
            return error
        }
    }

    /// Refuses a sign-in that the audit log cannot record. Shows the current troubles, because the key is
    /// correct but the overview does not open without a session.
    private func notRecorded(_ error: any Error) -> ConsoleReply {
        site.withoutDatabase(
            "Not now",
            "The audit log cannot be written, so no session begins. Probably the database takes no writes.",
            code: "console_audit_unavailable", back: (ConsoleSite.root + "/sign-in", "Back"), error: error)
    }

    /// Redirects to the sign-in page, which returns the operator to the current page.
    func withoutSession() -> ConsoleReply {
        guard isReading else {
            return site.message(
                "Your session has ended", "Nothing was changed. Sign in, and repeat what you did.",
                status: .unauthorized, code: "console_session_ended",
                back: (ConsoleSite.root + "/sign-in", "Sign in"))
        }
        guard pagePath != "/live" else {
            return ConsoleReply(status: .unauthorized, contentType: "text/plain; charset=utf-8")
        }
        // After a link from another site, browsers send no cookie (SameSite). They do send it when a page on
        // this site loads the address again, so the response is a page that loads it again.
        if head.headers["sec-fetch-site"] == ["cross-site"] || head.headers["sec-fetch-site"] == ["same-site"]
        {
            return site.message(
                "One moment", "The page opens.", status: .ok,
                back: (ConsolePath.safe(fullPath) ?? ConsoleSite.root, "Open it"), reload: 0)
        }
        var location = ConsoleSite.root + "/sign-in"
        if path != "/", path != ConsoleSite.root[...], let then = ConsolePath.safe(fullPath) {
            location += "?" + FormEncoding.encode([("then", then)])
        }
        return ConsoleReply(status: .seeOther, location: location)
    }

    private var fullPath: String { String(path) + (query.map { "?\($0)" } ?? "") }

    // Notices, which the next page shows once.

    /// Maximum length of a notice in bytes.
    private static let longestNotice = 500

    /// Returns a cookie with the notice. Only this session can open it, because it may concern a person.
    func noticeCookie(_ notice: String, _ visit: ConsoleAccess.Visit) -> String {
        let text = Array(notice.utf8.prefix(Self.longestNotice))
        let sealed = site.access.seal.seal(.notice, text, of: visit.session?.id ?? [])
        return ConsoleCookie.notice.set(sealed, isSecure: isSecure)
    }

    func notice(_ visit: ConsoleAccess.Visit) -> String? {
        ConsoleCookie.notice.values(in: fields.cookie).lazy
            .compactMap { site.access.seal.open(.notice, $0, of: visit.session?.id ?? []) }.first
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
