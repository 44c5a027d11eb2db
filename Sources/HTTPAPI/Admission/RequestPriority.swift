/// Under how much overload a request is rejected.
enum RequestPriority: Sendable {
    /// Never: operators need the state of the service most when it is overloaded.
    case operations
    /// Late: Apple delivers a notification a few times only.
    case notification
    case ordinary
}

extension Route {
    var priority: RequestPriority {
        switch self {
        case .livez, .readyz, .health, .version, .metrics: .operations
        case .appleNotification, .googleEvents: .notification
        case .verifyIdentityToken, .signIn, .account, .findAccount, .credential, .queryCredentials,
            .mintNonce, .events, .eraseAccount, .erasure, .webSignIn, .webCallback, .webFinish, .webResult,
            .openAPI, .oauthToken, .oauthRevoke, .explainRevocation, .oauthIntrospect, .userInfo,
            .postUserInfo, .keySet, .serverMetadata, .openIDMetadata, .riscConfiguration, .appSiteAssociation,
            .appFlip, .grants, .endGrant, .authorize, .answerConsent:
            .ordinary
        }
    }
}
