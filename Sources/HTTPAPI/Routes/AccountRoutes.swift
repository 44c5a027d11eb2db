import AppleAccounts
import NIOHTTP1
import SignIn
import StrictJSON

/// Calls that read accounts.
final class AccountRoutes: Sendable {
    private let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// `GET /v1/accounts/{id}`
    func byID(_ call: Call) throws -> RouteResult {
        _ = try Query(parsing: call.query, allowing: [])
        let id = call.parameter ?? ""
        return .later { [useCases] in Self.answer(try await useCases.account(id: id, allowed: call.scope))
        }
    }

    /// `GET /v1/accounts?client_id=&sub=`
    func bySubject(_ call: Call) throws -> RouteResult {
        let query = try Query(parsing: call.query, allowing: ["client_id", "sub"])
        let clientID = try query.required("client_id")
        let subject = try query.required("sub")
        return .later { [useCases] in
            Self.answer(
                try await useCases.account(subject: subject, clientID: clientID, allowed: call.scope))
        }
    }

    private static func answer(_ account: Account) -> Answer {
        var json = JSONWriter(reservingCapacity: 768)
        json.value(account)
        return .json(.ok, json.bytes)
    }
}
