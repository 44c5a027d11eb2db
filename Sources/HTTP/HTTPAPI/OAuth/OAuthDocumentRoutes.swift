import AppleAccounts
import AuthorizationServer
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// Public documents about this authorization server: metadata and links. Nothing in them is secret.
final class OAuthDocumentRoutes: Sendable {
    private let server: OAuthServer
    private let metadataDocument: [UInt8]
    private let appLinks: [AppLinkPattern]

    init(server: OAuthServer) {
        self.server = server
        metadataDocument = ServerMetadata.document(of: server.dependencies.settings)
        appLinks = server.dependencies.settings.clients.clients.filter(\.hasAppFlip)
            .flatMap { $0.googleLinking?.linkPaths ?? [] }.map { AppLinkPattern($0) }
    }

    /// `GET /.well-known/oauth-authorization-server` (RFC 8414) and `/.well-known/openid-configuration`
    /// (OpenID Connect Discovery §4)
    func metadata() -> RouteResult { .response(.publicDocument(metadataDocument)) }

    /// `GET /.well-known/risc-configuration`, by which Google finds the keys of security event tokens
    func riscConfiguration() -> RouteResult {
        let issuer = server.dependencies.settings.issuer
        var json = JSONWriter(reservingCapacity: 192)
        json.beginObject()
        json.member("issuer", issuer.text)
        json.member("jwks_uri", issuer.url(Endpoint.getKeySet.path.description))
        json.endObject()
        return .response(.publicDocument(json.bytes))
    }

    /// `GET /.well-known/apple-app-site-association`: the apps that take universal links of this host.
    func appSiteAssociation() throws -> RouteResult {
        let dependencies = server.dependencies
        let links = AppSiteLinks(
            of: dependencies.settings.clients, in: dependencies.deployment,
            issuer: dependencies.settings.issuer)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .response(.publicDocument(links.document))
    }

    /// `GET /.well-known/assetlinks.json`: the Android apps that take links of this host.
    func assetLinks() throws -> RouteResult {
        let links = AssetLinks(of: server.dependencies.settings.clients)
        guard !links.isEmpty else { throw Problem(.notFound) }
        return .response(.publicDocument(links.document))
    }

    /// Returns `true` if Google opens the app with a path of this kind. A browser gets there when the app is
    /// not installed.
    func isAppLink(_ path: Substring) -> Bool { appLinks.contains { $0.matches(path) } }
}
