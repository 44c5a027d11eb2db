import AppleAccounts
import AuthorizationServer
import Commits
public import HTTPAPI
public import OAuth
public import SignIn

/// The pages about people: the list, one person, and what an operator can do with one.
///
/// Everything is limited to the apps of the operator's key: reads by the queries of the store, changes inside the
/// transactions of the commands.
public struct PeoplePages: Sendable {
    private let signIn: SignInUseCases
    /// `nil` where no OAuth client is configured.
    private let grants: GrantUseCases?
    private let audit: any ConsoleAudit
    private let checks: CheckSchedule
    private let recent: RecentRequests?

    /// - Parameters:
    ///   - checks: The times of the checks of Apple's refresh tokens.
    ///   - recent: The requests of `siwa dev`, with their bodies; `nil` in production, where no body is kept.
    public init(
        signIn: SignInUseCases, oauth: OAuthServer?, audit: any ConsoleAudit, checks: CheckSchedule,
        recent: RecentRequests? = nil
    ) {
        (self.signIn, self.checks, self.recent) = (signIn, checks, recent)
        grants = oauth.map { GrantUseCases($0) }
        self.audit = audit
    }

    public var pages: [ConsolePage] {
        [
            ConsolePage(
                .get, "/people", access: .operators, entry: ConsolePage.Entry("People", order: 20),
                handle: list),
            // The text of a search can be an address or a name, which must not be in a URL: URLs are logged and
            // kept in histories of browsers.
            ConsolePage(.post, "/people", access: .operators, handle: list),
            ConsolePage(.get, "/people/{account}", access: .operators) { try await person($0) },
            ConsolePage(.post, "/people/{account}/show", access: .operators, handle: show),
            ConsolePage(.post, "/people/{account}/disable", access: .operators, handle: disable),
            ConsolePage(.post, "/people/{account}/enable", access: .operators, handle: enable),
            ConsolePage(.post, "/people/{account}/sign-out", access: .operators, handle: signOut),
            ConsolePage(.get, "/people/{account}/erase", access: .operators, handle: confirmErasure),
            ConsolePage(.post, "/people/{account}/erase", access: .operators, handle: erase),
        ]
    }

    /// The number of people on one page of the list.
    static let pageSize = 25

    @Sendable private func list(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        // A search text in a URL does not count.
        let search = PersonSearch(
            request.form.isEmpty ? request.query.filter { $0.key != "q" } : request.form)
        guard let filter = search.filter else {
            return .refused("A filter has a value that this page does not know.")
        }
        let page: AccountPage
        do {
            page = try await found(search, filter, in: request.viewer.scope)
        } catch is SearchPositionUnknown {
            return .refused("This page belongs to another search.")
        }
        let apps = signIn.deployment.apps.map(\.primaryClientID).filter { request.viewer.scope.allows($0) }
        return .template(
            "people", title: "People",
            values: PeopleValues(search, page, apps: apps, viewer: request.viewer))
    }

    private func found(
        _ search: PersonSearch, _ filter: AccountFilter, in scope: AppScope
    ) async throws -> AccountPage {
        let keys = search.keys.isEmpty ? [nil] : search.keys.map { Optional($0) }
        var page = AccountPage(accounts: [], next: nil)
        for key in keys where page.accounts.isEmpty && page.next == nil {
            page = try await signIn.accounts(
                AccountSearch(key: key, filter: filter, scope: scope), after: search.position,
                limit: Self.pageSize)
        }
        return page
    }

    private func person(
        _ request: ConsoleRequest, isShown: Bool = false
    ) async throws -> ConsoleAnswer {
        guard let id = AccountID(request.parameters["account", default: ""]) else { return .notFound }
        let scope = request.viewer.scope
        let past: AccountPast
        var account: Account?
        do {
            past = try await signIn.past(of: id.rawValue, allowed: scope)
            account = try await self.account(id, in: scope)
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return .notFound
        }
        let granted = account == nil ? [] : try await grantRecords(of: id, in: scope)
        let erasure = try await signIn.erasure(of: id, allowed: scope)
        let values = PersonValues(
            id: id, account: account, grants: granted, erasure: erasure,
            timeline: PersonTimeline(
                AccountPastValues(events: past.events, history: past.history, payloads: past.payloads),
                account: account, grants: granted),
            checks: CheckTimes(next: past.nextChecks, schedule: checks, history: past.history),
            requests: recent.map { PersonValues.requests($0.all, of: id, account) } ?? [],
            isShown: isShown && account != nil, viewer: request.viewer)
        return .template("person", title: "Person", values: values)
    }

    /// Returns `nil` for an account that is erased.
    private func account(_ id: AccountID, in scope: AppScope) async throws -> Account? {
        do {
            return try await signIn.account(id: id.rawValue, allowed: scope)
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return nil
        }
    }

    private func grantRecords(of id: AccountID, in scope: AppScope) async throws -> [GrantRecord] {
        guard let grants else { return [] }
        do {
            return try await grants.grants(of: id.rawValue, allowed: scope).map(\.grant)
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            // Erased since.
            return []
        }
    }

    /// The audit log has the entry before anything is read that the page shows.
    @Sendable private func show(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let id = AccountID(request.parameters["account", default: ""]),
            try await account(id, in: request.viewer.scope) != nil
        else { return .notFound }
        try await audit.record(
            ConsoleAuditEntry(
                operatorName: request.viewer.name, action: .show, account: id, requestID: request.requestID))
        return try await person(request, isShown: true)
    }

    @Sendable private func disable(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let reason = Disabling.Reason(rawValue: request.form["reason", default: ""]) else {
            return .refused("Choose one of the reasons.")
        }
        let days = request.form["days", default: ""]
        var until: Moment?
        if !days.isEmpty {
            guard let number = Int64(days), (1...3650).contains(number) else {
                return .refused("The number of days must be from 1 to 3650, or empty.")
            }
            until = request.now.advanced(byMilliseconds: number * 86_400_000)
        }
        return try await change(request, notice: "The person is disabled.") { id, scope in
            _ = try await signIn.disable(id: id, reason: reason, until: until, allowed: scope)
        }
    }

    @Sendable private func enable(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        try await change(request, notice: "The person is enabled.") { id, scope in
            _ = try await signIn.enable(id: id, allowed: scope)
        }
    }

    @Sendable private func signOut(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let endsGoogleLinks = request.form["google"] == "yes"
        return try await change(request, notice: "The person is signed out everywhere.") { id, scope in
            if let grants {
                _ = try await grants.signOut(id, endsGoogleLinks: endsGoogleLinks, allowed: scope)
            } else {
                _ = try await signIn.signOut(id: id, keeping: [], allowed: scope)
            }
        }
    }

    @Sendable private func confirmErasure(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard let id = AccountID(request.parameters["account", default: ""]),
            try await account(id, in: request.viewer.scope) != nil
        else { return .notFound }
        return .template(
            "erase", title: "Erase",
            values: ["id": id.rawValue, "csrf": request.viewer.formToken])
    }

    @Sendable private func erase(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        guard request.form["confirm"] == "erase" else {
            return .refused("Confirm the erasure on the page before.")
        }
        return try await change(request, notice: "The person is erased.") { id, scope in
            _ = try await signIn.erase(id: id, allowed: scope)
        }
    }

    /// Carries out a change, and leads back to the person.
    private func change(
        _ request: ConsoleRequest, notice: String, _ body: (String, AppScope) async throws -> Void
    ) async throws -> ConsoleAnswer {
        guard let id = AccountID(request.parameters["account", default: ""]) else { return .notFound }
        do {
            try await body(id.rawValue, request.viewer.scope)
            return .redirect(to: "/people/\(id.rawValue)", notice: notice)
        } catch is CallerForbidden {
            return .refused(
                "The person has a credential for an app that your key may not see. Ask an operator of all apps."
            )
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return .notFound
        } catch is OverloadedError {
            return .refused("The service is overloaded. Nothing was changed. Try again.")
        }
    }
}
