import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn

/// The routes that read accounts.
final class AccountRoutes: Sendable {
    private let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
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
        return .later { [useCases] in
            var filter = query.filter
            filter.clientID = try query.clientID.map {
                try useCases.primaryClientID(of: $0, allowed: request.scope)
            }
            let search = AccountSearch(key: query.key, filter: filter, scope: request.scope)
            return .accounts(
                try await useCases.accounts(search, after: query.position, limit: query.limit))
        }
    }
}
