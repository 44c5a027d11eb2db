import NIOHTTP1
import SignIn

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
