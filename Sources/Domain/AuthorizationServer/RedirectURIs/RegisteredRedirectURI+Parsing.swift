extension RegisteredRedirectURI {
    /// Reads a redirect URI from the configuration.
    ///
    /// Every form that user agents rewrite is refused, because the byte comparison would then reject valid
    /// requests, or the browser would open an address other than the text.
    ///
    /// - Parameter allowsLocalhost: True if `http://localhost` counts as a loopback address. RFC 8252 §8.3
    ///   advises against it, but some libraries and sign-in buttons support no other name.
    public init(registering text: String, allowsLocalhost: Bool = false) throws(RedirectURIFault) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longest else { throw .tooLong }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
        guard bytes.allSatisfy(\.isURICharacter) else { throw .characterNotAllowed }
        guard !bytes.contains(UInt8(ascii: "*")) else { throw .wildcard }
        guard !bytes.starts(with: "urn:ietf:wg:oauth:2.0:oob".utf8) else { throw .outOfBand }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { throw .notAbsolute }
        let rest = bytes[(colon + 1)...]
        switch String(decoding: bytes[..<colon], as: UTF8.self) {
        case "https":
            try Self.checkHTTPS(rest)
            self.init(text: text, form: .claimedHTTPS)
        case "http":
            try Self.checkLoopback(text, rest, allowsLocalhost: allowsLocalhost)
            self.init(text: text, form: .loopback)
        default:
            try Self.checkCustomScheme(bytes[..<colon], rest)
            self.init(text: text, form: .customScheme)
        }
    }

    private static func checkHTTPS(_ rest: ArraySlice<UInt8>) throws(RedirectURIFault) {
        let (host, port, tail) = try split(rest)
        try checkHost(host)
        // User agents drop the default port, so a registered URI that names it could never match a request.
        guard port.map({ (LoopbackAddress.port($0) ?? 443) != 443 }) ?? true else { throw .portMalformed }
        try checkPath(tail)
    }

    private static func checkLoopback(
        _ text: String, _ rest: ArraySlice<UInt8>, allowsLocalhost: Bool
    ) throws(RedirectURIFault) {
        guard let address = LoopbackAddress(text) else {
            let (host, port, _) = try split(rest)
            let known = ["127.0.0.1", "[::1]"] + (allowsLocalhost ? ["localhost"] : [])
            guard known.contains(String(decoding: host, as: UTF8.self)), port != nil else {
                try checkLocalName(host)
                throw .httpNotLoopback
            }
            throw .portMalformed
        }
        guard allowsLocalhost || !address.isLocalhost else { throw .localhost }
        try checkPath(address.rest[...])
    }

    private static func checkCustomScheme(
        _ scheme: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>
    ) throws(RedirectURIFault) {
        guard scheme.contains(UInt8(ascii: ".")) else { throw .schemeWithoutPeriod }
        let parts = scheme.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        // These are the characters that RFC 3986 §3.1 allows, but in lowercase only, as user agents write
        // schemes.
        let isWellFormed = scheme.allSatisfy { byte in
            byte.isLowercaseLetter || byte.isDigit || "+-.".utf8.contains(byte)
        }
        guard isWellFormed, scheme.first?.isLetter == true, !parts.contains(where: \.isEmpty) else {
            throw .schemeMalformed
        }
        // RFC 8252 §7.1 leaves the path to the app, and RFC 3986 §3 allows it to be empty.
        guard !rest.isEmpty else { return }
        guard rest.first == UInt8(ascii: "/") else { throw .noSlash }
        guard !rest.starts(with: "//".utf8) else { throw .twoSlashes }
        try checkPath(rest)
    }

    /// Splits the text after `https:` or `http:`.
    private static func split(
        _ rest: ArraySlice<UInt8>
    ) throws(RedirectURIFault) -> (
        host: ArraySlice<UInt8>, port: ArraySlice<UInt8>?, tail: ArraySlice<UInt8>
    ) {
        guard rest.starts(with: "//".utf8) else { throw .hostMalformed }
        let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        let tail = rest[authority.endIndex...]
        guard !authority.contains(UInt8(ascii: "@")) else { throw .userInformation }
        guard let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        else { return (authority, nil, tail) }
        return (authority[..<colon], authority[(colon + 1)...], tail)
    }

    private static func checkHost(_ host: ArraySlice<UInt8>) throws(RedirectURIFault) {
        try checkLocalName(host)
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let areWellFormed = labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != UInt8(ascii: "-")
                && label.last != UInt8(ascii: "-")
                && label.allSatisfy { $0.isLowercaseLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        }
        guard areWellFormed, host.count <= 253 else { throw .hostMalformed }
    }

    private static func checkLocalName(_ host: ArraySlice<UInt8>) throws(RedirectURIFault) {
        let name = String(decoding: host, as: UTF8.self).lowercased()
        let trimmed = name.hasSuffix(".") ? String(name.dropLast()) : name
        guard trimmed != "localhost", !trimmed.hasSuffix(".localhost") else { throw .localhost }
    }

    /// Checks path and query. Browsers remove dot segments, even if they are escaped, and some turn an
    /// escaped slash into a slash.
    private static func checkPath(_ tail: ArraySlice<UInt8>) throws(RedirectURIFault) {
        var rest = tail
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else { continue }
            guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue,
                ![UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "."), 0].contains(high << 4 | low)
            else { throw .pathNotNormal }
        }
        let path = tail.prefix { $0 != UInt8(ascii: "?") }
        let hasDotSegment = path.split(separator: UInt8(ascii: "/")).contains { segment in
            segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8)
        }
        guard !hasDotSegment else { throw .pathNotNormal }
    }
}

/// Reasons for refusing a configured redirect URI.
public enum RedirectURIFault: String, Error, Sendable, CaseIterable {
    case tooLong, characterNotAllowed, notAbsolute, fragment, wildcard, outOfBand, userInformation, localhost
    case httpNotLoopback, hostMalformed, portMalformed, pathNotNormal
    case schemeWithoutPeriod, schemeMalformed, twoSlashes, noSlash
    // The following URIs are well-formed, but not allowed for this kind of client.
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

/// Character classes of URIs (RFC 3986 §2), as ASCII bytes.
extension UInt8 {
    var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    var isUppercaseLetter: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// True for unreserved characters (RFC 3986 §2.3), which need no escaping and have no special meaning.
    var isUnreserved: Bool {
        switch self {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isLetter || isDigit
        }
    }

    /// True if a URI can contain the byte: printable ASCII without the characters that RFC 3986 excludes.
    /// Some of these are rewritten by user agents, for example `\` to `/`.
    var isURICharacter: Bool {
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            false
        default: self > 0x20 && self < 0x7F
        }
    }

    /// The value of a hexadecimal digit, in either case.
    var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
