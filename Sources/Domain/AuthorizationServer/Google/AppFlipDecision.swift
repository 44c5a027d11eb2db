/// The decision about an App Flip call, before the identity is checked.
public enum AppFlipDecision: Sendable {
    /// An error of the interface, without a URL to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case proceed(AppFlipRequest)
}

/// The decision about the parameters of an App Flip link, before the user is asked.
public enum AppFlipLinkDecision: Sendable {
    /// An error of the interface, without a URL to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case ask(AppFlipLink)
}

/// Reasons for which there is no URL to open.
public enum AppFlipRefusal: String, Error, Sendable, CaseIterable {
    /// 400. The redirect URI is missing, or is no URI of App Flip, so it does not lead to Google.
    case redirectURIMismatch = "redirect_uri_mismatch"
    /// 403. The API key is for other apps than the client's.
    case callerForbidden = "caller_forbidden"
    /// 400. `decision` is missing.
    case decisionMissing = "decision_missing"
    /// 400. `decision` is none of the three words.
    case decisionUnknown = "decision_unknown"
    /// 400. The call has both an identity token and an account ID, which could belong to two users.
    case identityAmbiguous = "identity_ambiguous"
}

/// Reasons for which a user who has agreed gets no code.
public enum AppFlipObstacle: Sendable, Hashable, CaseIterable {
    case identityMissing
    /// The identity token did not pass its verification, or the sign-in with it was refused.
    case identityRefused
    /// The authentication is older than the client's `max_authentication_age`.
    case authenticationTooOld
    /// The backend states an authentication in the future. Its clock is wrong, or it does not know the time
    /// of the user's sign-in.
    case authenticationAhead
    /// The credential is revoked. A new sign-in authorizes it again.
    case credentialRevoked
    /// The account was linked again and again within an hour. Google shows in the browser that the user
    /// should try later.
    case tooManyGrants
    /// The database cannot be reached, or another dependency failed.
    case unavailable
    case accountErased, accountBeingErased, appleAccountDeleted
    /// The app's operator has disabled the account.
    case accountDisabled

    /// The outcome for Google: continue in the browser, or end.
    public var outcome: AppFlipOutcome {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .authenticationAhead,
            .credentialRevoked, .tooManyGrants, .unavailable:
            .cancelled
        case .accountErased, .accountBeingErased, .appleAccountDeleted, .accountDisabled: .unrecoverable
        }
    }

    /// True if the user can be linked after a new sign-in with Apple in the app.
    public var endsWithSignIn: Bool {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .credentialRevoked: true
        case .authenticationAhead, .tooManyGrants, .unavailable, .accountErased, .accountBeingErased,
            .appleAccountDeleted, .accountDisabled:
            false
        }
    }
}
