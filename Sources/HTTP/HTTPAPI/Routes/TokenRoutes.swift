import AppleAccounts
import AppleIdentity
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes that receive an identity token, and the route for nonces.
final class TokenRoutes: Sendable {
    private let useCases: SignInUseCases
    private let verifications: VerificationMetrics

    init(useCases: SignInUseCases, verifications: VerificationMetrics) {
        (self.useCases, self.verifications) = (useCases, verifications)
    }

    /// `POST /v1/identity-tokens/verify`
    func verify(_ request: HTTPRequest) throws -> RouteResult {
        let body = try IdentityTokenRequest(parsing: request.body)
        guard useCases.judgesApps else {
            let verification = try verifications.counting(.identityToken, in: request.trace) {
                try useCases.verify(body, allowed: request.scope)
            }
            return RouteResult(verification) { .response(Self.response($0, app: nil)) }
        }
        let verification = try verifications.counting(.identityToken, in: request.trace) {
            try useCases.checkedVerification(body, allowed: request.scope)
        }
        return RouteResult(verification) { step in
            switch step {
            case .finished(let checked): .response(Self.response(checked.signIn, app: checked.app))
            case .commit(let pending): .commit(pending) { Self.response($0.signIn, app: $0.app) }
            }
        }
    }

    /// `POST /v1/sign-ins`
    func signIn(_ request: HTTPRequest) throws -> RouteResult {
        // Checked before the verification, which would be wasted.
        try useCases.commits.requireCapacity()
        let body = try SignInRequest(parsing: request.body)
        guard useCases.judgesApps else {
            let signIn = try verifications.counting(.identityToken, in: request.trace) {
                try useCases.signIn(body, allowed: request.scope)
            }
            return RouteResult(signIn) { .commit($0) { .signedIn($0, app: nil) } }
        }
        let signIn = try verifications.counting(.identityToken, in: request.trace) {
            try useCases.checkedSignIn(body, allowed: request.scope)
        }
        return RouteResult(signIn) { .commit($0) { .signedIn($0.outcome, app: $0.app) } }
    }

    /// `POST /v1/nonces`
    func mintNonce(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(request, of: .mintNonce)
        return .response(.json(.created, useCases.mintNonce()))
    }

    /// - Parameter app: Result of judging the app; `nil` where it is not judged.
    private static func response(_ verified: VerifiedSignIn, app: AppCheckResult?) -> HTTPResponse {
        .json(.ok, VerifiedToken(verified: verified, app: app), reservingCapacity: 768)
    }
}
