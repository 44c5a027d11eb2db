import AppleAccounts
import AppleIdentity
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes that receive identity tokens, and the route that creates nonces.
final class TokenRoutes: Sendable {
    let useCases: SignInUseCases
    private let verifications: VerificationMetrics

    init(useCases: SignInUseCases, verifications: VerificationMetrics) {
        (self.useCases, self.verifications) = (useCases, verifications)
    }

    /// Handles `POST /v1/identity-tokens/verify`.
    func verify(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let body = try IdentityTokenRequest(parsing: request.body)
        return try verifications.counting(.identityToken, in: request.trace) {
            try useCases.checkedVerification(body, allowed: request.scope)
        }.map { .json(.ok, VerifiedToken(verified: $0.signIn, app: $0.app), reservingCapacity: 768) }
    }

    /// Handles `POST /v1/sign-ins`.
    func signIn(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        // Checks the capacity first, because a verification that cannot be committed would be wasted work.
        try useCases.commits.requireCapacity()
        let body = try SignInRequest(parsing: request.body)
        return try verifications.counting(.identityToken, in: request.trace) {
            try useCases.signIn(body, allowed: request.scope)
        }.map { .signedIn($0.outcome, app: $0.app) }
    }

    /// Handles `POST /v1/nonces`.
    func mintNonce(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .mintNonce)
        return .now(.json(.created, useCases.mintNonce()))
    }
}
