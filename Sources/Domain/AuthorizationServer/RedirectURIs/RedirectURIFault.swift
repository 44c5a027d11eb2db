/// Reasons for which a redirect URI of the configuration is refused.
public enum RedirectURIFault: String, Error, Sendable, CaseIterable {
    case tooLong, characterNotAllowed, notAbsolute, fragment, wildcard, outOfBand, userInformation, localhost
    case httpNotLoopback, hostMalformed, portMalformed, pathNotNormal
    case schemeWithoutPeriod, schemeMalformed, twoSlashes, noSlash
    // Forms that are valid, but not for the client's kind.
    case customSchemeOfWebClient, loopbackOfWebClient, loopbackOnPhone, customSchemeOnAndroid, schemeTooLong

    /// The expected form, and the remedy.
    public var reason: String {
        switch self {
        case .tooLong: "must have at most \(RegisteredRedirectURI.longest) characters; shorten it"
        case .characterNotAllowed:
            "must have only characters of URIs (RFC 3986); write a host in its ASCII form and escape the rest "
                + "with % and two digits"
        case .notAbsolute: "must begin with a scheme, as https://app.example.com/cb does"
        case .fragment: "must not have a fragment (RFC 6749 section 3.1.2); remove # and what follows"
        case .wildcard: "must not have a wildcard, because URIs are compared exactly; list every URI"
        case .outOfBand:
            "must not be out of band, which is not safe and no longer supported; use a loopback address or a "
                + "custom scheme"
        case .userInformation: "must not have a user before the host; remove it with the @"
        case .localhost:
            "must not use localhost, which can lead to another machine (RFC 8252 section 8.3); "
                + "write 127.0.0.1 or [::1], or set allow_localhost where a native client knows no other name"
        case .httpNotLoopback:
            "must be https, because http protects no code on its way; only http://127.0.0.1 and http://[::1] "
                + "may be http"
        case .hostMalformed:
            "must have a host name of lowercase ASCII letters, digits, hyphens and periods, without a period "
                + "at its end"
        case .portMalformed:
            "must have a port from 1 to 65535 without leading zeros, or none; the scheme's default port is left "
                + "out"
        case .pathNotNormal:
            "must have a path that no browser rewrites: no . or .. segments, no escaped slash, backslash or "
                + "period, and two hexadecimal digits after each %"
        case .schemeWithoutPeriod:
            "must have a custom scheme that is a reverse domain name with a period, as com.example.app, because "
                + "others are not unique (RFC 8252 section 7.1)"
        case .schemeMalformed:
            "must have a scheme of lowercase letters, digits, +, - and periods, without an empty part between "
                + "periods"
        case .twoSlashes:
            "must have one slash after a custom scheme, as com.example.app:/cb, because there is no host "
                + "(RFC 8252 section 7.1); remove the other"
        case .noSlash:
            "must have a slash after a custom scheme, as com.example.app:/cb, or no path; add the slash"
        case .customSchemeOfWebClient:
            "must be https for a client of kind web; only native apps have a scheme"
        case .loopbackOfWebClient:
            "must be https for a client of kind web; a loopback address is possible in development only"
        case .loopbackOnPhone:
            "must not be a loopback address on ios and android, where another app can take the port; use https "
                + "or a custom scheme"
        case .customSchemeOnAndroid:
            "must be an https App Link on android, because any app can claim a custom scheme; set "
                + "allow_custom_scheme: true for a client that cannot have an App Link"
        case .schemeTooLong: "must have a scheme of at most 39 characters on uwp; shorten it"
        }
    }
}
