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
    func verify(_ call: Call) throws -> Handling {
        let request = try IdentityTokenRequest(parsing: call.body)
        if let verified = try verifyNow(request, call) { return .answered(Self.answer(verified)) }
        return .awaiting { [useCases, verifications] in
            let verified = try await verifications.counting(.identityToken) {
                try await useCases.verify(request, allowed: call.scope)
            }
            return Self.answer(verified)
        }
    }

    /// What comes after the verification is not about the token, so the token counts as good from here on.
    private func checkNow(_ request: SignInRequest, _ call: Call) throws -> CheckedSignIn? {
        do {
            let checked = try useCases.checkNow(request, allowed: call.scope)
            if checked != nil { verifications.countAccepted(.identityToken) }
            return checked
        } catch {
            verifications.count(error, .identityToken)
            throw error
        }
    }

    /// With a key at hand, which is nearly always, a verification is arithmetic: no task is worth its price.
    private func verifyNow(_ request: IdentityTokenRequest, _ call: Call) throws -> VerifiedSignIn? {
        do {
            let verified = try useCases.verifyNow(request, allowed: call.scope)
            if verified != nil { verifications.countAccepted(.identityToken) }
            return verified
        } catch {
            verifications.count(error, .identityToken)
            throw error
        }
    }

    /// `POST /v1/sign-ins`
    func signIn(_ call: Call) throws -> Handling {
        try useCases.requireRoom()
        let request = try SignInRequest(parsing: call.body)
        if let checked = try checkNow(request, call) {
            return .committing { [useCases] answer in
                useCases.submission(of: checked) { result in answer { Answer.signedIn(try result.get()) } }
            }
        }
        return .awaiting { [useCases, verifications] in
            let outcome = try await verifications.counting(.identityToken) {
                try await useCases.signIn(request, allowed: call.scope)
            }
            return Answer.signedIn(outcome)
        }
    }

    func commit(_ submissions: [Submission]) {
        useCases.commit(submissions)
    }

    /// `POST /v1/nonces`
    func mintNonce(_ call: Call) throws -> Handling {
        _ = try Query(parsing: call.query, allowing: [])
        let minted = useCases.mintNonce()
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("nonce", minted.nonce)
        json.member("nonce_sha256", minted.nonceSHA256)
        json.member("expires_at", minted.expiresAt.rfc3339)
        json.endObject()
        return .answered(.json(.created, json.bytes))
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
