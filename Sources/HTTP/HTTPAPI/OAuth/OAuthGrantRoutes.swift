import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// The grant routes for an app's backend, and the route for Google's security events.
final class OAuthGrantRoutes: Sendable {
    private let server: OAuthServer
    private let metrics: OAuthMetrics
    private let arrivals: ArrivalLog?

    init(server: OAuthServer, metrics: OAuthMetrics, arrivals: ArrivalLog?) {
        (self.server, self.metrics, self.arrivals) = (server, metrics, arrivals)
    }

    /// Handles `POST /v1/oauth/app-flip`.
    func appFlip(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let call = try AppFlipBody(parsing: request.body).call
        let client = named(call.clientID)
        return .later { [server, metrics] in
            let response = try await AppFlip(server).response(call, caller: request.scope)
            metrics.count(response.outcome, of: client)
            return .json(.ok, response, reservingCapacity: 768)
        }
    }

    /// Handles `POST /v1/oauth/app-flip/prompt`.
    func appFlipPrompt(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let call = try AppFlipPromptBody(parsing: request.body).call
        let client = named(call.clientID)
        return .later { [server, metrics] in
            let prompt = try await AppFlip(server).prompt(call, caller: request.scope)
            metrics.count(prompt, of: client)
            return .json(.ok, prompt, reservingCapacity: 2048)
        }
    }

    /// Returns the ID of the configured client that a request names; `nil` if it names none.
    private func named(_ id: String?) -> OAuthClientID? {
        id.flatMap { server.dependencies.settings.clients[$0]?.id }
    }

    /// Handles `GET /v1/accounts/{id}/grants`.
    func list(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .listGrants)
        let id = request.parameter ?? ""
        return .later { [server] in
            let grants = try await GrantUseCases(server).grants(of: id, allowed: request.scope)
            return .json(.ok, Grants(grants: grants), reservingCapacity: 64 + 384 * grants.count)
        }
    }

    /// Handles `DELETE /v1/accounts/{id}/grants/{grant_id}`.
    func end(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .endGrant)
        let (account, grant) = (request.parameter ?? "", request.secondParameter ?? "")
        return .later { [server] in
            try await GrantUseCases(server).end(grant, of: account, allowed: request.scope)
            return HTTPResponse(status: .noContent, contentType: nil, body: [], forbidsCaching: true)
        }
    }

    /// Handles `DELETE /v1/accounts/{id}/grants`.
    func endAll(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .endGrants)
        let account = request.parameter ?? ""
        return .later { [server] in
            try await GrantUseCases(server).endAll(of: account, allowed: request.scope)
            return HTTPResponse(status: .noContent, contentType: nil, body: [], forbidsCaching: true)
        }
    }

    /// Handles `POST /v1/google/security-events` (RFC 8935 §2).
    func receiveEvent(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let isToken = request.oauth?.contentType.map(Self.isSecurityEventToken) ?? false
        guard isToken, let token = String(validating: request.body, as: UTF8.self) else {
            throw SecurityEventError(
                .invalidRequest, "Send one security event token as application/secevent+jwt.")
        }
        return .later { [server, metrics, arrivals] in
            let receipt = try await arrivals.watching(.google, token: token, requestID: request.requestID) {
                try await SecurityEventReceiver(server).receive(token)
            }
            metrics.count(receipt)
            if receipt.handling == .duplicate {
                arrivals?.note(
                    .google, receipt.handling.rawValue, isRefused: false, token: token,
                    requestID: request.requestID)
            }
            // Only Google can sign such a token, so the number of these log lines is bounded.
            request.client?.isProven(by: "google")
            return HTTPResponse(status: .accepted, contentType: nil, body: [], forbidsCaching: true)
        }
    }

    private static func isSecurityEventToken(_ type: String) -> Bool {
        // Compares bytes, which is cheap even for a header of the maximum length.
        let name = type.utf8.prefix {
            $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t")
        }
        return RequestFields.areEqual(Substring(name), "application/secevent+jwt")
    }
}
