/// Reasons for which a page for users shows an error. Nothing was changed.
public enum UserPageRefusal: String, Sendable, CaseIterable {
    /// There is no page for the query.
    case pageUnknown = "not_found"
    case embeddedBrowser = "disallowed_useragent"
    /// The form was not shown to this session for this purpose, or it was changed.
    case formRefused = "form_refused"
    /// The session or the credential has ended, or the sign-in at Apple failed.
    case signInNeeded = "login_required"
    case unavailable = "temporarily_unavailable"
}
