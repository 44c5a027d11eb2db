import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Creates and shows users, and changes their accounts.
struct UserRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.post, "users") { request in
            let user = try state.makeUser(request.input { input throws(EmulatorError) in try input.user() })
            return ControlResponse(status: .created, json: user.json, text: user.subject)
        }
        group.control(.get, "users") { request in try list(request) }
        group.control(.get, "users/:sub") { request in
            let user = try state.user(request.pathPart("sub"))
            var json = user.json
            let grants = try state.grants(of: request.pathPart("sub"))
            json["grants"] = .array(grants.map { .object($0.json) })
            return ControlResponse(json: json, text: user.subject)
        }
        group.control(.post, "users/:sub/change-password") { request in
            try request.requireNoInput()
            try state.changePassword(of: request.pathPart("sub"))
            let user = try state.user(request.pathPart("sub"))
            return ControlResponse(json: user.json, text: user.subject)
        }
        group.control(.put, "users/:sub/migration") { request in
            let isFailing = try request.input { input throws(EmulatorError) in try input.bool("fails") }
            guard let isFailing else { throw EmulatorError(.memberMalformed, detail: "fails: true or false") }
            try state.setMigrationFailing(isFailing, of: request.pathPart("sub"))
            let user = try state.user(request.pathPart("sub"))
            return ControlResponse(json: user.json, text: user.subject)
        }
        for change in AccountChange.allCases {
            group.control(.post, "users/:sub/\(change.rawValue)") { request in
                try await carryOut(change, request)
            }
        }
    }

    /// Returns `limit` users, starting at number `offset`.
    private func list(_ request: ControlRequest) throws(EmulatorError) -> ControlResponse {
        let offset = try request.number("offset", in: 0...UserDirectory.capacity, default: 0)
        let limit = try request.number("limit", in: 1...1000, default: 100)
        let all = state.users
        let page = all.dropFirst(offset).prefix(limit)
        let json = JSONObject([
            ("users", .array(page.map { .object($0.json) })), ("total", .integer(Int64(all.count))),
        ])
        return ControlResponse(json: json, text: page.map(\.subject).joined(separator: "\n"))
    }

    private func carryOut(_ change: AccountChange, _ request: ControlRequest) async throws -> ControlResponse
    {
        let (recipe, order) = try request.input { input throws(EmulatorError) in
            let recipe = try input.notification(subject: request.pathPart("sub"))
            return (recipe, try post.order(&input))
        }
        let (user, notifications) = try state.change(change, notifying: recipe)
        var sent: [SentNotification] = []
        for notification in notifications { sent.append(await post.announce(notification, to: order)) }
        return ControlResponse(
            json: JSONObject([
                ("user", .object(user.json)), ("notifications", .array(sent.map { .object($0.json) })),
            ]),
            text: sent.map(\.text).joined(separator: "\n"))
    }
}
