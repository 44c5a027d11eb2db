extension RegisteredRedirectURI {
    /// Refuses a form that is not safe for a client of a kind with this rule.
    ///
    /// - Parameters:
    ///   - isDevelopment: A web application on the developer's machine has no certificate, so it may have a
    ///     loopback address there.
    ///   - allowsCustomScheme: `true` if the client accepts that another app on Android can claim its scheme.
    public func check(
        by rule: RedirectURIRule, on platform: NativePlatform?, isDevelopment: Bool,
        allowsCustomScheme: Bool = false
    ) throws(RedirectURIFault) {
        switch (rule, form) {
        // For a client of Google only the URIs of its test tool are configured, and only in development.
        case (_, .claimedHTTPS), (_, .googleProject), (_, .appFlip), (.ofGoogle, _): break
        case (.ofServer, .customScheme): throw .customSchemeOfWebClient
        case (.ofServer, .loopback):
            guard isDevelopment else { throw .loopbackOfWebClient }
        case (.ofInstalledApp, .loopback):
            guard platform?.allowsLoopback ?? true else { throw .loopbackOnPhone }
        case (.ofInstalledApp, .customScheme):
            guard allowsCustomScheme || !(platform?.sharesCustomSchemes ?? false) else {
                throw .customSchemeOnAndroid
            }
            let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            guard scheme.count <= platform?.longestScheme ?? .max else { throw .schemeTooLong }
        }
    }
}
