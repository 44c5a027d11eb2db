import AppleAccounts
import AppleIdentity
import JOSE
import NIOHTTP1
import SignIn

/// Calls that take an identity token, and the nonces for them.
struct TokenRoutes: Sendable {
    let useCases: SignInUseCases
    let verifications: VerificationMetrics

    /// `POST /v1/identity-tokens/verify`
    func verify(_ call: Call) throws -> Handling {
        let request = try IdentityTokenRequest(parsing: call.body)
        return .awaiting {
            let verified = try await verifications.counting(.identityToken) {
                try await useCases.verify(request, allowed: call.scope)
            }
            return Self.answer(verified)
        }
    }

    /// `POST /v1/sign-ins`
    func signIn(_ call: Call) throws -> Handling {
        let request = try SignInRequest(parsing: call.body)
        return .awaiting {
            let outcome = try await verifications.counting(.identityToken) {
                try await useCases.signIn(request, allowed: call.scope)
            }
            var json = JSONWriter(reservingCapacity: 896)
            json.beginObject()
            json.name("account")
            json.value(outcome.account)
            json.name("credential")
            json.value(outcome.credential)
            json.member("is_new_account", outcome.isNewAccount)
            json.endObject()
            return .json(outcome.isNewAccount ? .created : .ok, json.bytes)
        }
    }

    /// `POST /v1/nonces`
    func mintNonce(_ call: Call) throws -> Handling {
        _ = try Query(parsing: call.query, allowing: [])
        return .awaiting {
            let minted = try await useCases.mintNonce()
            var json = JSONWriter(reservingCapacity: 256)
            json.beginObject()
            json.member("nonce", minted.nonce)
            json.member("nonce_sha256", minted.nonceSHA256)
            json.member("expires_at", minted.expiresAt.rfc3339)
            json.endObject()
            return .json(.created, json.bytes)
        }
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
