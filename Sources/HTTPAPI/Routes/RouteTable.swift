import NIOHTTP1

/// Finds the route for a method and a path by comparing bytes. Frequent routes come first.
enum RouteTable {
    struct Match {
        let route: Route
        /// The segment of the path that is a value, still percent-encoded.
        let parameter: Substring?
        /// The second such segment.
        var secondParameter: Substring?
    }

    /// Throws `not_found` or `method_not_allowed`.
    ///
    /// - Parameter isServed: Whether this deployment has the route. One that it does not have is not found,
    ///   also with a method that it would not take.
    static func match(
        _ method: HTTPMethod, _ path: Substring, isServed: (Route) -> Bool = { _ in true }
    ) throws(Problem) -> Match {
        let match = try find(path)
        guard isServed(match.route) else { throw Problem(.notFound) }
        if match.route.method.isMeant(by: method) { return match }
        if method == .OPTIONS, match.route.isReadableByPages { return match }
        let neighbours = Route.allCases.filter { $0.template.description == match.route.template.description }
        for route in neighbours where route.method.isMeant(by: method) {
            return Match(
                route: route, parameter: match.parameter, secondParameter: match.secondParameter)
        }
        throw Problem(
            .methodNotAllowed,
            allow: (neighbours.map(\.method.allowed) + (match.route.isReadableByPages ? ["OPTIONS"] : []))
                .joined(separator: ", "))
    }

    private static func find(_ path: Substring) throws(Problem) -> Match {
        for route in fixed where isEqual(path, route.template) { return Match(route: route, parameter: nil) }
        if let subject = remainder(of: path, after: "/v1/credentials/") {
            return Match(route: .credential, parameter: subject)
        }
        if let identifier = remainder(of: path, after: "/v1/accounts/") {
            return Match(route: .account, parameter: identifier)
        }
        if let match = grants(path) { return match }
        if let identifier = remainder(of: path, after: "/v1/erasures/") {
            return Match(route: .erasure, parameter: identifier)
        }
        throw Problem(.notFound)
    }

    /// `/v1/accounts/{id}/grants` and `/v1/accounts/{id}/grants/{grant_id}`
    private static func grants(_ path: Substring) -> Match? {
        // A path can be as long as a header; what is behind the sixth slash makes it another path.
        let segments = path.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: 6, omittingEmptySubsequences: false)
        guard segments.count == 5 || segments.count == 6,
            zip(segments, ["", "v1", "accounts"]).allSatisfy({ $0.elementsEqual($1.utf8) }),
            segments[4].elementsEqual("grants".utf8), !segments[3].isEmpty
        else { return nil }
        let account = Substring(segments[3])
        guard segments.count == 6 else { return Match(route: .grants, parameter: account) }
        guard !segments[5].isEmpty else { return nil }
        return Match(route: .endGrant, parameter: account, secondParameter: Substring(segments[5]))
    }

    /// The one segment after `prefix`, or `nil` when there is none or more than one.
    private static func remainder(of path: Substring, after prefix: StaticString) -> Substring? {
        let expected = prefix.bytes
        guard path.utf8.count > expected.count else { return nil }
        let isMeant = path.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.starts(with: expected) && !bytes[expected.count...].contains(UInt8(ascii: "/"))
        }
        let rest = path.utf8.dropFirst(expected.count)
        guard isMeant ?? (path.utf8.starts(with: expected) && !rest.contains(UInt8(ascii: "/"))) else {
            return nil
        }
        return Substring(rest)
    }

    private static func isEqual(_ path: Substring, _ template: StaticString) -> Bool {
        guard path.utf8.count == template.utf8CodeUnitCount else { return false }
        let expected = template.bytes
        let result = path.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(expected) }
        return result ?? path.utf8.elementsEqual(expected)
    }

    /// `/v1/credentials/query` comes before the route that would take "query" for a subject.
    private static let fixed: [Route] = [
        .verifyIdentityToken, .signIn, .queryCredentials, .appleNotification, .mintNonce, .events,
        .findAccount, .authorize, .webResult, .webSignIn, .webCallback, .webFinish, .oauthIntrospect,
        .oauthToken,
        .userInfo, .oauthRevoke, .keySet, .appFlip, .serverMetadata, .openIDMetadata, .riscConfiguration,
        .appSiteAssociation, .googleEvents, .livez, .readyz, .health, .version, .metrics, .openAPI,
    ]
}
