extension RegisteredRedirectURI {
    /// Refuses a form that is not safe for a client of this kind.
    ///
    /// - Parameter isDevelopment: A web application on the developer's machine has no certificate, so it may
    ///   have a loopback address there.
    public func check(for kind: ClientKind.Name, on platform: NativePlatform?, isDevelopment: Bool)
        throws(RedirectURIFault)
    {
        switch (kind, form) {
        // For a client of Google only the URIs of its test tool are configured, and only in development.
        case (_, .claimedHTTPS), (_, .googleProject), (_, .appFlip), (.googleLinking, _): break
        case (.web, .customScheme): throw .customSchemeOfWebClient
        case (.web, .loopback):
            guard isDevelopment else { throw .loopbackOfWebClient }
        case (.native, .loopback):
            guard platform?.allowsLoopback ?? true else { throw .loopbackOnPhone }
        case (.native, .customScheme):
            let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            guard scheme.count <= platform?.longestScheme ?? .max else { throw .schemeTooLong }
        }
    }
}
