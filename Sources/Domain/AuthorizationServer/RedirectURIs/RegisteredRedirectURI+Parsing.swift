extension RegisteredRedirectURI {
    /// Reads a redirect URI of the configuration.
    ///
    /// Refuses every form that user agents spell differently: otherwise the comparison of bytes would refuse
    /// an honest request, or the browser would open another address than the text names.
    ///
    /// - Parameter allowsLocalhost: `true` if `http://localhost` is a loopback address. RFC 8252 §8.3 advises
    ///   against it, but some libraries and sign-in buttons know no other name.
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
        // User agents leave out the default port, so a request could never match.
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
        // RFC 3986 §3.1. User agents write a scheme in lowercase.
        let isWellFormed = scheme.allSatisfy { byte in
            byte.isLowercaseLetter || byte.isDigit || "+-.".utf8.contains(byte)
        }
        guard isWellFormed, scheme.first?.isLetter == true, !parts.contains(where: \.isEmpty) else {
            throw .schemeMalformed
        }
        // RFC 8252 §7.1 leaves the path to the app, and RFC 3986 §3 lets it be empty.
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

    /// Checks path and query. Browsers remove dot segments, even escaped dot segments, and some turn an
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
