import AppleAccounts
import AppleIdentity
import KeySets
import SignIn

extension Problem {
    /// What an error of a lower room means over HTTP. Each type has its own exhaustive switch; whatever is in none of
    /// them is a mistake in this service.
    init(describing error: any Error) {
        self =
            switch error {
            case let problem as Problem: problem
            case let error as AppleTokenError: error.problem
            case let error as KeySetError: error.problem
            case let error as AccountRefusal: error.problem
            case let error as StorageError: error.problem
            case is OverloadedError: Problem(.overloaded)
            case is CallerForbidden: Problem(.callerForbidden)
            case let error as WebRefusal: error.problem
            case is EventCursorAhead: Problem(.cursorAhead)
            case is UnknownClientID: Problem(.clientIDUnknown)
            default: Problem(.internalError)
            }
    }
}
