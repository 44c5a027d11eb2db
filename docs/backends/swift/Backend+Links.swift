import Foundation
import Hummingbird

/// Parameters of Google's universal link, and the user's decision.
struct LinkRequest: Codable, Sendable {
    var client_id: String?
    var redirect_uri: String?
    var state: String?
    var scope: String?
    var user_locale: String?
    var accept_language: String?
    var code_challenge: String?
    var code_challenge_method: String?
    var decision: String?
    var granted_scopes: String?
    /// They come with a decision.
    var attestation: AppProof?
    var app_version: String?
    /// Set by the backend, from the session.
    var account_id: String?
    var authenticated_at: String?
}

extension Backend {
    /// Without a decision, returns what the app asks the user. With a decision, returns the URL to open. A link
    /// that cannot succeed has a URL to open in both cases.
    func googleLink(_ request: LinkRequest, session: String?) async throws -> Response {
        var call = request
        // The account is that of the session, never one that the app names. A user who refuses need not be known.
        (call.account_id, call.authenticated_at) = (nil, nil)
        if call.decision == "granted" || (call.decision == nil && session != nil) {
            // About a disabled account siwa decides, which has the URL with which Google ends linking.
            let (accountID, since) = try account(of: session, evenDisabled: true)
            guard let accountID else { throw Refused(.conflict, "apple_account_missing") }
            (call.account_id, call.authenticated_at) = (accountID, since)
        }
        if call.decision == nil { (call.attestation, call.app_version) = (nil, nil) }
        let path = call.decision == nil ? "/v1/oauth/app-flip/prompt" : "/v1/oauth/app-flip"
        let body = try await siwa.forward(.POST, path, call)
        return Response(
            status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }

    struct Links: ResponseCodable {
        struct Link: Codable {
            let id: String
            let client_id: String
            let client_name: String?
            let scope: String
            let created_at: String
        }
        let links: [Link]
    }

    /// Returns the clients that have access to the account, such as Google.
    func links(session: String?) async throws -> Links {
        struct Grants: Decodable { let grants: [Links.Link] }
        guard let accountID = try account(of: session).id else { return Links(links: []) }
        do {
            let response: Grants = try await siwa.send(.GET, "/v1/accounts/\(accountID)/grants")
            return Links(links: response.grants)
        } catch let refused as Refused where refused.code == "account_not_found" {
            return Links(links: [])
        }
    }

    /// Ends a link of the session's user. It is done, too, when an earlier attempt has ended it.
    func unlink(_ id: String, session: String?) async throws -> Done {
        let accountID = try account(of: session).id
        // The ID becomes a part of a path.
        guard id.wholeMatch(of: /grt_[0-9a-f\-]{1,64}/) != nil else { throw Refused(.notFound, "not_found") }
        guard let accountID else { return Done() }
        do {
            _ = try await siwa.forward(.DELETE, "/v1/accounts/\(accountID)/grants/\(id)")
        } catch let refused as Refused where ["grant_not_found", "account_not_found"].contains(refused.code) {
            // An earlier attempt has ended it.
        }
        return Done()
    }

    /// Returns siwa's ID of the session's account, and the time of the sign-in with Apple that began the session.
    private func account(
        of session: String?, evenDisabled: Bool = false
    ) throws -> (id: String?, since: String?) {
        let userID = try user(of: session ?? "", evenDisabled: evenDisabled)
        return (users[userID]?.accountID, self.session(session ?? "")?.since)
    }
}
