/// How much has to be the matter before a request is turned away unread.
enum RequestPriority: Sendable {
    /// Never: whoever asks how the service is must hear it when it is worst.
    case operations
    /// Late: Apple tells a thing a few times, and then never again.
    case notification
    case ordinary
}

extension Route {
    var priority: RequestPriority {
        switch self {
        case .livez, .readyz, .health, .version, .metrics: .operations
        case .appleNotification: .notification
        case .verifyIdentityToken, .signIn, .account, .findAccount, .credential, .queryCredentials,
            .mintNonce, .events, .eraseAccount, .erasure, .webSignIn, .webCallback, .webFinish, .webResult,
            .openAPI:
            .ordinary
        }
    }
}
