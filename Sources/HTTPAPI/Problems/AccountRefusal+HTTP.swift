import AppleAccounts
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
        case .accountDisabled:
            Problem(
                .forbidden, code: code.rawValue, title: "Account disabled",
                detail:
                    "The account is disabled here. Show the user where to ask, and do not sign the user in.")
        }
    }
}
