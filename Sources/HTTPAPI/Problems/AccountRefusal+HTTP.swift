import AppleAccounts
import NIOHTTP1

extension AccountRefusal {
    var problem: Problem {
        switch code {
        case .credentialRevoked:
            Problem(
                .forbidden, code: code.rawValue, title: "Credential revoked",
                detail: "The person withdrew consent after this token was issued; a new sign-in is needed.")
        case .accountNotFound:
            Problem(
                .notFound, code: code.rawValue, title: "Account not found",
                detail: "There is no account for this person.")
        case .nonceExpired:
            Problem(
                .unauthorized, code: code.rawValue, title: "Nonce expired",
                detail: "The nonce is past its time or was never minted here.")
        case .nonceUsed:
            Problem(
                .unauthorized, code: code.rawValue, title: "Nonce used",
                detail: "The nonce has served a sign-in before.")
        case .accountExists:
            Problem(
                .conflict, code: code.rawValue, title: "Account exists",
                detail: "The person has another account already.")
        case .callerForbidden: Problem(.callerForbidden)
        }
    }
}
