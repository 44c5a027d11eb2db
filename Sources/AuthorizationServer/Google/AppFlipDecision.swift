/// What comes of an App Flip call before the identity is looked at.
public enum AppFlipDecision: Sendable {
    /// An error of the interface, without a URL to open.
    case refuse(AppFlipRefusal)
    case answer(AppFlipResponse)
    case proceed(AppFlipRequest)
}

/// Why there is no URL to open.
public enum AppFlipRefusal: String, Error, Sendable, CaseIterable {
    /// 400. The redirect URI is missing, or none of those of App Flip. Google is not behind it.
    case redirectURIMismatch = "redirect_uri_mismatch"
    /// 403. The API key is for other apps than the client's.
    case callerForbidden = "caller_forbidden"
    /// 400. `decision` is missing.
    case decisionMissing = "decision_missing"
    /// 400. `decision` is none of the three words.
    case decisionUnknown = "decision_unknown"
    /// 400. There are both an identity token and an account ID, which could be of two people.
    case identityAmbiguous = "identity_ambiguous"
}

/// Why a person who has agreed gets no code.
public enum AppFlipObstacle: Sendable, Hashable, CaseIterable {
    case identityMissing
    /// The identity token did not pass its verification, or the sign-in with it was refused.
    case identityRefused
    /// Older than the client's `max_authentication_age`.
    case authenticationTooOld
    /// The backend states an authentication in the future. Its clock is wrong, or it does not know when the
    /// person signed in.
    case authenticationAhead
    /// A new sign-in makes the credential good again.
    case credentialRevoked
    /// The account was linked again and again within an hour. Google is told in the browser to try later.
    case tooManyGrants
    /// The database cannot be reached, or the like.
    case unavailable
    case accountErased, accountBeingErased, appleAccountDeleted

    /// What Google is to do: go on in the browser, or end.
    public var outcome: AppFlipOutcome {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .authenticationAhead,
            .credentialRevoked, .tooManyGrants, .unavailable:
            .cancelled
        case .accountErased, .accountBeingErased, .appleAccountDeleted: .unrecoverable
        }
    }
}
