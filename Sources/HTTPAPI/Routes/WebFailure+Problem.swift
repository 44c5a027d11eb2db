import NIOHTTP1
import SignIn

extension WebFailure {
    /// What the app's page is told of a problem: which kind it is, and its stable code.
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
