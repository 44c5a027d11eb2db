import AppAttestation
import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1

extension AccountRefusal {
    var problem: Problem {
        switch code {
        case .credentialRevoked:
            Problem(
                .forbidden, code: code.rawValue, title: "Credential revoked",
                detail:
                    "The user withdrew consent after this token was issued. The user has to sign in again.")
        case .accountNotFound:
            Problem(
                .notFound, code: code.rawValue, title: "Account not found",
                detail: "There is no account of this user that this API key may see.")
        case .nonceExpired:
            Problem(
                .unauthorized, code: code.rawValue, title: "Nonce expired",
                detail: "The nonce has expired, or this service did not make it.")
        case .nonceUsed:
            Problem(
                .unauthorized, code: code.rawValue, title: "Nonce used",
                detail: "The nonce was used in a sign-in before.")
        case .accountExists:
            Problem(
                .conflict, code: code.rawValue, title: "Account exists",
                detail: "The user has another account already.")
        case .callerForbidden: Problem(.callerForbidden)
        case .challengeUsed:
            Problem(
                .unauthorized, code: code.rawValue, title: "Challenge used",
                detail: "The challenge of App Attest was used before. Get a new one.")
        case .counterNotIncreased:
            Problem(
                .unauthorized, code: code.rawValue, title: "Counter not increased",
                detail: "The assertion is a replay, or came late. Make a new one with the same key.")
        case .attestationKeyUnknown:
            Problem(
                .unauthorized, code: code.rawValue, title: "Attestation key unknown",
                detail: "This app has no key with this ID. Attest a new key.")
        case .attestationKeyTaken:
            Problem(
                .conflict, code: code.rawValue, title: "Attestation key taken",
                detail: "Another app has attested this key. Attest a new key.")
        case .attestationKeysFull:
            Problem(
                .conflict, code: code.rawValue, title: "Attestation keys full",
                detail: "The app has as many keys as are kept.")
        case .accountDisabled:
            Problem(
                .forbidden, code: code.rawValue, title: "Account disabled",
                detail:
                    "The account is disabled here. Show the user where to ask, and do not sign the user in.")
        }
    }
}

extension AppCheckRefusal {
    /// 401: it is not proven that the request comes from the app.
    var problem: Problem {
        switch code {
        case .attestationRequired:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app required",
                detail: explanation, appCheckCause: cause)
        case .attestationInvalid:
            Problem(
                .unauthorized, code: code.rawValue, title: "Proof of the app invalid",
                detail: explanation, appCheckCause: cause)
        }
    }
}

extension AppFlipRefusal {
    var problem: Problem {
        switch self {
        case .redirectURIMismatch: Problem(.redirectURIMismatch, subject: .member("redirect_uri"))
        case .callerForbidden: Problem(.callerForbidden)
        case .decisionMissing: Problem(.memberMissing, subject: .member("decision"))
        case .decisionUnknown: Problem(.memberMalformed, subject: .member("decision"))
        case .identityAmbiguous: Problem(.memberMalformed, subject: .member("account_id"))
        }
    }
}

extension RequestRefusal {
    /// The problem that the client reads before the engine closes the connection.
    var problemCode: ProblemCode {
        switch self {
        case .malformed: .requestMalformed
        case .headerTooLarge: .headerTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .timedOut: .requestTimeout
        case .overloaded: .overloaded
        }
    }
}
