import AppleAccounts
import AuthorizationServer
import StrictJSON

/// The content of `apple-app-site-association`: the links on this host that each app opens, and the apps
/// associated with the host.
///
/// Two clients can belong to one app, and two apps can have the same paths. iOS uses the first matching entry
/// that names the app, so each entry contains only the app's own paths.
struct AppSiteLinks {
    private var entries: [(paths: [String], appIDs: [String])] = []

    /// - Parameter issuer: The issuer whose host serves the document. The document contains only links on
    ///   this host.
    init(of clients: ClientRegistry, in deployment: Deployment, issuer: Issuer) {
        for client in clients.clients {
            guard let app = deployment.app(for: client.app) else { continue }
            let paths = Self.paths(of: client, at: issuer)
            guard !paths.isEmpty else { continue }
            for bundleID in app.bundleIDs { add("\(app.team.rawValue).\(bundleID.rawValue)", to: paths) }
        }
    }

    var isEmpty: Bool { entries.isEmpty }

    /// Returns the paths of Google's universal links, and of a native app's redirect URIs.
    private static func paths(of client: OAuthClient, at issuer: Issuer) -> [String] {
        if let linking = client.googleLinking { return linking.appFlip ? linking.linkPaths : [] }
        guard case .ofInstalledApp = client.kind.redirectURIs else { return [] }
        var paths: [String] = []
        for uri in client.redirectURIs where uri.form == .claimedHTTPS {
            guard let path = Self.path(of: uri.text, at: issuer), !paths.contains(path) else { continue }
            paths.append(path)
        }
        return paths
    }

    /// Returns the path of a URI on the issuer's host; `nil` for any other URI. iOS compares the path without
    /// the query.
    private static func path(of uri: String, at issuer: Issuer) -> String? {
        let origin = issuer.text.utf8
        guard uri.utf8.starts(with: origin) else { return nil }
        let rest = uri.utf8.dropFirst(origin.count)
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        return path.first == UInt8(ascii: "/") ? String(Substring(path)) : nil
    }

    private mutating func add(_ appID: String, to paths: [String]) {
        guard let index = entries.firstIndex(where: { $0.paths == paths }) else {
            return entries.append((paths, [appID]))
        }
        if !entries[index].appIDs.contains(appID) { entries[index].appIDs.append(appID) }
    }

    /// Apps whose users sign in at this host. iOS offers the host's passwords in these apps, and lets the
    /// apps wait for a redirect to one of the host's `https` URIs.
    private var apps: [String] {
        var apps: [String] = []
        for appID in entries.flatMap(\.appIDs) where !apps.contains(appID) { apps.append(appID) }
        return apps
    }
}

extension AppSiteLinks: JSONBody {
    static var schemaName: String { "AppSiteAssociation" }
    static var schemaText: String { "Apple's association file for universal links." }

    private var details: [JSONValue] {
        entries.map { entry in
            [
                "appIDs": .array(entry.appIDs.map { .string($0) }),
                "components": .array(entry.paths.map { ["/": .string($0)] }),
            ]
        }
    }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("applinks", "The app IDs and the paths that they open, in `details`.") {
            JSONObject([("details", .array($0.details))])
        }
        member.unrequired(
            "webcredentials",
            "The app IDs that may use the passwords and the redirects of the host, in `apps`."
        ) { JSONObject([("apps", .array($0.apps.map { .string($0) }))]) }
    }
}

/// A path pattern in `apple-app-site-association`: `*` matches any characters, `?` matches one character.
struct AppLinkPattern: Sendable {
    /// Maximum length of a compared path in bytes. Google's paths are short, and comparing a longer path
    /// would cost more than the response.
    private static let longest = 512

    private let pattern: [UInt8]

    init(_ pattern: String) {
        self.pattern = Array(pattern.utf8)
    }

    /// Returns `true` if the path matches. The number of comparisons is at most the product of both lengths.
    func matches(_ path: Substring) -> Bool {
        let path = Array(path.utf8.prefix(Self.longest + 1))
        guard path.count <= Self.longest else { return false }
        var (next, position) = (0, 0)
        // The pattern index after the last star, and the path index after the characters that this star
        // matches.
        var star: (next: Int, position: Int)?
        while position < path.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                next += 1
                star = (next, position)
            } else if next < pattern.count,
                pattern[next] == UInt8(ascii: "?") || pattern[next] == path[position]
            {
                next += 1
                position += 1
            } else if let last = star {
                star = (last.next, last.position + 1)
                (next, position) = (last.next, last.position + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// The content of `assetlinks.json`: the Android apps that open links on this host (Google, Digital Asset
/// Links).
struct AssetLinks {
    private var apps: [AndroidApp] = []

    init(of clients: ClientRegistry) {
        for app in clients.clients.compactMap(\.androidApp) where !apps.contains(app) { apps.append(app) }
    }

    var isEmpty: Bool { apps.isEmpty }

    var statements: [Statement] { apps.map { Statement(app: $0) } }

    static var schema: JSONSchema {
        .component("AssetLinks") { .array(of: Statement.schema, "Google's association file for App Links.") }
    }

    struct Statement: JSONBody {
        static var schemaName: String { "AssetLink" }
        static var schemaText: String { "One app." }
        let app: AndroidApp

        static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
            member(
                "relation",
                "`delegate_permission/common.handle_all_urls`: the app opens links of the host."
            ) { _ in ["delegate_permission/common.handle_all_urls"] }
            member(
                "target", "`namespace`, `package_name` and `sha256_cert_fingerprints` of the app."
            ) {
                JSONObject([
                    ("namespace", "android_app"), ("package_name", .string($0.app.package)),
                    ("sha256_cert_fingerprints", .array($0.app.fingerprints.map { .string($0) })),
                ])
            }
        }
    }
}
