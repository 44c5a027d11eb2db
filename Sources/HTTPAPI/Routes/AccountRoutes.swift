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

    /// `GET /v1/accounts?client_id=&sub=`
    func bySubject(_ request: HTTPRequest) throws -> RouteResult {
        let query = try Query(parsing: request.query, allowing: ["client_id", "sub"])
        let clientID = try query.required("client_id")
        let subject = try query.required("sub")
        return .later { [useCases] in
            .account(
                try await useCases.account(subject: subject, clientID: clientID, allowed: request.scope))
        }
    }
}
