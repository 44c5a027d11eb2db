import HTTPTypes
import Hummingbird
import StrictJSON

/// `POST /auth/usermigrationinfo` for both teams: the sender sends `sub` and `target`, the recipient sends
/// `transfer_sub`. Both teams need an access token of the `client_credentials` grant, as in Apple's
/// documentation.
struct MigrationEndpoint: Sendable {
    let state: EmulatorState

    func add(to router: Router<EmulatorRequestContext>) {
        let faults = FaultInjection(state: state, endpoint: .migration)
        router.post("auth/usermigrationinfo") { request, context in
            try await faults.respond(to: request, on: context.channel) { request, _ in
                await response(to: request)
            }
        }
    }

    private func response(to request: Request) async -> EndpointResponse {
        do throws(OAuthError) {
            let form = try await FormFields(bodyOf: request)
            let (clientID, teamID) = try state.authenticate(form, includingFormerTeam: true)
            try state.requireMigrationToken(bearer(of: request), teamID: teamID, clientID: clientID)
            if let transferSubject = form["transfer_sub"] {
                return .json(
                    try state.migratedUser(of: transferSubject, recipient: teamID, clientID: clientID).json)
            }
            let subject = try state.transferSubject(
                of: try form.require("sub"), sender: teamID, recipient: try form.require("target"),
                clientID: clientID)
            return .json(JSONObject([("transfer_sub", .string(subject))]))
        } catch {
            state.count(error, on: .migration)
            return .refusal(error)
        }
    }

    private func bearer(of request: Request) throws(OAuthError) -> String {
        let parts = (request.headers[.authorization] ?? "").split(separator: " ")
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw OAuthError(.invalidRequest, "Authorization must be Bearer with an access token")
        }
        return String(parts[1])
    }
}

/// The response of `/auth/usermigrationinfo` for the recipient of an app.
struct MigratedUser: Equatable {
    let subject: String
    let email: String?
    let isPrivateEmail: Bool

    var json: JSONObject {
        var json = JSONObject([("sub", .string(subject))])
        json["email"] = email.map { .string($0) }
        if email != nil, isPrivateEmail { json["is_private_email"] = .bool(true) }
        return json
    }
}
