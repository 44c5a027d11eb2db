import AppleIdentity
import NIOHTTP1
import SignIn

extension AppleTokenError {
    /// The problem of a refused token. Every refusal is 401: it is not proven that the caller's user is the
    /// token's user.
    var problem: Problem {
        let (title, detail) = code.words
        return Problem(.unauthorized, code: code.rawValue, title: title, detail: detail)
    }
}

extension AppleTokenError.Code {
    /// Fixed texts: nothing of the token is repeated, because it is not verified.
    fileprivate var words: (title: String, detail: String) {
        switch self {
        case .tokenTooLarge: ("Token too large", "The token is longer than 16 KiB.")
        case .tokenMalformed:
            ("Token malformed", "The token is not three segments of strict base64url around strict JSON.")
        case .algorithmNotAllowed: ("Algorithm not allowed", "The token's alg is not RS256.")
        case .headerNotAllowed:
            ("Header not allowed", "The token's header has a parameter that is not allowed.")
        case .keyIDInvalid: ("Key ID invalid", "The token's kid is not a string of 1 to 64 characters.")
        case .unknownKey: ("Unknown key", "Apple's key set has no usable key with the token's kid.")
        case .signatureInvalid: ("Signature invalid", "The token is not signed by the key that it names.")
        case .notAnIdentityToken: ("Not an identity token", "The token is a notification.")
        case .notANotification: ("Not a notification", "The token has no events.")
        case .claimMissing: ("Claim missing", "The token lacks a claim that Apple always sends.")
        case .claimMalformed: ("Claim malformed", "A claim has the wrong type or is out of range.")
        case .issuerMismatch: ("Issuer mismatch", "The token's iss is not accepted here.")
        case .audienceMismatch: ("Audience mismatch", "The token's aud is not the expected client ID.")
        case .tokenExpired: ("Token expired", "The token is past its exp.")
        case .tokenNotYetValid:
            ("Token not yet valid", "The token's nbf is later than this service's clock.")
        case .issuedInFuture: ("Issued in the future", "The token's iat is later than this service's clock.")
        case .subjectInvalid: ("Subject invalid", "The token's sub is not a string of 1 to 255 characters.")
        case .nonceMissing: ("Nonce missing", "The token has no nonce.")
        case .nonceMismatch: ("Nonce mismatch", "The token's nonce is not the one in the request.")
        case .codeHashMissing: ("Code hash missing", "The token has no c_hash.")
        case .codeHashMismatch:
            ("Code hash mismatch", "The token's c_hash does not match the authorization code in the request.")
        case .accessTokenHashMissing: ("Access token hash missing", "The token has no at_hash.")
        case .accessTokenHashMismatch:
            (
                "Access token hash mismatch",
                "The token's at_hash does not match the access token in the request."
            )
        case .eventsMalformed: ("Events malformed", "The token's events do not have a form that Apple uses.")
        }
    }
}

extension WebRefusal {
    var problem: Problem {
        let (title, detail) = code.words
        return Problem(.badRequest, code: code.rawValue, title: title, detail: detail)
    }
}

extension WebRefusal.Code {
    /// Texts, which users see too, in the browser.
    fileprivate var words: (title: String, detail: String) {
        switch self {
        case .stateInvalid: ("Sign-in not known", "This sign-in was not started here.")
        case .stateExpired: ("Sign-in took too long", "The sign-in was started more than ten minutes ago.")
        case .stateUsed: ("Sign-in already done", "This sign-in has been completed before.")
        case .ticketInvalid: ("Sign-in not known", "This page does not belong to a sign-in.")
        case .ticketExpired: ("Sign-in took too long", "This page has expired.")
        case .browserMismatch:
            (
                "Another browser",
                "The sign-in was started in another browser, or this browser does not store cookies."
            )
        case .codeInvalid:
            ("Code invalid", "The code is unknown, was used before, or is older than two minutes.")
        }
    }
}

extension WebFailure {
    /// Makes the failure that the app's page receives: the problem's kind and its stable code.
    init(_ problem: Problem) {
        self =
            switch problem.status {
            case .unauthorized: .invalidIdentityToken(problem.code)
            case .serviceUnavailable: .temporarilyUnavailable(problem.code)
            case .badRequest: .invalidRequest(problem.code)
            default: .signInRefused(problem.code)
            }
    }
}
