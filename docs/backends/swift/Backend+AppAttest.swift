import Foundation
import Hummingbird

/// The body with which the app asks for a challenge or registers a key.
struct AppAttestRequest: Codable, Sendable {
    var purpose: String?
    var key_id: String?
    var attestation: String?
    var challenge: String?
    /// Set by the backend.
    var client_id: String?
}

extension Backend {
    /// Passes siwa's response on: a challenge, which the app needs before it attests a key and before each proof,
    /// or the registered key.
    nonisolated func appAttest(_ path: String, _ request: AppAttestRequest) async throws -> Response {
        var call = request
        call.client_id = clientID
        let body = try await siwa.forward(.POST, "/v1/app-attest/\(path)", call)
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }
}
