import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import EventDelivery
import HTTPEngine
import KeySets
import OAuth
import SignIn

extension Problem {
    /// Maps an error of a lower module to HTTP. Each type has an exhaustive switch of its own. An error
    /// without a mapping is a bug of this service.
    init(describing error: any Error) {
        self =
            switch error {
            case let problem as Problem: problem
            case let error as AppleTokenError: error.problem
            case let error as KeySetError: error.problem
            case let error as AccountRefusal: error.problem
            case let refusal as AppCheckRefusal: refusal.problem
            case let error as StorageError: error.problem
            case is OverloadedError: Problem(.overloaded)
            case is SigningKeysShut: Problem(.signingKeysShut)
            case is CallerForbidden: Problem(.callerForbidden)
            case is NonceNotMinted: Problem(.nonceNotMinted)
            case let error as WebRefusal: error.problem
            case is EventCursorAhead: Problem(.cursorAhead)
            case is AppAttestNotConfigured: Problem(.appAttestNotConfigured)
            case is UnknownClientID: Problem(.clientIDUnknown)
            case let refusal as AppFlipRefusal: refusal.problem
            case is GrantNotFound: Problem(.grantNotFound)
            case is ReceiverPaused: Problem(.receiverPaused)
            case is SearchPositionUnknown: Problem(.parameterMalformed, subject: .parameter("after"))
            case is DisablingOver: Problem(.disablingOver)
            default: Problem(.internalError)
            }
    }
}

extension KeySetError {
    var problem: Problem {
        switch code {
        case .unknownKey: AppleTokenError(.unknownKey).problem
        case .keysUnavailable: Problem(.keysUnavailable, retryAfter: retryAfter)
        }
    }
}

extension StorageError {
    var problem: Problem {
        switch code {
        case .unavailable, .busy, .full, .readOnly, .corrupted, .schemaTooNew, .migrationFailed:
            Problem(.storageUnavailable)
        // The rules above the store accepted a value that no database takes. This is a bug of the service,
        // and a retry does not help.
        case .valueRefused: Problem(.internalError)
        }
    }
}

extension PercentEncoding.Failure {
    /// - Parameter malformed: The code for a failure other than U+0000.
    func problem(_ malformed: ProblemCode, subject: Problem.Subject? = nil) -> Problem {
        switch self {
        case .malformed: Problem(malformed, subject: subject)
        case .characterNotAllowed: Problem(.characterNotAllowed, subject: subject)
        }
    }
}
