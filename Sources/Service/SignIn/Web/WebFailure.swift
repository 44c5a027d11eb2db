import AppleAccounts

/// The failure of a web sign-in, in the terms of RFC 6749 §4.1.2.1 for the app's page.
public struct WebFailure: Sendable, Hashable {
    /// An error code of Apple's or ours.
    public let error: String
    /// One of our stable codes, if this service found the failure.
    public let description: String?

    init(error: String, description: String?) {
        (self.error, self.description) = (error, description)
    }

    /// This service refused Apple's token.
    public static func invalidIdentityToken(_ code: String) -> WebFailure {
        WebFailure(error: "invalid_identity_token", description: code)
    }

    /// The token is valid, and the account rules refuse it.
    public static func signInRefused(_ code: String) -> WebFailure {
        WebFailure(error: "sign_in_refused", description: code)
    }

    /// True if the sign-in was refused because the account is disabled.
    public var isOfDisabledAccount: Bool {
        self == .signInRefused(AccountRefusal.Code.accountDisabled.rawValue)
    }

    /// A retry may help.
    public static func temporarilyUnavailable(_ code: String) -> WebFailure {
        WebFailure(error: "temporarily_unavailable", description: code)
    }

    /// The form is not as Apple sends it.
    public static func invalidRequest(_ code: String) -> WebFailure {
        WebFailure(error: "invalid_request", description: code)
    }

    /// The error that Apple sends, usually `user_cancelled_authorize`. It is not signed, so only a plain word
    /// is passed on.
    public static func fromApple(_ error: String) -> WebFailure {
        let isWord =
            (1...64).contains(error.utf8.count)
            && error.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return WebFailure(error: isWord ? error : "server_error", description: nil)
    }
}
