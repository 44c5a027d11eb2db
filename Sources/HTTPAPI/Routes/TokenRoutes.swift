import AppleAccounts
import AppleIdentity
import NIOHTTP1
import SignIn
import StrictJSON

/// Calls that take an identity token, and the nonces for them.
final class TokenRoutes: Sendable {
    private let useCases: SignInUseCases
    private let verifications: VerificationMetrics

    init(useCases: SignInUseCases, verifications: VerificationMetrics) {
        (self.useCases, self.verifications) = (useCases, verifications)
    }

    /// `POST /v1/identity-tokens/verify`
    func verify(_ call: Call) throws -> RouteResult {
        let request = try IdentityTokenRequest(parsing: call.body)
        let verification = try verifications.counting(.identityToken) {
            try useCases.verify(request, allowed: call.scope)
        }
        return RouteResult(verification) { .response(Self.answer($0)) }
    }

    /// `POST /v1/sign-ins`
    func signIn(_ call: Call) throws -> RouteResult {
        // Before the verification, which would be wasted.
        try useCases.commits.requireCapacity()
        let request = try SignInRequest(parsing: call.body)
        let signIn = try verifications.counting(.identityToken) {
            try useCases.signIn(request, allowed: call.scope)
        }
        return RouteResult(signIn) { .commit($0) { .signedIn($0) } }
    }

    /// `POST /v1/nonces`
    func mintNonce(_ call: Call) throws -> RouteResult {
        _ = try Query(parsing: call.query, allowing: [])
        let minted = useCases.mintNonce()
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("nonce", minted.nonce)
        json.member("nonce_sha256", minted.nonceSHA256)
        json.member("expires_at", minted.expiresAt.rfc3339)
        json.endObject()
        return .response(.json(.created, json.bytes))
    }

    private static func answer(_ verified: VerifiedSignIn) -> Answer {
        var json = JSONWriter(reservingCapacity: 768)
        json.beginObject()
        json.name("identity")
        json.value(verified.identity, of: verified.app)
        json.endObject()
        return .json(.ok, json.bytes)
    }
}
