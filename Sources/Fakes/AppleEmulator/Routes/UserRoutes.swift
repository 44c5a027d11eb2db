import EmulatorServer
import HTTPTypes
import Hummingbird
import StrictJSON

/// Creates and shows users, and changes their accounts.
struct UserRoutes: Sendable {
    let state: EmulatorState
    let post: NotificationDispatcher

    func add(to api: ControlAPI<EmulatorRequestContext>) {
        api.add(
            .post, "users", "Makes a user; text: the sub.", status: .created,
            example: ["first_name": "Ada", "hide_email": true]
        ) { input throws(EmulatorError) in
            try input.user()
        } use: { recipe in
            let user = try state.makeUser(recipe)
            return ControlResponse(user, text: user.subject)
        }
        api.add(.get, "users", "Shows limit users, starting at number offset; text: their subs.") {
            input throws(EmulatorError) in
            (
                try input.query("offset", in: 0...UserDirectory.capacity, default: 0),
                try input.query("limit", in: 1...1000, default: 100)
            )
        } use: { offset, limit in
            list(offset, limit)
        }
        api.add(.get, "users/{sub}", "Shows a user; default names the first user.") { input in
            Self.subject(&input)
        } use: { subject in
            let shown = ShownUser(user: try state.user(subject), grants: try state.grants(of: subject))
            return ControlResponse(shown, text: shown.user.subject)
        }
        api.add(
            .post, "users/{sub}/change-password",
            "Ends the user's refresh tokens and codes, without a notification."
        ) { input throws(EmulatorError) in
            try input.refuseMembers()
            return Self.subject(&input)
        } use: { subject in
            try state.changePassword(of: subject)
            let user = try state.user(subject)
            return ControlResponse(user, text: user.subject)
        }
        api.add(
            .put, "users/{sub}/migration", "Makes the transfer of this user fail.", example: ["fails": true]
        ) { input throws(EmulatorError) in
            try input.require("fails")
            return (Self.subject(&input), try input.bool("fails") ?? false)
        } use: { subject, isFailing in
            try state.setMigrationFailing(isFailing, of: subject)
            let user = try state.user(subject)
            return ControlResponse(user, text: user.subject)
        }
        for change in AccountChange.allCases {
            api.add(
                .post, "users/{sub}/\(change.rawValue)",
                "\(change.summary), and notifies each app concerned; text: the status of the response."
            ) { input throws(EmulatorError) in
                let recipe = try input.notification(subject: Self.subject(&input))
                return (recipe, try post.order(&input))
            } use: { recipe, order in
                try await carryOut(change, recipe, order)
            }
        }
    }

    private static func subject(_ input: inout ControlInput) -> String {
        input.path("sub", example: "default")
    }

    private func list(_ offset: Int, _ limit: Int) -> ControlResponse<UserList> {
        let all = state.users
        let page = Array(all.dropFirst(offset).prefix(limit))
        return ControlResponse(
            UserList(users: page, total: all.count), text: page.map(\.subject).joined(separator: "\n"))
    }

    private func carryOut(
        _ change: AccountChange, _ recipe: NotificationRecipe, _ order: NotificationTarget?
    ) async throws -> ControlResponse<ChangedUser> {
        let (user, notifications) = try await state.change(change, notifying: recipe)
        var sent: [SentNotification] = []
        for notification in notifications { sent.append(await post.announce(notification, to: order)) }
        return ControlResponse(
            ChangedUser(user: user, notifications: sent), text: sent.map(\.text).joined(separator: "\n"))
    }
}

private struct ShownUser: JSONBody {
    let user: EmulatedUser
    let grants: [UserGrants]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member.inline { $0.user }
        member("grants", "The user's codes and tokens, for each client ID.") { $0.grants }
    }
}

private struct UserList: JSONBody {
    let users: [EmulatedUser]
    let total: Int

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("users") { $0.users }
        member("total", "The number of all users.") { $0.total }
    }
}

private struct ChangedUser: JSONBody {
    let user: EmulatedUser
    let notifications: [SentNotification]

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member("user") { $0.user }
        member("notifications", "One for each app concerned.") { $0.notifications }
    }
}
