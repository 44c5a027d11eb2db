import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// The device authorization endpoint (RFC 8628 §3.1).
final class OAuthDeviceRoutes: Sendable {
    private let server: OAuthServer
    private let authentication: ClientAuthenticating
    private let metrics: OAuthMetrics

    init(server: OAuthServer, authentication: ClientAuthenticating, metrics: OAuthMetrics) {
        (self.server, self.authentication, self.metrics) = (server, authentication, metrics)
    }

    /// Handles `POST /oauth/device_authorization`.
    func authorize(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        try server.dependencies.commits.requireCapacity()
        let unauthenticated: DeviceAuthorizationRequest = try authentication.form(request)
        let (client, scope) = try authentication(unauthenticated, request)
        let devices = DeviceRequests(server)
        do {
            try devices.admit(client, from: request.oauth?.address)
        } catch {
            metrics.countDevice(.limitReached, of: client.id)
            throw error
        }
        let origin = DeviceAuthorization.Origin(
            address: request.oauth?.address?.text, userAgent: request.oauth?.userAgent)
        return .later { [metrics] in
            do {
                let response = try await devices.begin(client, scope, from: origin)
                metrics.countDevice(.begun, of: client.id)
                return .oauth(.ok, response.json())
            } catch let error as OAuthError {
                metrics.countDevice(.limitReached, of: client.id)
                throw error
            }
        }
    }
}
