import AuthorizationServer

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
