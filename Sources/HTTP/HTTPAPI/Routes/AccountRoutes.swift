import AppleAccounts
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn
import StrictJSON

/// The routes that read accounts.
final class AccountRoutes: Sendable {
    let useCases: SignInUseCases
    private let audit: (any AuditStore)?
    private let now: @Sendable () -> Moment

    /// - Parameter audit: Records each caller that reads many accounts at once; `nil` disables the recording.
    init(useCases: SignInUseCases, audit: (any AuditStore)?, now: @escaping @Sendable () -> Moment) {
        (self.useCases, self.audit, self.now) = (useCases, audit, now)
    }

    /// Handles `GET /v1/accounts/{id}`.
    func byID(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .getAccount)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(try await useCases.account(id: id, allowed: request.scope))
        }
    }

    /// Handles `GET /v1/accounts?client_id=&sub=`: returns one account. Without `sub`, it searches for
    /// accounts.
    func find(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try Query(request, of: .findAccount)
        return query["sub"] == nil ? try search(query, request) : try bySubject(request)
    }

    /// Handles `GET /v1/accounts/{id}/events?after=&limit=`.
    func events(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try Query(request, of: .listAccountEvents)
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

    private func bySubject(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try Query(parsing: request.query, allowing: ["client_id", "sub"])
        let clientID = try query.required("client_id")
        let subject = try query.required("sub")
        return .later { [useCases] in
            .account(
                try await useCases.account(subject: subject, clientID: clientID, allowed: request.scope))
        }
    }

    private func search(_ query: Query, _ request: HTTPRequest) throws -> Step<HTTPResponse> {
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

    /// Returns `true` if a caller can list users with this search. The page size does not matter, because a
    /// loop with `limit=1` reads all users. An exact key finds only one account, as a sign-in does.
    private static func isExport(
        _ search: AccountSearch, after position: SearchPosition?, _ page: AccountPage
    ) -> Bool {
        switch search.key {
        case .email, .account, .subject, .grant:
            position != nil || page.next != nil || page.accounts.count > 1
        case .name, nil: true
        }
    }

    /// Records the accounts in a page before the caller receives it.
    private func noteExport(of page: AccountPage) async throws {
        let count = page.accounts.count
        try await audit?.appendAudit([
            AuditEntry(
                .accountsExported, by: .current, at: now(),
                detail: "\(count) account\(count == 1 ? "" : "s")")
        ])
    }
}

/// The routes that disable, enable and sign out an account. Each route returns the account.
final class AccountChangeRoutes: Sendable {
    let useCases: SignInUseCases
    /// The grants of OAuth clients; `nil` if no OAuth client is configured.
    private let grants: GrantUseCases?

    init(useCases: SignInUseCases, oauth: OAuthServer?) {
        self.useCases = useCases
        grants = oauth.map { GrantUseCases($0) }
    }

    /// Handles `POST /v1/accounts/{id}/disable`.
    func disable(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .disableAccount)
        let body = try DisablingRequest(parsing: request.body)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(
                try await useCases.disable(
                    id: id, reason: body.reason, until: body.until, allowed: request.scope))
        }
    }

    /// Handles `POST /v1/accounts/{id}/enable`.
    func enable(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .enableAccount)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(try await useCases.enable(id: id, allowed: request.scope))
        }
    }

    /// Handles `POST /v1/accounts/{id}/sign-out`.
    func signOut(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .signOutAccount)
        let endsGoogleLinks = try SignOutRequest(parsing: request.body).endsGoogleLinks
        let id = request.parameter ?? ""
        return .later { [useCases, grants] in
            let account =
                if let grants {
                    try await grants.signOut(id, endsGoogleLinks: endsGoogleLinks, allowed: request.scope)
                } else {
                    try await useCases.signOut(id: id, keeping: [], allowed: request.scope)
                }
            return .account(account)
        }
    }
}

/// The routes that erase an account and report the progress of the erasure.
final class ErasureRoutes: Sendable {
    let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// Handles `DELETE /v1/accounts/{id}`: responds with 200 if the erasure is complete, or with 202 and
    /// `Location` until Apple has confirmed all revocations. In both cases this service has already erased
    /// the user's data. A repeated request returns the same erasure.
    func erase(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .eraseAccount)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            let record = try await useCases.erase(id: id, allowed: request.scope)
            guard record.finishedAt == nil else { return Self.response(.ok, record) }
            var response = Self.response(.accepted, record)
            response.fields = [("location", "/v1/erasures/\(record.id.rawValue)")]
            return response
        }
    }

    /// Handles `GET /v1/erasures/{id}`.
    func report(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .getErasure)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            guard let record = try await useCases.erasure(id: id, allowed: request.scope) else {
                throw Problem(.erasureNotFound)
            }
            return Self.response(.ok, record)
        }
    }

    private static func response(_ status: HTTPResponseStatus, _ record: ErasureRecord) -> HTTPResponse {
        .json(status, ErasureResponse(erasure: record))
    }
}
