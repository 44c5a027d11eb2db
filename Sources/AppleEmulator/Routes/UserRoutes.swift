import HTTPTypes
import Hummingbird
import StrictJSON

/// Creates and shows users, and makes changes to their accounts.
struct UserRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationPost

    func add(to group: RouterGroup<EmulatorRequestContext>) {
        group.control(.post, "users") { call in
            let user = try state.makeUser(call.input { input throws(EmulatorError) in try input.user() })
            return ControlAnswer(status: .created, json: user.json, text: user.subject)
        }
        group.control(.get, "users") { call in try list(call) }
        group.control(.get, "users/:sub") { call in
            let user = try state.user(call.pathPart("sub"))
            var json = user.json
            let grants = try state.grants(of: call.pathPart("sub"))
            json["grants"] = .array(grants.map { .object($0.json) })
            return ControlAnswer(json: json, text: user.subject)
        }
        group.control(.post, "users/:sub/change-password") { call in
            try call.requireNoInput()
            try state.changePassword(of: call.pathPart("sub"))
            let user = try state.user(call.pathPart("sub"))
            return ControlAnswer(json: user.json, text: user.subject)
        }
        group.control(.put, "users/:sub/migration") { call in
            let isFailing = try call.input { input throws(EmulatorError) in try input.bool("fails") }
            guard let isFailing else { throw EmulatorError(.memberMalformed, detail: "fails: true or false") }
            try state.setMigrationFailing(isFailing, of: call.pathPart("sub"))
            let user = try state.user(call.pathPart("sub"))
            return ControlAnswer(json: user.json, text: user.subject)
        }
        for change in AccountChange.allCases {
            group.control(.post, "users/:sub/\(change.rawValue)") { call in try await carryOut(change, call) }
        }
    }

    /// Returns `limit` users, starting at number `offset`.
    private func list(_ call: Call) throws(EmulatorError) -> ControlAnswer {
        let offset = try call.number("offset", in: 0...UserDirectory.capacity, default: 0)
        let limit = try call.number("limit", in: 1...1000, default: 100)
        let all = state.users
        let page = all.dropFirst(offset).prefix(limit)
        let json = JSONObject([
            ("users", .array(page.map { .object($0.json) })), ("total", .integer(Int64(all.count))),
        ])
        return ControlAnswer(json: json, text: page.map(\.subject).joined(separator: "\n"))
    }

    private func carryOut(_ change: AccountChange, _ call: Call) async throws -> ControlAnswer {
        let (recipe, order) = try call.input { input throws(EmulatorError) in
            let recipe = try input.notification(subject: call.pathPart("sub"))
            return (recipe, try post.order(&input))
        }
        let (user, notifications) = try state.change(change, notifying: recipe)
        var sent: [SentNotification] = []
        for notification in notifications { sent.append(await post.announce(notification, to: order)) }
        return ControlAnswer(
            json: JSONObject([
                ("user", .object(user.json)), ("notifications", .array(sent.map { .object($0.json) })),
            ]),
            text: sent.map(\.text).joined(separator: "\n"))
    }
}
