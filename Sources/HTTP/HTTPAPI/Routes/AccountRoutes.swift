import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn

/// The routes that read accounts.
final class AccountRoutes: Sendable {
    private let useCases: SignInUseCases
    private let audit: (any AuditStore)?
    private let now: @Sendable () -> Moment

    /// - Parameter audit: Keeps who reads many accounts at once; `nil` keeps nothing.
    init(useCases: SignInUseCases, audit: (any AuditStore)?, now: @escaping @Sendable () -> Moment) {
        (self.useCases, self.audit, self.now) = (useCases, audit, now)
    }

    /// `GET /v1/accounts/{id}`
    func byID(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(try await useCases.account(id: id, allowed: request.scope))
        }
    }

    /// `GET /v1/accounts?client_id=&sub=` is one account; without `sub` it is a search.
    func find(_ request: HTTPRequest) throws -> RouteResult {
        let query = try Query(parsing: request.query, allowing: AccountSearchQuery.parameters + ["sub"])
        return query["sub"] == nil ? try search(query, request) : try bySubject(request)
    }

    /// `GET /v1/accounts/{id}/events?after=&limit=`
    func events(_ request: HTTPRequest) throws -> RouteResult {
        let query = try Query(parsing: request.query, allowing: ["after", "limit"])
        let cursor = try query.number("after", in: 0...Int64.max, default: 0)
        let limit = try query.number(
            "limit", in: 1...Int64(SignInUseCases.largestEventPage), default: EventRoutes.defaultLimit)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .events(
                try await useCases.events(
                    of: id, after: cursor, limit: Int(limit), allowed: request.scope))
        }
    }

    private func bySubject(_ request: HTTPRequest) throws -> RouteResult {
        let query = try Query(parsing: request.query, allowing: ["client_id", "sub"])
        let clientID = try query.required("client_id")
        let subject = try query.required("sub")
        return .later { [useCases] in
            .account(
                try await useCases.account(subject: subject, clientID: clientID, allowed: request.scope))
        }
    }

    private func search(_ query: Query, _ request: HTTPRequest) throws -> RouteResult {
        let query = try AccountSearchQuery(query, largestPage: SignInUseCases.largestAccountPage)
        return .later { [self] in
            var filter = query.filter
            filter.clientID = try query.clientID.map {
                try useCases.primaryClientID(of: $0, allowed: request.scope)
            }
            let search = AccountSearch(key: query.key, filter: filter, scope: request.scope)
            let page = try await useCases.accounts(search, after: query.position, limit: query.limit)
            if Self.isExport(search, after: query.position, page) { try await noteExport(of: page) }
            return .accounts(page)
        }
    }

    /// Returns true if a caller can go through people with the search, whatever the size of this page: `limit=1` in a
    /// loop reads everyone. The single account of an exact key is what a sign-in returns too.
    private static func isExport(
        _ search: AccountSearch, after position: SearchPosition?, _ page: AccountPage
    ) -> Bool {
        switch search.key {
        case .email, .account, .subject, .grant:
            position != nil || page.next != nil || page.accounts.count > 1
        case .name, nil: true
        }
    }

    /// Keeps that the caller gets accounts, before they are handed out.
    private func noteExport(of page: AccountPage) async throws {
        let count = page.accounts.count
        try await audit?.appendAudit([
            AuditEntry(
                .accountsExported, by: .current, at: now(),
                detail: "\(count) account\(count == 1 ? "" : "s")")
        ])
    }
}
