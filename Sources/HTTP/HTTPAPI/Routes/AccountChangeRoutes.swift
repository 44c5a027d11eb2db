import AppleAccounts
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn
import StrictJSON

/// The routes that disable, enable and sign out an account. Each responds with the account.
final class AccountChangeRoutes: Sendable {
    private let useCases: SignInUseCases
    /// `nil` where no OAuth client is configured.
    private let grants: GrantUseCases?

    init(useCases: SignInUseCases, oauth: OAuthServer?) {
        self.useCases = useCases
        grants = oauth.map { GrantUseCases($0) }
    }

    /// `POST /v1/accounts/{id}/disable`
    func disable(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let body = try DisablingRequest(parsing: request.body)
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(
                try await useCases.disable(
                    id: id, reason: body.reason, until: body.until, allowed: request.scope))
        }
    }

    /// `POST /v1/accounts/{id}/enable`
    func enable(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let id = request.parameter ?? ""
        return .later { [useCases] in
            .account(try await useCases.enable(id: id, allowed: request.scope))
        }
    }

    /// `POST /v1/accounts/{id}/sign-out`
    func signOut(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let endsGoogleLinks = try Self.endsGoogleLinks(request.body)
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

    private static func endsGoogleLinks(_ bytes: [UInt8]) throws(Problem) -> Bool {
        var body = try RequestBody(bytes)
        var endsGoogleLinks = false
        while let name = try body.next() {
            switch name {
            case "google": endsGoogleLinks = try body.bool("google") ?? false
            default: throw Problem.unknownMember(name)
            }
        }
        return endsGoogleLinks
    }
}
